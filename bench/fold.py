"""What the lane itself costs: events a second on one core, all packages of rules on, against a plain numpy pass over the same rows.

Every log is one broker's, folded in slices as they come from a shuffle. What only builds a state up (`before`) is not measured.
"""

import gzip
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.fold_logs import deep_backlog, idle_topics, one_limiter, repeated
from bench.measure import Pair, alternate
from pipeline.lanes.codec import encode
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.rules.array import Array
from tests.support.lane_rows import lane_rows

SETTINGS = LaneTiming(lateness_ms=10_000, window_ms=60_000, clock_step_ms=1_000)
#: Rows of a slice, as Spark hands them over.
SLICE_ROWS = 16_384
#: Retained entries over which the cost must be flat.
RETAINED = (1_000, 10_000, 100_000, 1_000_000)
SHARED = Path(__file__).resolve().parents[2] / "shared"
DEMO = Path(__file__).resolve().parents[1] / "demo" / "y_incident" / "events.jsonl.gz"
LARGE_CAPTURE = SHARED / "captures-large" / "aa_deep_backlog" / "events.jsonl.gz"


@dataclass(frozen=True)
class Log:
    """Rows that are measured (int64 [n, LANE_COLUMNS], in order), and those that come before them."""

    measured: Array
    before: Array


def logs() -> Iterator[tuple[str, Callable[[], Log]]]:
    """Name and maker of every log."""
    if LARGE_CAPTURE.exists():
        yield "aa_deep_backlog", lambda: _whole(lane_rows(events_of(LARGE_CAPTURE)))
    yield "demo_multiplied", lambda: _whole(repeated(lane_rows(events_of(DEMO)), 8))
    yield "deep_backlog", lambda: Log(*deep_backlog(topics=20, retained=100_000, events=1_000_000))
    yield "many_topics", lambda: Log(*idle_topics(idle=100_000, busy=1_000, events=1_000_000))
    yield "one_limiter", lambda: Log(*one_limiter(dispatchers=1_000, events=1_000_000))
    for retained in RETAINED:
        yield f"retained_{retained}", lambda retained=retained: Log(*deep_backlog(topics=1, retained=retained, events=500_000))  # type: ignore[misc]


def events_of(file: Path) -> list[dict[str, Any]]:
    """Events of a capture."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _whole(rows: Array) -> Log:
    return Log(rows, rows[:0])


def fold_into(lane: Lane, rows: Array) -> None:
    """A micro-batch of rows, in slices."""
    for start in range(0, len(rows), SLICE_ROWS):
        lane.offer(rows[start : start + SLICE_ROWS])
    lane.finish()


def lane_before(log: Log) -> Lane:
    """A lane that has seen what is not measured."""
    lane = Lane(SETTINGS)
    if len(log.before):
        fold_into(lane, log.before)
    return lane


def plain_pass(rows: Array) -> None:
    """What a rule that needs no state costs: every number read and a running total of its column written, slice by slice."""
    for start in range(0, len(rows), SLICE_ROWS):
        np.cumsum(rows[start : start + SLICE_ROWS], axis=0)


def measured(log: Log, rounds: int) -> dict[str, Any]:
    """CPU seconds of both sides, alternating. Each round folds into a lane of its own, which has seen `before`."""
    lanes = [lane_before(log) for _ in range(rounds + 1)]
    pair = alternate(lambda _: plain_pass(log.measured), lambda number: fold_into(lanes[number], log.measured), rounds, time.process_time)
    return result(pair, len(log.measured)) | {"state_bytes": len(encode(lanes[0]))}


def result(pair: Pair, rows: int) -> dict[str, Any]:
    """What is stored of one log: events a second (median), and the ratios to the plain pass."""
    return {
        "rows": rows,
        "reference_krows_s": round(rows / statistics.median(pair.reference_s) / 1000),
        "ours_krows_s": round(rows / statistics.median(pair.ours_s) / 1000),
        **pair.spread,
    }


def bench_fold(rounds: int) -> dict[str, Any]:
    """Every log; `ratio` is the least of them. `flat` is our greatest rate over the least, of logs that differ in retained entries."""
    found: dict[str, Any] = {}
    for name, make in logs():
        print(name, flush=True)
        found[name] = measured(make(), rounds)
        print(f"  {found[name]['ours_krows_s']:,} thousand events/s", flush=True)
    by_retained = [found[f"retained_{retained}"]["ours_krows_s"] for retained in RETAINED]
    slowest = min((one["ratio"], one["rows"]) for one in found.values())
    return {
        **found,
        "rows": slowest[1],
        "ratio": slowest[0],
        "flat": round(max(by_retained) / min(by_retained), 2),
    }
