"""A world that goes on after the end of its record: the demand of the record's last part comes again and again."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.faults import BadConfig
from pipeline.rules.array import Array
from pipeline.what_if.record import Row
from pipeline.what_if.scale import Scale
from pipeline.what_if.world import World

NS_PER_S, NS_PER_MS = 1_000_000_000, 1_000_000
#: The part that comes again: a quarter of the record, but so much at least (or all of it) and so much at most.
TAIL_SHARE, LEAST_TAIL_NS, MOST_TAIL_NS = 0.25, 30 * NS_PER_S, 600 * NS_PER_S
#: More entries are refused: they would take minutes.
MOST_ENTRIES = 20_000_000


class Demand(NamedTuple):
    """The part of the record that comes again: from and to, ns; entries of it by topic, and how often it comes."""

    from_ns: int
    to_ns: int
    entries: list[int]
    times: int

    def entries_per_s(self, topic: int) -> float:
        """Published to a topic in each second."""
        return self.entries[topic] * NS_PER_S / (self.to_ns - self.from_ns)


def gone_on(world: World, from_ns: int, lasts_ns: int) -> tuple[World, Demand]:
    """The world as it was until `from_ns`, then `lasts_ns` longer, and its demand then.

    Consumers that are there at that instant stay, settings stay as they are, and quotas are checked as often as before. A topic's new
    entries are in one new ledger. Raises BadConfig for more entries than can be replayed.
    """
    world = _until(world, from_ns)
    tail_ns = _tail_ns(world)
    times = -(-lasts_ns // tail_ns)
    begin_ns, end_ns = world.end_ns - tail_ns, world.end_ns + lasts_ns
    chosen = [np.flatnonzero(scale.publishes["ns"] > begin_ns) for scale in world.scales]
    demand = Demand(begin_ns, world.end_ns, [len(rows) for rows in chosen], times)
    if sum(demand.entries) * times > MOST_ENTRIES:
        raise BadConfig(f"--until: {sum(demand.entries) * times:,} entries would come until then; at most {MOST_ENTRIES:,} are replayed")
    scales = [_gone_on(scale, rows, tail_ns, times, end_ns) for scale, rows in zip(world.scales, chosen, strict=True)]
    record = replace(world.record, rare=[*world.record.rare, *_rounds(world, end_ns)])
    presences = [one._replace(to_ns=end_ns + 1) if one.to_ns > from_ns else one for one in world.presences]
    return replace(world, record=record, scales=scales, presences=presences, end_ns=end_ns), demand


def _until(world: World, end_ns: int) -> World:
    """All that was until then."""
    return replace(
        world,
        record=replace(world.record, rare=[row for row in world.record.rare if row["ns"] <= end_ns]),
        scales=[_without(scale, scale.publishes["ns"] > end_ns) for scale in world.scales],
        presences=[one for one in world.presences if one.from_ns <= end_ns],
        end_ns=end_ns,
    )


def _without(scale: Scale, dropped: NDArray[np.bool]) -> Scale:
    """Without these publishes: each is at the end of its ledger."""
    gone = np.bincount(scale.ledger_rows(scale.publishes["ledger"][dropped]), minlength=len(scale.ledgers))
    entries = scale.entries - gone[: len(scale.ledgers)]
    publishes = {name: values[~dropped] for name, values in scale.publishes.items()}
    return replace(scale, entries=entries, firsts=np.cumsum(entries) - entries, publishes=publishes)


def _tail_ns(world: World) -> int:
    whole = world.end_ns - world.begin_ns
    return max(1, min(whole, max(int(TAIL_SHARE * whole), LEAST_TAIL_NS), MOST_TAIL_NS))


def _gone_on(scale: Scale, rows: Array, tail_ns: int, times: int, end_ns: int) -> Scale:
    """With these publishes again, each time `tail_ns` later, up to `end_ns`, in a new ledger."""
    later = np.repeat(np.arange(1, times + 1, dtype=np.int64) * tail_ns, len(rows))
    again = {name: np.tile(values[rows], times) for name, values in scale.publishes.items()}
    again["ns"] = again["ns"] + later
    inside = again["ns"] <= end_ns
    again = {name: values[inside] for name, values in again.items()}
    count = int(inside.sum())
    if not count:
        return scale
    ledger = int(scale.ledgers[-1]) + 1
    again["publish_ts"] = again["publish_ts"] + later[inside] // NS_PER_MS
    again["ledger"], again["entry"] = np.full(count, ledger, dtype=np.int64), np.arange(count, dtype=np.int64)
    return replace(
        scale,
        ledgers=np.append(scale.ledgers, ledger),
        firsts=np.append(scale.firsts, scale.total),
        entries=np.append(scale.entries, count),
        earlier=np.append(scale.earlier, 0),
        mean_bytes=np.append(scale.mean_bytes, 0),
        publishes={name: np.concatenate([values, again[name]]) for name, values in scale.publishes.items()},
    )


def _rounds(world: World, end_ns: int) -> list[Row]:
    """Rounds of quota checks after the record, where it has some: at their usual distance."""
    starts = [int(row["ns"]) for row in world.record.of("quota_round") if row["phase"] == "start" and row["ns"] <= world.end_ns]
    if len(starts) < 2:
        return []
    distance = max(NS_PER_S, int(np.median(np.diff(starts))))
    like = next(row for row in world.record.of("quota_round") if row["phase"] == "start")
    return [{**like, "ns": ns} for ns in range(starts[-1] + distance, end_ns + 1, distance) if ns > world.end_ns]
