"""Topics come and go, and with them everything that is theirs: ledgers, cursors, dispatchers, limiters, quotas."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.attachments import Links, detach_all_of_topic
from pipeline.rules.broker.cursor_life import end_cursor
from pipeline.rules.broker.layout import (
    NEW_SUBSCRIPTION,
    NEW_TOPIC,
    NO_CURSOR,
    NO_DISPATCHER,
    NO_LIMITER,
    NO_READING,
    NONE,
    UNLIMITED,
)
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import insert
from pipeline.rules.records import Record
from pipeline.rules.segments import USED, clear


@compiled_part
def new_topic(broker: Any, counts: Record, topic_id: int) -> int:
    """Row for a topic that is met for the first time; nothing of its life is known yet."""
    t = counts.topics
    counts.topics += 1
    broker.topics[t] = NEW_TOPIC[0]
    broker.topics[t].id = topic_id
    broker.topic_limiters[t] = NO_LIMITER[0]
    insert(broker.topics_index, topic_id, 0, t)
    return t


@compiled_part
def new_subscription(broker: Any, counts: Record, t: int, sub_id: int) -> int:
    """Row for a subscription of the topic that is met for the first time: no cursor, no dispatcher."""
    s = counts.subscriptions
    counts.subscriptions += 1
    broker.subscriptions[s] = NEW_SUBSCRIPTION[0]
    topic, subscription = broker.topics[t], broker.subscriptions[s]
    subscription.id, subscription.owner = sub_id, topic.id
    subscription.next_of_topic = topic.first_subscription
    topic.first_subscription = s
    topic.subscriptions += 1
    broker.cursors[s] = NO_CURSOR[0]
    broker.readings[s] = NO_READING[0]
    broker.dispatchers[s] = NO_DISPATCHER[0]
    broker.subscription_limiters[s] = NO_LIMITER[0]
    insert(broker.subscriptions_index, sub_id, topic.id, s)
    return s


@compiled_part
def meet_topic(topic: Record) -> None:
    """Something of the topic's life is in the log, without its load: followed from here on, not complete."""
    if topic.alive == 0:
        topic.alive, topic.loaded, topic.unloaded_at = 1, 1, 0
        topic.began_complete = 0


@compiled_part
def is_load_seen(topic: Record) -> bool:
    """Whether the topic is loaded, and its load is in the log."""
    return topic.alive == 1 and topic.began_complete == 1


@compiled_part
def load_topic(broker: Any, t: int, now_us: int) -> None:
    """The topic's object is made: everything of an earlier one is gone, but for what was published and the durable counters."""
    unload_topic(broker, t, now_us)
    topic = broker.topics[t]
    topic.alive, topic.loaded, topic.unloaded_at = 1, 1, 0
    topic.began_complete, topic.losses_at_start = 1, broker.settings[0].losses
    s = topic.first_subscription
    while s != NONE:
        broker.cursors[s].gone_at, broker.cursors[s].losses_at_open = 0, 0
        s = broker.subscriptions[s].next_of_topic


@compiled_part
def unload_topic(broker: Any, t: int, now_us: int) -> None:
    """The topic's object is dropped, with all that is its own. Publish times and deleted entries stay a while."""
    topic = broker.topics[t]
    links = Links(
        broker.connectivity[0], broker.connections, broker.topics, broker.subscriptions, broker.attachments, broker.endpoints
    )  # fmt: skip
    detach_all_of_topic(links, t)
    s = topic.first_subscription
    while s != NONE:
        if broker.cursors[s].open == 1:
            end_cursor(broker.cursors, s, now_us, broker.settings[0].losses)
            broker.cursors[s].closed_at = now_us if broker.cursors[s].deleted > 0 else 0
        broker.readings[s] = NO_READING[0]
        broker.dispatchers[s] = NO_DISPATCHER[0]
        broker.subscription_limiters[s] = NO_LIMITER[0]
        s = broker.subscriptions[s].next_of_topic
    topic.first_cursor, topic.cursors, topic.producers = NONE, 0, 0
    topic.began_complete, topic.losses_at_start = 0, 0
    topic.average_known, topic.average[0], topic.average[1] = 0, 0, 0
    clear(topic.ledgers)
    clear(topic.heap)
    topic.end_entries, topic.end_bytes, topic.confirmed_ledger = 0, 0, 0
    topic.size_limit, topic.time_limit = UNLIMITED, UNLIMITED
    topic.size_policy, topic.time_policy = NONE, NONE
    broker.topic_limiters[t] = NO_LIMITER[0]
    topic.alive, topic.loaded, topic.unloaded_at = 0, 0, now_us if topic.marks[USED] > 0 else 0


@compiled_part
def set_quota(topic: Record, event: Array) -> None:
    """The effective quota of one type; a topic has one of each."""
    if event[fields.QUOTA_TYPE] == 0:
        topic.size_limit, topic.size_policy = event[fields.LIMIT], event[fields.POLICY]
    else:
        topic.time_limit, topic.time_policy = event[fields.LIMIT], event[fields.POLICY]
