"""A record made ready for replays: its topics and subscriptions numbered, their entries, what is given to them, and when."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pipeline.what_if.record import Record, ids_of
from pipeline.what_if.scale import Scale, scale_of

#: Kinds of cursors that are no subscription.
NO_SUBSCRIPTION = ("replicator", "deduplication", "compaction")
SINGLE = ("Exclusive", "Failover")


class Subscription(NamedTuple):
    """One subscription: `number` of its topic, its ids, whether one consumer at a time gets entries, where and when it begins."""

    topic: int
    sub_id: int
    name: str
    sub_type: str
    durable: bool
    mark: int
    opened_ns: int
    unknown_acks: int


class Presence(NamedTuple):
    """A consumer while it is there: which slot of the subscription it has."""

    sub: int
    slot: int
    from_ns: int
    to_ns: int


@dataclass(frozen=True)
class World:
    """Topics in the order of `scales`; subscriptions in the order of their topics. Times: ns of the broker's monotonic clock."""

    record: Record
    names: list[str]
    scales: list[Scale]
    subs: list[Subscription]
    presences: list[Presence]
    begin_ns: int
    end_ns: int
    wall_minus_ns: int

    def subs_of(self, topic: int) -> list[int]:
        """Numbers of a topic's subscriptions, without a gap."""
        return [s for s, sub in enumerate(self.subs) if sub.topic == topic]

    def slots_of(self, sub: int) -> int:
        """How many of its consumers were there at once, at most."""
        return 1 + max((one.slot for one in self.presences if one.sub == sub), default=-1)

    def at_us(self, ns: int) -> int:
        """The wall time of an instant, µs since 1970."""
        return (ns + self.wall_minus_ns) // 1000


def world_of(record: Record, topic: str, *, whole_broker: bool) -> World:
    """Of the topic, or of all topics of the broker whose life is in the log: they share its limiter."""
    names = ids_of(record.of("topic_load", "cursor_open", "ledger_open", "ledger_close"))
    chosen = [topic_id for topic_id, name in names.items() if whole_broker or name == topic]
    scales = [scale_of(record, topic_id) for topic_id in chosen]
    subs = [sub for number, scale in enumerate(scales) for sub in _subscriptions(record, number, scale)]
    instants = [int(row["ns"]) for row in record.rare if row["topic_id"] in set(chosen)]
    instants += [int(ns) for scale in scales if len(scale.publishes["ns"]) for ns in scale.publishes["ns"][[0, -1]]]
    end_ns = max([*instants, *(int(row["ns"]) for row in record.of("quota_round", "broker_stop"))])
    first = record.rare[0]
    presences = [one for number, sub in enumerate(subs) for one in _presences(record, number, sub.sub_id, end_ns)]
    return World(
        record, [names[topic_id] for topic_id in chosen], scales, subs, presences,
        min(instants), end_ns, first["ts"] * 1000 - first["ns"],
    )  # fmt: skip


def _subscriptions(record: Record, number: int, scale: Scale) -> list[Subscription]:
    """In the order in which their cursors were opened; of one that was opened again, the first time."""
    found: dict[int, Subscription] = {}
    types = {row["sub_id"]: row["sub_type"] for row in record.of("dispatcher_open")}
    for row in record.of("cursor_open"):
        if row["topic_id"] == scale.topic_id and row["sub_id"] not in found and row["cursor_kind"] not in NO_SUBSCRIPTION:
            mark = int(scale.places(np.array([row["ledger"]]), np.array([row["entry"]]))[0]) + 1 if len(scale.ledgers) else 0
            found[row["sub_id"]] = Subscription(
                number, row["sub_id"], row["sub"], types.get(row["sub_id"], "Shared"), bool(row["durable"]), mark, row["ns"],
                row["entries"] or 0,
            )  # fmt: skip
    return list(found.values())


def _presences(record: Record, number: int, sub_id: int, end_ns: int) -> list[Presence]:
    """Each consumer from its opening to its closing, in the lowest slot that is free then."""
    found: list[Presence] = []
    there: dict[tuple[int, int], tuple[int, int]] = {}
    for row in record.of("consumer_open", "consumer_close", "topic_unload", "broker_stop"):
        if row["type"] == "consumer_open" and row["sub_id"] == sub_id:
            slot = next(k for k in range(len(there) + 1) if k not in {slot for slot, _ in there.values()})
            there[row["conn"], row["consumer"]] = slot, row["ns"]
        elif row["type"] == "consumer_close" and row["sub_id"] == sub_id:
            slot, from_ns = there.pop((row["conn"], row["consumer"]), (-1, 0))
            if slot >= 0:
                found.append(Presence(number, slot, from_ns, row["ns"]))
        elif row["type"] == "broker_stop":
            found += [Presence(number, slot, from_ns, row["ns"]) for slot, from_ns in there.values()]
            there.clear()
    return found + [Presence(number, slot, from_ns, end_ns + 1) for slot, from_ns in there.values()]
