"""The true causes of a scenario: rows of `causes.json`."""

from dataclasses import dataclass

#: What may hold a subscription back, in the words of `causes.json`.
CAUSES = {
    "nothing": "the subscription follows its topic, or catches up as fast as it can",
    "broker_msg_limit": "the broker's dispatch rate in messages",
    "broker_byte_limit": "the broker's dispatch rate in bytes",
    "topic_msg_limit": "the topic's dispatch rate in messages",
    "topic_byte_limit": "the topic's dispatch rate in bytes",
    "subscription_msg_limit": "the subscription's dispatch rate in messages",
    "subscription_byte_limit": "the subscription's dispatch rate in bytes",
    "slow_consumer": "the consumers take longer for a message than the producers",
    "paused_reader": "a reader does not read on",
    "no_consumer": "nobody consumes",
    "stopped_consumer": "the client hangs; its queue and its connection take what comes until they are full",
    "full_channel": "the client hangs, and its connection is full",
    "unacked_cap": "the cap of unacknowledged messages is reached",
    "delayed_delivery": "the producer asked for a later delivery",
    "not_acknowledged": "messages are delivered and not acknowledged",
    "negative_acks": "the consumer gives messages back",
    "keys_blocked": "the messages that wait belong to keys of consumers that take nothing",
    "transaction": "a transaction is open, nothing behind its first message is delivered",
    "not_connected": "the replicator has no connection to the other cluster",
    "not_loaded": "the topic is not loaded, or the broker is down",
}


@dataclass(frozen=True)
class Cause:
    """One line of `causes.json`: from `from_us` to `to_us` (µs since the epoch) this held the subscription back."""

    topic: str
    subscription: str
    cause: str
    from_us: int
    to_us: int
    words: str
