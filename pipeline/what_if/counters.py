"""The throttle counters as the broker had them (PIP-406): of windows from the tables, of windows that are cut from their reads."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import DIMENSION_COUNT, LEVEL_COUNT
from pipeline.rules.throttle.walk import walk
from pipeline.what_if.world import World
from schemas.events import CODES, LIMITER_LEVELS
from schemas.render.ddl import quoted

#: What a limiter that does not count answers.
UNLIMITED = -1
_NAMES = [f"dispatch_throttled_{dimension}_events_by_{level}_limit" for level in LIMITER_LEVELS for dimension in ("msg", "bytes")]
_ANSWERS = [f"{level}_{dimension}" for level in ("broker", "topic", "sub") for dimension in ("msgs", "bytes")]

Row = dict[str, Any]
#: Topic and subscription.
Named = tuple[str, str]


def counters_of(look: ReadingRoom, world: World) -> Array:
    """Int64 [subscriptions, 3, 2]: levels by messages and bytes, of all dispatchers of the stretch together."""
    counts = {(world.names[sub.topic], sub.name): np.zeros((LEVEL_COUNT, DIMENSION_COUNT), dtype=np.int64) for sub in world.subs}
    _add_windows(look, world, counts)
    for begin_us, end_us in _cut(look, world):
        _add_reads(_reads(look, world, begin_us, end_us), counts)
    return np.array(list(counts.values()), dtype=np.int64).reshape(len(counts), LEVEL_COUNT, DIMENSION_COUNT)


def _of_world(world: World) -> str:
    """Condition of rows of this broker's epoch; where the world has one topic, of that."""
    of_topic = f" AND topic = {quoted(world.names[0])}" if len(world.names) == 1 else ""
    return f"broker = {quoted(world.record.broker)} AND epoch = {world.record.epoch}{of_topic}"


def _borders(world: World) -> list[int]:
    return [at_us for at_us in (world.record.stretch.from_us, world.record.stretch.to_us) if at_us is not None]


def _add_windows(look: ReadingRoom, world: World, counts: dict[Named, Array]) -> None:
    """Those that lie in the stretch as a whole."""
    stretch = world.record.stretch
    inside = "" if stretch.from_us is None else f" AND unix_micros(window_start) >= {stretch.from_us}"
    inside += "" if stretch.to_us is None else f" AND unix_micros(window_end) <= {stretch.to_us}"
    sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in _NAMES)
    query = f"SELECT topic, subscription, {sums} FROM subscription_throttle WHERE {_of_world(world)}{inside}"
    for row in look.rows(f"{query} GROUP BY topic, subscription"):
        if (named := (row["topic"], row["subscription"])) in counts:
            counts[named] += np.array([int(row[name]) for name in _NAMES]).reshape(LEVEL_COUNT, DIMENSION_COUNT)


def _cut(look: ReadingRoom, world: World) -> Iterable[tuple[int, int]]:
    """From and to (µs) of what lies in the stretch of windows that its ends cut."""
    stretch, found = world.record.stretch, set()
    for at_us in _borders(world):
        cut = f"unix_micros(window_start) < {at_us} AND unix_micros(window_end) > {at_us}"
        query = "SELECT DISTINCT unix_micros(window_start) AS begin, unix_micros(window_end) AS until FROM subscription_throttle"
        for row in look.rows(f"{query} WHERE {_of_world(world)} AND {cut}"):
            begin_us = row["begin"] if stretch.from_us is None else max(row["begin"], stretch.from_us)
            found.add((begin_us, row["until"] if stretch.to_us is None else min(row["until"], stretch.to_us)))
    return found


def _reads(look: ReadingRoom, world: World, begin_us: int, end_us: int) -> list[Row]:
    answers = ", ".join(_ANSWERS)
    return look.rows(
        f"SELECT DISTINCT seq, topic, sub, want_msgs, want_bytes, {answers} FROM dispatch_events WHERE {_of_world(world)}"
        f" AND type_code = {CODES['read']} AND ts >= {begin_us} AND ts < {end_us}"
    )


def _add_reads(reads: Iterable[Row], counts: dict[Named, Array]) -> None:
    """The walk over the answers that the log has of each read."""
    lowered = np.zeros((LEVEL_COUNT, DIMENSION_COUNT), dtype=np.int64)
    for row in reads:
        if (row["topic"], row["sub"]) not in counts:
            continue
        answers = np.array([UNLIMITED if row[name] is None else row[name] for name in _ANSWERS], dtype=np.int64)
        known = np.array([row[name] is not None for name in _ANSWERS]).reshape(LEVEL_COUNT, DIMENSION_COUNT)
        present: Array = known.max(axis=1).astype(np.int64)
        walk(answers.reshape(LEVEL_COUNT, DIMENSION_COUNT), present, row["want_msgs"], row["want_bytes"], lowered)
        counts[row["topic"], row["sub"]] += lowered
