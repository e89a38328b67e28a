"""What to do about a cause: sentences, and the exact command of pulsar-admin for each. Pure.

Commands are those of Pulsar 4.0.8: tests hold them against what its pulsar-admin knows, and ./test.sh broker runs them at a real broker.
Another version may name them otherwise. A name is quoted for the shell.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pipeline.verdict.verdict import Document

ADMIN = "pulsar-admin"
#: A limit that is in the way is doubled in the command; the operator chooses.
FACTOR = 2
#: What pulsar-admin takes for a rate of messages.
LARGEST_INT = 2**31 - 1
NO_LIMIT = -1
#: How the name of a partition ends; as in the view `topics`.
_PARTITION = re.compile(r"-partition-(0|[1-9][0-9]*)\Z")


class Step(NamedTuple):
    """`do` is a sentence. `command` is null where pulsar-admin has nothing for it."""

    do: str
    command: str | None


def advice(document: Document) -> list[Step]:
    """Steps in the order in which to take them, for the cause of the document; none where nothing is to be done."""
    if not document["behind"]:
        return []
    cause = "unknown" if document.get("status") == "unknown" else document["cause"]
    return [] if cause is None else _BY_CAUSE[cause](document)


def _admin(*words: object) -> str:
    return " ".join([ADMIN, *(shlex.quote(str(word)) for word in words)])


def _policy(command: str, document: Document, *words: object) -> str:
    """A command of topicPolicies. Policies are those of the whole topic: the broker refuses one for a partition."""
    return _admin("topicPolicies", command, *words, _PARTITION.sub("", document["topic"]))


def _stats(do: str, document: Document) -> Step:
    return Step(do, _admin("topics", "stats", document["topic"]))


def _no_consumer(document: Document) -> list[Step]:
    topic, subscription = document["topic"], document["subscription"]
    return [
        _stats("Start its consumers. This shows who is connected:", document),
        Step(
            "If nobody needs the subscription any more, delete it. Its backlog is lost then:",
            _admin("topics", "unsubscribe", "--subscription", subscription, topic),
        ),
    ]


def _throttled(document: Document) -> list[Step]:
    level, dimension = document["level"], document["dimension"]
    limit = _limit(document, level, dimension)
    if limit is None:
        return [Step(f"The {level} limiter of {_UNITS[dimension]} held it back, and is gone by now. Look again later.", None)]
    steps = [*_raise(document, level, limit), *_next(document, limit)]
    users = document["shared_with"]
    if users and not users[0]["this"] and users[0]["share"]:
        first = users[0]
        largest = f"{first['subscription']} of {first['topic']} has {first['share']:.0%} of what this limiter gave"
        steps.append(Step(f"Or slow down or move its largest user: {largest}.", None))
    return steps


def _raise(document: Document, level: str, limit: Mapping[str, Any]) -> list[Step]:
    """Both dimensions are one object in Pulsar: who sets one of them sets the other, too."""
    rates = {one["dimension"]: one for one in document["limits"] if one["level"] == level}
    higher = {dimension: one["rate"] * (FACTOR if dimension == limit["dimension"] else 1) for dimension, one in rates.items()}
    msgs, bytes_ = min(higher.get("msg", NO_LIMIT), LARGEST_INT), higher.get("bytes", NO_LIMIT)
    if level == "broker":
        name, value = ("dispatchThrottlingRateInMsg", msgs) if limit["dimension"] == "msg" else ("dispatchThrottlingRateInByte", bytes_)
        return [
            Step(
                f"Raise the broker's limit of {_UNITS[limit['dimension']]} (doubled here). All brokers of the cluster get it:",
                _admin("brokers", "update-dynamic-config", "--config", name, "--value", value),
            )
        ]
    rate = ["-md", msgs, "-bd", bytes_, "-dt", max(1, round(limit["period_s"]))]
    if limit["relative"]:
        rate.append("-rp")
    if level == "topic":
        command = _policy("set-dispatch-rate", document, *rate)
    else:
        command = _policy("set-subscription-dispatch-rate", document, "--subscription", document["subscription"], *rate)
    partitions = "; each partition gets it" if _PARTITION.search(document["topic"]) else ""
    return [
        Step(
            f"Raise the {level}'s limit of {_UNITS[limit['dimension']]} (doubled here)."
            f" A policy of the topic wins over those of the namespace and the broker{partitions}:",
            command,
        )
    ]


def _next(document: Document, limit: Mapping[str, Any]) -> list[Step]:
    """What binds once this limit is gone."""
    others = [one for one in document["limits"] if one["dimension"] == limit["dimension"] and one["level"] != limit["level"]]
    known = [one for one in others if one["per_second"] is not None]
    if not known:
        return []
    least = min(known, key=lambda one: one["per_second"])
    shared = ", which others share" if least["level"] != "subscription" else ""
    return [Step(f"Beyond {rate_words(least)} the {least['level']}'s limit is next{shared}.", None)]


def _channel(document: Document) -> list[Step]:
    return [
        _stats("Its consumers do not read from their connections. Look at these clients: memory, threads, network:", document),
    ]


def _unacked_limit(document: Document) -> list[Step]:
    return [
        _stats("Consumers hold too many messages without an acknowledgement: find out why. unackedMessages shows who:", document),
        Step("This is the cap in force:", _policy("get-max-unacked-messages-per-subscription", document, "--applied")),
    ]


def _no_permits(document: Document) -> list[Step]:
    more = document["more_consumers"]
    if more is not None and more["why"] == "one_active_consumer":
        words = f"One consumer of a subscription of type {document['sub_type']} is served at a time, and it is too slow. Speed it up:"
        return [_stats(words, document)]
    return [_stats("Consumers are too slow or too few: add some, or speed them up. availablePermits shows who is full:", document)]


def _in_flight(document: Document) -> list[Step]:
    return [
        _stats("All of its backlog is delivered and waits for acknowledgements. unackedMessages shows who has it:", document),
        Step(
            "If consumers have lost it, disconnect them: closing a consumer gives back what it holds. Unloading the topic closes all:",
            _admin("topics", "unload", document["topic"]),
        ),
    ]


def _delayed(document: Document) -> list[Step]:
    return [
        Step(
            "Nothing is wrong: what waits is to be delivered later. This shows the policy:",
            _policy("get-delayed-delivery", document, "--applied"),
        )
    ]


def _reading(document: Document) -> list[Step]:
    return [
        Step(
            "Reads from storage take long: look at the bookies and their disks. This shows the ledgers:",
            _admin("topics", "stats-internal", document["topic"]),
        )
    ]


def _catching_up(document: Document) -> list[Step]:
    return [_stats("Wait: reads and deliveries follow each other. If that is too slow, add consumers. This shows the rates:", document)]


def _stuck(document: Document) -> list[Step]:
    return [
        _stats("This is a fault of the broker. Keep what it knows for a report:", document),
        Step("Then make a new dispatcher:", _admin("topics", "unload", document["topic"])),
    ]


def _unknown(document: Document) -> list[Step]:
    words = {
        "events_lost": "Events of this broker are lost: see SELECT * FROM log_gaps. When its log is whole again, the cause is known.",
        "beginning_not_seen": "The log begins after the subscription. A consumer that comes or goes makes the cause known.",
        "not_in_this_log": "The log lacks the events that would show it: a collector of version 1.1 writes them (docs/collector.md).",
        "broker_stopped": "The broker stopped: look at the broker that has the topic now.",
        "not_checked": "Look again after the next quota check.",
        "not_there": "It is not there: its topic was unloaded, or it was deleted. Another broker may have it.",
    }
    return [Step(words[document["unknown_reason"]], None), _stats("Until then ask the broker:", document)]


def _limit(document: Document, level: str, dimension: str) -> Mapping[str, Any] | None:
    return next((one for one in document["limits"] if (one["level"], one["dimension"]) == (level, dimension)), None)


def rate_words(limit: Mapping[str, Any]) -> str:
    """`100 messages per 1 s`."""
    return f"{limit['rate']:,} {_UNITS[limit['dimension']]} per {limit['period_s']:g} s"


_UNITS = {"msg": "messages", "bytes": "bytes"}
_BY_CAUSE: Mapping[str, Callable[[Document], list[Step]]] = {
    "no_consumer": _no_consumer,
    "throttled": _throttled,
    "channel": _channel,
    "unacked_limit": _unacked_limit,
    "no_permits": _no_permits,
    "in_flight": _in_flight,
    "delayed": _delayed,
    "reading": _reading,
    "catching_up": _catching_up,
    "stuck": _stuck,
    "unknown": _unknown,
}  # fmt: skip
