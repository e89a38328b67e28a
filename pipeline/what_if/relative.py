"""Rates that are relative to the publish rate: the configured rate and the topic's publish average, which the broker renews once a minute.

Of Pulsar's semantics §1.4: a new average is the one of the last minute if it is higher, else the mean of it and the one before.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.rules.array import Array
from pipeline.what_if.changes import NO_LIMIT
from pipeline.what_if.record import Row
from pipeline.what_if.stretch import CHARGED_BEFORE_US
from pipeline.what_if.world import World

NS_PER_S = 1_000_000_000
USUAL_CYCLE_S = 60
_DIMENSIONS = ("msg_rate", "byte_rate")


class Setting(NamedTuple):
    """A rate from an instant on: number and kind of its limiter, the number of its topic, and fields of `dispatch_rate`."""

    ns: int
    limiter: int
    topic: int
    rate: Row
    kind: str


def followed(world: World, settings: Sequence[Setting], factors: Sequence[float]) -> list[Setting]:
    """The settings; in place of each relative one its rates with the average, a new one at each renewal.

    `factors`: of publishes, by topic.
    """
    parts: list[list[Setting]] = []
    ends: dict[int, int] = {}

    @cache
    def averages(topic: int) -> tuple[Array, Array]:
        return averages_of(world, topic, factors[topic])

    in_order = sorted(settings, key=lambda one: one.ns)
    for one in in_order[::-1]:  # not `reverse`: of one instant the later one ends the earlier one
        until = ends.get(one.limiter, world.end_ns)
        ends[one.limiter] = one.ns
        parts.append(list(_with_averages(one, until, *averages(one.topic))) if one.rate.get("relative") else [one])
    return sorted((one for part in reversed(parts) for one in part), key=lambda one: one.ns)


def _with_averages(one: Setting, until: int, renewed_ns: Array, averages: Array) -> Iterable[Setting]:
    before = int(np.searchsorted(renewed_ns, one.ns, side="right"))
    last = int(np.searchsorted(renewed_ns, until))
    known = averages[before - 1] if before else np.zeros(2, dtype=np.int64)
    yield one._replace(rate=_added(one.rate, known))
    for ns, average in zip(renewed_ns[before:last], averages[before:last], strict=True):
        yield one._replace(ns=int(ns), rate=_added(one.rate, average))


def _added(rate: Row, average: Array) -> Row:
    """A dimension without a limit stays without one."""
    rates = {name: rate.get(name) or NO_LIMIT for name in _DIMENSIONS}
    return {**rate, **{name: of + int(average[k]) if of > 0 else of for k, (name, of) in enumerate(rates.items())}}


def averages_of(world: World, topic: int, factor: float) -> tuple[Array, Array]:
    """(instants ns [n], whole messages and bytes a second [n, 2]) of each renewal until the end of the world.

    Of a replay from an instant on, publishes before it count, too: the record has those of the last two minutes (CHARGED_BEFORE_US).
    """
    cycle_ns = int(world.record.setting.get("statsUpdateFrequencyInSecs", USUAL_CYCLE_S)) * NS_PER_S
    borders = np.arange(_first_border_ns(world, cycle_ns), world.end_ns + 1, cycle_ns, dtype=np.int64)
    # Not those of the scale: it begins at the ledger of the earliest mark.
    publishes = world.record.where("publish", world.scales[topic].topic_id)
    places = np.searchsorted(publishes["ns"], borders)
    sums = [np.concatenate([[0], np.cumsum(publishes[name])])[places] for name in ("msgs", "bytes")]
    seen = np.diff(np.stack(sums, axis=1), axis=0) * factor * NS_PER_S / cycle_ns
    return borders[1:], np.floor(_renewed(seen)).astype(np.int64)


def _first_border_ns(world: World, cycle_ns: int) -> int:
    """Where cycles begin: at the broker's start; without it in the log, whole cycles before the replay whose publishes the record has."""
    starts = [int(row["ns"]) for row in world.record.of("broker_start")]
    if starts and starts[-1] <= world.begin_ns:
        return starts[-1]
    before = 0 if world.record.stretch.from_us is None else CHARGED_BEFORE_US * 1000 // cycle_ns
    return world.begin_ns - before * cycle_ns


def _renewed(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Averages [n, 2] of what was seen in each cycle."""
    averages = np.zeros_like(seen)
    before = np.zeros(seen.shape[1:])
    for k, now in enumerate(seen):
        before = averages[k] = np.where(now > before, now, (now + before) / 2)
    return averages
