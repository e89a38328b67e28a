"""What a replay that begins at an instant is given right before it: limiters, acknowledged entries, and what consumers have."""

from collections.abc import Mapping

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.replay.kinds import ACKED, CHARGE, HELD, ON
from pipeline.what_if.buckets import Refill, refill_of
from pipeline.what_if.given_table import WIDTH, rows_of
from pipeline.what_if.latency import latency_of
from pipeline.what_if.record import BATCH_MODE, Row
from pipeline.what_if.stretch import CHARGED_BEFORE_US
from pipeline.what_if.world import World
from schemas.events import LIMITER_LEVELS

#: What a read that a limiter blocked leaves.
BLOCKED = -1


def limiter_of(world: World, level: str, number: int) -> int:
    """Number of a limiter: the broker's, then those of topics, then those of subscriptions."""
    return {"broker": 0, "topic": 1 + number, "subscription": 1 + len(world.scales) + number}[level]


def of_start(world: World, firsts: list[int]) -> list[tuple[int, ...]]:
    """Entries that are acknowledged behind the marks, those that consumers have (with fewer consumers these have them all), and then each
    dispatcher goes on. `firsts`: number of the first consumer of each subscription, and of the one after the last.
    """
    rows: list[tuple[int, ...]] = []
    at_ns = world.begin_ns - 1
    for number, start in world.starts.items():
        count = firsts[number + 1] - firsts[number]
        rows += [(at_ns, ACKED, number, place) for place in start.acked.tolist()]
        if count:
            slots = (firsts[number] + start.slots % count).tolist()
            rows += [(at_ns, HELD, slot, place) for slot, place in zip(slots, start.held.tolist(), strict=True)]
        rows.append((at_ns, ON, number, _retry_ns(world, number)))
    return rows


def _retry_ns(world: World, number: int) -> int:
    """When the dispatcher reads again, if the last read before the beginning was blocked; else 0."""
    reads = world.record.where("read", world.subs[number].sub_id)
    before = np.flatnonzero(reads["ns"] < world.begin_ns)
    if not len(before) or reads["left_msgs"][before[-1]] != BLOCKED:
        return 0
    again_ns = int(reads["ns"][before[-1]]) + latency_of(world.record).retry_ns
    return again_ns if again_ns >= world.begin_ns else 0


def refills_of(world: World) -> dict[int, Refill]:
    """Of each limiter whose last refill before the beginning the log shows. Not of the broker's where others are not in the record."""
    newest: dict[tuple[str, int], Row] = {}
    for row in world.record.of("dispatch_rate") if world.starts else []:
        number = owner_of(world, row)
        if number is not None and row["ns"] < world.begin_ns:
            newest[row["level"], number] = row
    found: dict[int, Refill] = {}
    for (level, number), row in newest.items():
        if level == LIMITER_LEVELS[0] and world.record.is_apart:
            continue
        subs = {LIMITER_LEVELS[0]: list(world.starts), LIMITER_LEVELS[1]: world.subs_of(number)}.get(level, [number])
        refill = refill_of(world, level, subs, row)
        if refill is not None:
            found[limiter_of(world, level, number)] = refill
    return found


def owner_of(world: World, row: Row) -> int | None:
    """Number of the topic or subscription whose limiter it is; 0 of the broker; null: it is not in this world."""
    if row["level"] == "broker":
        return 0
    return world.topic_numbers.get(row["topic_id"]) if row["level"] == "topic" else world.sub_numbers.get(row["sub_id"])


def own_charges(world: World, refills: Mapping[int, Refill]) -> list[Array]:
    """Deliveries right before the beginning, and what a bucket lacked at its last refill: the limiters have them in their books."""
    lacking = [(one.at_ns, CHARGE, limiter, one.gone_msgs, one.gone_bytes, 0, 0) for limiter, one in refills.items()]
    parts = [np.array(lacking, dtype=np.int64).reshape(-1, WIDTH)]
    permits = "entries" if world.record.setting.get(BATCH_MODE) == "true" else "msgs"
    for number in world.starts:
        sub = world.subs[number]
        events = world.record.where("dispatch", sub.sub_id)
        for level, owner in ((LIMITER_LEVELS[0], 0), (LIMITER_LEVELS[1], sub.topic), (LIMITER_LEVELS[2], number)):
            limiter = limiter_of(world, level, owner)
            since_ns = refills[limiter].at_ns if limiter in refills else world.begin_ns - CHARGED_BEFORE_US * 1000
            recent = (events["ns"] < world.begin_ns) & (events["ns"] > since_ns)
            parts.append(rows_of(events["ns"][recent], CHARGE, limiter, events[permits][recent], events["bytes"][recent]))
    return parts
