"""What to do about a subscription, or a reader, by the cause that holds it back. Pure.

The first step changes nothing, or can be undone. What loses data comes last, says so, and is there only where nothing milder helps.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.diagnosis.came_back import come_and_go
from pipeline.diagnosis.clients import works_alone
from pipeline.diagnosis.commands import Step, policy_of, stats, step, told, unload
from pipeline.diagnosis.counts import counted, entries
from pipeline.diagnosis.own_cursors import READER
from pipeline.diagnosis.raise_limit import limit_of, throttled
from pipeline.diagnosis.slow_too import OF_CONSUMERS
from pipeline.times import USUAL_WINDOW, span_of

Document = dict[str, Any]
#: One consumer is served at a time: more of them only stand by.
ONE_ACTIVE = ("Exclusive", "Failover")
#: If less than this share of the acknowledged entries comes, acknowledgements make the backlog less. What expires is no progress.
_NEARLY_ALL = 0.9
#: Nobody was seen for at least so long, or it is not said that perhaps nobody needs it.
_LONG_ENOUGH = span_of("--window", USUAL_WINDOW)
#: Of a stretch that a backlog fills, so much may be missing: two clocks measure the two.
_CLOCKS_DIFFER = 0.001
_SHUT_OUT = "A quota shut its producers out in the last minutes: nobody knows whether its consumers keep up when they are back."
_CAP_SETTING = {
    "consumer": "maxUnackedMessagesPerConsumer",
    "subscription": "maxUnackedMessagesPerSubscription",
    "broker": "maxUnackedMessagesPerBroker",
}


def cap_words(cap: str | None) -> str:
    """`the cap of unacknowledged messages of a consumer (maxUnackedMessagesPerConsumer)`; the log may lack which one it is."""
    if cap is None:
        return "the cap of unacknowledged messages"
    return f"the cap of unacknowledged messages of {'the broker' if cap == 'broker' else f'a {cap}'} ({_CAP_SETTING[cap]})"


def nobody_words(document: Document) -> str:
    """`no consumer being connected`; not of one that comes again and again: its absence has no begin."""
    if document.get("cursor_kind") == READER:
        return "no reader being connected"
    return "consumers that connect and leave again" if come_and_go(document) else "no consumer being connected"


def takes_nothing(document: Document) -> bool:
    """Whether its consumers got nothing in the whole stretch, and acknowledge nothing by the last checks."""
    rates = document.get("catch_up")
    return document.get("dispatched_msgs") == 0 and (rates is None or not rates["ack_rate"])


def _nobody_came(document: Document) -> bool:
    """Proof that nobody was connected in the whole stretch, and that this is long. A share of entries × time is no proof: who was served
    until a minute ago had no entries before, so that time weighs nothing.
    """
    stretch, causes = document["to"] - document["from"], document["causes"]
    if len(causes) != 1 or stretch < _LONG_ENOUGH or "events_lost" in document["missing"]:
        return False
    is_all_of_it = causes[0]["seconds"] >= (1 - _CLOCKS_DIFFER) * stretch.total_seconds()
    return causes[0]["cause"] == "no_consumer" and is_all_of_it and takes_nothing(document)


def hang_words(document: Document) -> str:
    """Of one that takes nothing. It may work on a large batch: certain is only a silence that is longer than ever before."""
    return "hangs" if document.get("longest_silence") else "seems to hang"


def _no_consumer(document: Document) -> list[Step]:
    topic, subscription = document["topic"], document["subscription"]
    if document.get("cursor_kind") == READER:
        return [stats("The reader is not connected. Start it again: a new reader begins where its program asks to. Now connected:", topic)]
    if come_and_go(document):
        words = f"Its consumers connect and leave again: {document['came_back']:,} times one came back in this stretch."
        return [stats(f"{words} Look in their logs why they end, then start them. This shows who is connected:", topic)]
    steps = [stats("Start its consumers. This shows who is connected:", topic)]
    if _nobody_came(document):
        lost = f"it loses its {entries(document['backlog'])} then, and nobody can bring them back"
        steps.append(
            step(f"Only if nobody needs the subscription any more, delete it: {lost}:", "topics", "unsubscribe", "--subscription",
                 subscription, topic)
        )  # fmt: skip
    return steps


def _throttled(document: Document) -> list[Step]:
    """Consumers come first where a higher limit shows only that they are too slow; if they hold it at the end, their own step has them.
    Under a limiter that is gone nobody has seen yet how quick they are.
    """
    taken, last = document["consumers_take_per_s"], document["last_cause"]
    is_gone = limit_of(document, document["level"], document["dimension"]) is None
    if taken is None or is_gone or (last is not None and last["cause"] in OF_CONSUMERS):
        return throttled(document)
    words = f"A higher limit alone is not enough: its consumers acknowledge only {taken:,.1f} entries/s. {_faster(document)}"
    return [stats(f"{words} In its output availablePermits shows who is full:", document["topic"]), *throttled(document)]


def _channel(document: Document) -> list[Step]:
    words = "Its consumers do not read from their connections. Look at these clients: memory, threads, network:"
    return [stats(words, document["topic"])]


def _unacked_limit(document: Document) -> list[Step]:
    topic, cap = document["topic"], document.get("cap")
    steps = [stats("Consumers hold too many messages without an acknowledgement. In its output unackedMessages shows which ones:", topic)]
    if cap == "broker":
        return [*steps, told(f"The cap is the broker's ({_CAP_SETTING[cap]}): all its subscriptions share it.")]
    if cap is not None:
        command = f"get-max-unacked-messages-per-{cap}"
        return [*steps, policy_of(f"This is the cap of the {cap} that is in force ({_CAP_SETTING[cap]}):", command, topic, "--applied")]
    of_both = (
        policy_of(f"This is the cap of a {one}:", f"get-max-unacked-messages-per-{one}", topic, "--applied")
        for one in ("consumer", "subscription")
    )
    return [*steps, *of_both]


def _no_permits(document: Document) -> list[Step]:
    topic = document["topic"]
    if document.get("cursor_kind") == READER:
        return [stats("The reader is too slow, or it hangs: look at its program. A second reader would read everything again:", topic)]
    if document.get("sub_type") in ONE_ACTIVE:
        return _one_active(document)
    alone = works_alone(document.get("clients"))
    if alone is not None:
        return [stats(f"{alone_words(document, alone)} In its output availablePermits shows who is full:", topic)]
    return [
        stats("Consumers are too slow or too few: add some, or speed them up. In its output availablePermits shows who is full:", topic)
    ]


def _one_active(document: Document) -> list[Step]:
    topic, sub_type = document["topic"], document["sub_type"]
    if not takes_nothing(document):
        words = f"Of type {sub_type} one consumer is served at a time, and it is too slow. Speed it up; others would only stand by:"
        return [stats(words, topic)]
    then = "another one takes over" if sub_type == "Failover" else "it begins again at the first message without an acknowledgement"
    hangs = f"Its one active consumer {hang_words(document)}: it takes and acknowledges nothing."
    restart = f"Restart that consumer: then {then}. Take a thread dump of it before."
    if not document["longest_silence"]:
        restart = f"It may work on a large batch: ask its owner. If it does not, restart it: then {then}. Take a thread dump of it before."
    return [stats(f"{hangs} In its output activeConsumerName shows which it is:", topic), told(restart)]


def _no_flow(document: Document) -> list[Step]:
    words = "Its consumers hold nothing, and still ask for nothing: they grant no permits. In its output they have availablePermits 0:"
    return [
        stats(words, document["topic"]),
        told("Look at these clients: a paused consumer, receiverQueueSize 0, a listener that hangs. Restart them."),
    ]


def _keys_blocked(document: Document) -> list[Step]:
    words = "The messages that wait have keys of a consumer that is full. Find it: availablePermits 0 or less, many unackedMessages:"
    return [
        stats(words, document["topic"]),
        told("Speed up or restart that one consumer. More consumers get no message before it: the order of its keys is kept."),
    ]


def _transaction(document: Document) -> list[Step]:
    return [
        step("A transaction is open, and nothing behind its first message is delivered. This lists those that are open for long:",
             "transactions", "slow-transactions", "--time", "10s"),
        told("Let its client commit or abort it; else the coordinator aborts it at its timeout. An abort loses what it published."),
    ]  # fmt: skip


def _redelivery(document: Document) -> list[Step]:
    words = "The same messages are delivered again and again. In its output msgRateRedeliver and unackedMessages show to whom:"
    return [
        stats(words, document["topic"]),
        told(
            "Look in these clients for negative acknowledgements, an ackTimeout that is too short, and restarts before an acknowledgement."
        ),
        told("A dead letter policy in the consumer (maxRedeliverCount) puts aside what fails each time."),
    ]


def _in_flight(document: Document) -> list[Step]:
    topic = document["topic"]
    if document.get("cursor_kind") == READER:
        return [stats("The reader has what waits, and has not gone on. Look at its program:", topic)]
    rates = document.get("catch_up")
    if rates is not None and (rates["outpaced"] or rates["publish_rate"] < _NEARLY_ALL * rates["ack_rate"]):
        words = f"Its consumers acknowledge {rates['ack_rate']:,.1f} entries/s, and {rates['publish_rate']:,.1f} come."
        then = _faster(document) if rates["outpaced"] else "Wait: its backlog becomes less."
        if rates["shut_out"]:
            words, then = f"Its consumers acknowledge {rates['ack_rate']:,.1f} entries/s.", _SHUT_OUT
        return [
            stats(f"{words} {then} In its output unackedMessages shows who has most:", topic),
            told("A client that has messages and acknowledges nothing has lost them: restart that one."),
        ]
    return [
        stats(
            "Its backlog, or most of it, is delivered and waits for acknowledgements. In its output unackedMessages shows who has it:",
            topic,
        ),
        unload(
            "If consumers have lost it, restart them: closing a consumer gives back what it holds. Unloading the topic closes all,"
            " they connect again, and what has no acknowledgement is delivered again:",
            topic,
        ),
    ]


def _delayed(document: Document) -> list[Step]:
    words = "Most of its backlog is to be delivered later, as its producers ask. The rest is due: msgBacklog less msgDelayed in its output:"
    return [
        stats(words, document["topic"]),
        policy_of("This shows the policy:", "get-delayed-delivery", document["topic"], "--applied"),
    ]


def _reading(document: Document) -> list[Step]:
    words = "Reads from storage take long: look at the bookies and their disks. This shows the ledgers:"
    return [step(words, "topics", "stats-internal", document["topic"])]


def _catching_up(document: Document) -> list[Step]:
    """To wait helps only where the backlog becomes less."""
    topic, rates = document["topic"], document.get("catch_up")
    if rates is None or (rates["growth_rate"] or 0) <= 0:
        return [stats("Wait: reads and deliveries follow each other, and nothing holds them back. This shows the rates:", topic)]
    growth = f"Nothing holds it back, and still the backlog grows by {rates['growth_rate']:,.1f} entries/s: more comes than is taken."
    return [stats(f"{growth} {_faster(document)} This shows the rates:", topic)]


def _faster(document: Document) -> str:
    """How more of what comes is taken."""
    if document.get("cursor_kind") == READER:
        return "The reader is too slow."
    if document.get("sub_type") in ONE_ACTIVE:
        return "One consumer is served at a time: speed it up."
    alone = works_alone(document.get("clients"))
    if alone is not None:
        return alone_words(document, alone)
    return "Speed its consumers up, or add some."


def alone_words(document: Document, alone: Mapping[str, Any]) -> str:
    """More consumers are no help to one that has nearly everything."""
    name = alone["consumer_name"] or f"consumer {alone['consumer']} on connection {alone['conn']}"
    keys = " All keys that wait are its own: more consumers take none of them." if document.get("sub_type") == "Key_Shared" else ""
    return f"{name} has {counted(alone['unacked_msgs'], 'message')}, and other consumers have none to do: speed it up, or restart it.{keys}"


def _stuck(document: Document) -> list[Step]:
    cap = document.get("cap")
    if cap is None:
        words = "This is a fault of the broker: nothing holds it back, and nothing is delivered. Keep what it knows for a report:"
    else:
        words = f"This is a fault of the broker: {cap_words(cap)} is on, though nothing is unacknowledged. Keep what it knows for a report:"
    return [
        stats(words, document["topic"]),
        unload("Then make a new dispatcher. Clients connect again, no message is lost:", document["topic"]),
    ]


def _unknown(document: Document) -> list[Step]:
    words = {
        "events_lost": "Events of this broker are lost: see SELECT * FROM log_gaps. When its log is whole again, the cause is known.",
        "beginning_not_seen": "The log begins after the subscription. A consumer that comes or goes makes the cause known.",
        "broker_stopped": "The broker stopped: look at the broker that has the topic now.",
        "not_checked": "Look again after the next quota check.",
        "not_there": "It is not there: its topic was unloaded, or it was deleted. Another broker may have it.",
    }
    reason = words.get(document["unknown_reason"]) or _not_in_this_log(document)
    return [told(reason), stats("Until then ask the broker: permits, unackedMessages and rates of each consumer:", document["topic"])]


def _not_in_this_log(document: Document) -> str:
    if document.get("log_version") is None:
        return (
            "The log is of version 1.0 and lacks the events that would show it: a collector of version 1.1 writes them "
            "(docs/guide/collector.md)."
        )
    if document.get("sub_type") == "Key_Shared":
        return (
            "The log does not tell what holds it. It is Key_Shared: perhaps all that waits has keys of one consumer that is full. Look for"
            " a consumer without availablePermits and with many unackedMessages."
        )
    return f"The log (version {document['log_version']}) has no event that tells what holds it."


BY_CAUSE: Mapping[str, Callable[[Document], list[Step]]] = {
    "no_consumer": _no_consumer,
    "throttled": _throttled,
    "channel": _channel,
    "unacked_limit": _unacked_limit,
    "no_permits": _no_permits,
    "no_flow": _no_flow,
    "keys_blocked": _keys_blocked,
    "transaction": _transaction,
    "redelivery": _redelivery,
    "in_flight": _in_flight,
    "delayed": _delayed,
    "reading": _reading,
    "catching_up": _catching_up,
    "stuck": _stuck,
    "unknown": _unknown,
}  # fmt: skip
