"""The newest applied event of each broker, as lanes report it micro-batch by micro-batch: the same whatever way the log was cut."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from busy_log import busy_log, cut, without
from lane_rows import lane_rows
from lane_tables import SETTINGS, drain_row
from log_builder import EPOCH

from pipeline.lanes.codec import decode, encode
from pipeline.lanes.lane import Lane
from pipeline.lanes.newest_events import NewestEvents, newest_events
from pipeline.lanes.outcome_packets import outcome_rows
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.outcomes import LANE_REPORT
from schemas.tables.bookkeeping import BATCH_MANIFEST

BROKER = 7
Chunks = list[np.ndarray[Any, Any]]


def reports(micro_batches: list[Chunks]) -> list[pa.Table]:
    """The lane's report of each micro-batch; its state goes through its blob after each."""
    lane, found = Lane(SETTINGS), []
    for chunks in micro_batches:
        for chunk in chunks:
            lane.offer(chunk)
        found.append(outcome_rows(BROKER, LANE_REPORT, [rows for rows in lane.finish() if rows.table == LANE_REPORT]))
        lane = decode(encode(lane), SETTINGS)
    return found


def newest(*micro_batches: Chunks) -> list[tuple[int, int]]:
    """(epoch, ts) after all micro-batches."""
    events = NewestEvents()
    for report in reports([*micro_batches]):
        events.add(report)
    assert all(row["broker_id"] == BROKER for row in events.rows)
    return [(row["epoch"], row["at"]) for row in events.rows]


@pytest.mark.parametrize("seed", range(20))
def test_it_does_not_depend_on_how_the_log_was_cut(seed: int) -> None:
    rng, events = random.Random(seed), busy_log()
    pieces = [*cut(events, rng, rng.randint(2, 12)), [drain_row()]]
    assert newest(*pieces) == newest([lane_rows(events)]) == [(EPOCH, max(event["ts"] for event in events))]


def test_an_event_that_is_held_behind_a_gap_is_not_known_yet() -> None:
    events = busy_log(seconds=40)
    first, rest = without(events[:100], 50), events[100:]
    assert newest([lane_rows(first, 0)]) == [(EPOCH, events[48]["ts"])]
    assert newest([lane_rows(first, 0)], [lane_rows(events[49:50], 1)]) == [(EPOCH, events[99]["ts"])]
    assert newest([lane_rows(first, 0)], [lane_rows(rest, 1)], [drain_row()]) == [(EPOCH, events[-1]["ts"])]


def test_an_older_life_of_the_broker_does_not_set_it_back() -> None:
    old, new = busy_log(EPOCH, 30), busy_log(EPOCH + 60_000, 30)
    after = [(EPOCH + 60_000, new[-1]["ts"])]
    assert newest([lane_rows(new, 0)], [lane_rows(old, 1)]) == newest([lane_rows(old, 0), lane_rows(new, 0)]) == after


def test_repeats_change_nothing() -> None:
    events = busy_log(seconds=20)
    assert newest([lane_rows(events, 0)], [lane_rows(events[:10], 1)], [lane_rows(events[5:], 2)]) == [(EPOCH, events[-1]["ts"])]


def test_after_the_clock_was_set_back_its_time_counts() -> None:
    events = busy_log(seconds=40)
    back = [{**event, "ts": event["ts"] - 3_600_000_000} if place >= 100 else event for place, event in enumerate(events)]
    assert newest([lane_rows(back[:120], 0)]) == [(EPOCH, back[119]["ts"])]
    assert newest([lane_rows(back[:100], 0)], [lane_rows(back[100:], 1)]) == [(EPOCH, back[-1]["ts"])]


def test_a_job_that_starts_again_goes_on_from_its_newest_micro_batch(tmp_path: Path) -> None:
    warehouse = Warehouse(f"file:{tmp_path / 'w'}")
    create_missing_tables(warehouse)
    assert newest_events(warehouse).rows == []
    far = {"broker_id": 2, "epoch": 5, "at": 400_000_000_000_000_000}
    for batch_id, query, rows in ((9, "ingest", None), (0, "lanes", [far]), (1, "lanes", [far, {"broker_id": 3, "epoch": 6, "at": 7}])):
        append_rows(warehouse, BATCH_MANIFEST, [_manifest(query, batch_id, rows)])
    assert newest_events(warehouse).rows == [far, {"broker_id": 3, "epoch": 6, "at": 7}]
    append_rows(warehouse, BATCH_MANIFEST, [_manifest("lanes", 2, None)])
    assert newest_events(warehouse).rows == [], "an earlier version wrote the newest one: what it applied since is not known"


def _manifest(query: str, batch_id: int, rows: list[dict[str, int]] | None) -> dict[str, Any]:
    values = {"string": "", "long": 0, "map<string,string>": {}, "timestamp": 0}
    known = {field.name: values.get(field.type) for field in BATCH_MANIFEST.fields}
    return {**known, "query": query, "batch_id": batch_id, "newest_events": rows}
