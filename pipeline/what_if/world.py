"""A record made ready for replays: its topics and subscriptions numbered, their entries, what is given to them, and when."""

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.demand import Demand, demand_of
from pipeline.what_if.frequent import Events
from pipeline.what_if.record import Record, Row
from pipeline.what_if.scale import Scale, scale_of
from pipeline.what_if.start import Client, Start, start_of

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
    """A consumer while it is there: which slot of the subscription it has, and its client."""

    sub: int
    slot: int
    from_ns: int
    to_ns: int
    client: Client


@dataclass(frozen=True)
class World:
    """Topics in the order of `scales`; subscriptions in the order of their topics, presences in that of their subscriptions.

    `begin_ns`: it is replayed from here on. `starts`: of subscriptions that was there before. Times: ns of the broker's monotonic clock.
    """

    record: Record
    names: list[str]
    scales: list[Scale]
    subs: list[Subscription]
    presences: list[Presence]
    begin_ns: int
    end_ns: int
    wall_minus_ns: int
    starts: dict[int, Start]

    def subs_of(self, topic: int) -> list[int]:
        """Numbers of a topic's subscriptions, without a gap."""
        return self._by_topic.get(topic, [])

    def presences_of(self, sub: int) -> list[Presence]:
        """Of the consumers of a subscription."""
        return self._by_sub.get(sub, [])

    def slots_of(self, sub: int) -> int:
        """How many of its consumers were there at once, at most."""
        return self._slots[sub]

    def since(self, sub: int, event_type: str) -> Events:
        """Events of a subscription from the beginning of the replay on; of one that comes later, or of a whole record, all."""
        if (sub, event_type) not in self._since:
            events = self.record.where(event_type, self.subs[sub].sub_id)
            is_part = sub in self.starts
            self._since[sub, event_type] = {n: v[events["ns"] >= self.begin_ns] for n, v in events.items()} if is_part else events
        return self._since[sub, event_type]

    def places(self, sub: int, event_type: str) -> Array:
        """Places of the positions of those events (`ack`, `mark_delete`)."""
        if (sub, event_type) not in self._places:
            events = self.since(sub, event_type)
            self._places[sub, event_type] = self.scales[self.subs[sub].topic].places(events["ledger"], events["entry"])
        return self._places[sub, event_type]

    def demand_with(self, topic: int, factor: float) -> Demand:
        """What is published, with `factor` times as many entries to a topic."""
        return self._demand if factor == 1.0 else self._demand_by([factor if t == topic else 1.0 for t in range(len(self.scales))])

    @cached_property
    def _demand(self) -> Demand:
        return self._demand_by([1.0] * len(self.scales))

    def _demand_by(self, factors: list[float]) -> Demand:
        return demand_of(self.scales, [len(self.subs_of(topic)) for topic in range(len(self.scales))], factors)

    @cached_property
    def _since(self) -> dict[tuple[int, str], Events]:
        return {}

    @cached_property
    def _places(self) -> dict[tuple[int, str], Array]:
        return {}

    @cached_property
    def _slots(self) -> list[int]:
        return [1 + max((one.slot for one in self.presences_of(sub)), default=-1) for sub in range(len(self.subs))]

    @cached_property
    def _by_topic(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, sub in enumerate(self.subs):
            found.setdefault(sub.topic, []).append(number)
        return found

    @cached_property
    def _by_sub(self) -> dict[int, list[Presence]]:
        return {sub: list(several) for sub, several in groupby(self.presences, key=lambda one: one.sub)}

    @cached_property
    def topic_numbers(self) -> dict[int, int]:
        """Numbers of topics by their ids."""
        return {scale.topic_id: number for number, scale in enumerate(self.scales)}

    @cached_property
    def sub_numbers(self) -> dict[int, int]:
        """Numbers of subscriptions by their ids."""
        return {sub.sub_id: number for number, sub in enumerate(self.subs)}

    def at_us(self, ns: int) -> int:
        """The wall time of an instant, µs since 1970."""
        return (ns + self.wall_minus_ns) // 1000


def world_of(record: Record) -> World:
    """Of all topics whose events the record has."""
    scales = [scale_of(record, topic_id) for topic_id in record.topics]
    types = {row["sub_id"]: row["sub_type"] for row in record.of("dispatcher_open")}
    subs = [sub for number, scale in enumerate(scales) for sub in _subscriptions(record, number, scale, types)]
    instants = [int(row["ns"]) for row in record.rare if row["topic_id"] in record.topics]
    instants += [int(ns) for scale in scales if len(scale.publishes["ns"]) for ns in scale.publishes["ns"][[0, -1]]]
    end_ns = max([*instants, *(int(row["ns"]) for row in record.of("quota_round", "broker_stop"))])
    first = record.rare[0]
    minus_ns = first["ts"] * 1000 - first["ns"]
    begin_us, end_us = record.stretch.from_us, record.stretch.to_us
    begin_ns = min(instants) if begin_us is None else begin_us * 1000 - minus_ns
    end_ns = end_ns if end_us is None else end_us * 1000 - minus_ns
    presences = _presences(record, subs, end_ns)
    starts = _starts(record, scales, subs, presences, begin_ns)
    subs = [sub._replace(mark=starts[s].mark, opened_ns=begin_ns - 1, unknown_acks=0) if s in starts else sub for s, sub in enumerate(subs)]
    return World(record, list(record.topics.values()), scales, subs, presences, begin_ns, end_ns, minus_ns, starts)


def _starts(record: Record, scales: list[Scale], subs: list[Subscription], presences: list[Presence], at_ns: int) -> dict[int, Start]:
    """Of subscriptions that were there at the beginning; none where the record is replayed as a whole."""
    there: dict[int, list[tuple[Client, int]]] = {}
    for one in presences:
        if one.from_ns < at_ns < one.to_ns:
            there.setdefault(one.sub, []).append((one.client, one.slot))
    return {
        number: start_of(record, scales[sub.topic], sub.sub_id, at_ns, there.get(number, []))
        for number, sub in enumerate(subs)
        if sub.sub_id in record.stretch.marks
    }


def _subscriptions(record: Record, number: int, scale: Scale, types: dict[int, str]) -> list[Subscription]:
    """In the order in which their cursors were opened; of one that was opened again, the first time."""
    found: dict[int, Subscription] = {}
    for row in record.of_topic("cursor_open", scale.topic_id):
        if row["sub_id"] in found or row["cursor_kind"] in NO_SUBSCRIPTION:
            continue
        if record.stretch.has(row["ts"], row["sub_id"]):
            mark = int(scale.places(np.array([row["ledger"]]), np.array([row["entry"]]))[0]) + 1 if len(scale.ledgers) else 0
            found[row["sub_id"]] = Subscription(
                number, row["sub_id"], row["sub"], types.get(row["sub_id"], "Shared"), bool(row["durable"]), mark, row["ns"],
                row["entries"] or 0,
            )  # fmt: skip
    return list(found.values())


def _presences(record: Record, subs: list[Subscription], end_ns: int) -> list[Presence]:
    """Each consumer from its opening to its closing, in the lowest slot of its subscription that is free then."""
    rows: dict[int, list[Row]] = {}
    for row in record.of("consumer_open", "consumer_close"):
        rows.setdefault(row["sub_id"], []).append(row)
    stops = [int(row["ns"]) for row in record.of("broker_stop")]
    there_until_ns = min([end_ns + 1, *stops])
    return [one for number, sub in enumerate(subs) for one in _of_sub(rows.get(sub.sub_id, []), number, there_until_ns)]


def _of_sub(rows: list[Row], number: int, there_until_ns: int) -> list[Presence]:
    found: list[Presence] = []
    there: dict[tuple[int, int], tuple[int, int]] = {}
    for row in rows:
        if row["type"] == "consumer_open":
            slot = next(k for k in range(len(there) + 1) if k not in {slot for slot, _ in there.values()})
            there[row["conn"], row["consumer"]] = slot, row["ns"]
            continue
        slot, from_ns = there.pop((row["conn"], row["consumer"]), (-1, 0))
        if slot >= 0:
            found.append(Presence(number, slot, from_ns, row["ns"], (row["conn"], row["consumer"])))
    return found + [Presence(number, slot, from_ns, there_until_ns, client) for client, (slot, from_ns) in there.items()]
