"""Spark's account of a micro-batch and ours, side by side in a row."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from progress_json import DURATIONS, progress_of

from pipeline.upkeep.run_records.progress import PHASES, is_micro_batch, only_looked, progress_row
from schemas.tables.watch import QUERY_PROGRESS

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ENDED = NOON + timedelta(milliseconds=3200)
NEWEST = NOON - timedelta(seconds=2)
COUNTS = {
    "rows_in": 1600, "quarantined": 1, "applied": 1590, "duplicates": 2, "late": 3, "held": -4, "lost": 5, "state_bytes": 250,
    "newest_ts": int(NEWEST.timestamp()) * 1_000_000,
}  # fmt: skip


def test_a_row_has_every_column_of_the_table() -> None:
    assert progress_row(progress_of("lanes", 1), COUNTS, "r").keys() == set(QUERY_PROGRESS.names)


def test_a_micro_batch_of_lanes_tells_time_rows_lag_and_state() -> None:
    row = progress_row(progress_of("lanes", 812), COUNTS, "r1")
    assert {column: row[column] for column in PHASES} == {column: DURATIONS[phase] for column, phase in PHASES.items()}
    assert (row["run_id"], row["query"], row["batch_id"], row["began_at"], row["ended_at"]) == ("r1", "lanes", 812, NOON, ENDED)
    assert (row["rows_in"], row["rows_per_s"]) == (1600, 500.0)
    assert (row["quarantined"], row["late"], row["held"], row["lost"]) == (1, 3, -4, 5)
    assert (row["newest_event_at"], row["event_lag_ms"]) == (NEWEST, 5200)
    assert (row["files_behind"], row["bytes_behind"]) == (3, 900)
    assert [row[f"state_{name}"] for name in ("bytes", "rows_updated", "memory_bytes", "commit_ms")] == [250, 2, 4096, 77]


def test_a_micro_batch_of_ingest_has_no_state_and_lost_nothing() -> None:
    row = progress_row(progress_of("ingest", 0), {"rows_in": 10, "bronze": 9, "quarantined": 1, "newest_ts": 0}, "r")
    assert [row[name] for name in ("state_bytes", "state_rows_updated", "state_memory_bytes", "state_commit_ms")] == [None] * 4
    assert (row["lost"], row["late"], row["newest_event_at"], row["event_lag_ms"]) == (0, 0, None, None)


def test_a_micro_batch_that_wrote_nothing_has_no_counts() -> None:
    row = progress_row(progress_of("ingest", 4), None, "r")
    assert [row[name] for name in ("rows_in", "rows_per_s", "lost", "newest_event_at", "state_bytes")] == [None] * 5
    assert row["add_batch_ms"] == 3000


@pytest.mark.parametrize("newest_ts", [0, -5, 2**63 - 1])
def test_a_time_that_no_timestamp_can_say_is_left_out(newest_ts: int) -> None:
    assert progress_row(progress_of("lanes", 1), {**COUNTS, "newest_ts": newest_ts}, "r")["newest_event_at"] is None


@pytest.mark.parametrize(
    ("changes", "is_one"),
    [({}, True), ({"durationMs": {"latestOffset": 3, "triggerExecution": 3}}, False)],
)
def test_a_trigger_that_found_nothing_is_no_micro_batch(changes: dict[str, Any], is_one: bool) -> None:
    assert is_micro_batch(progress_of("lanes", 1, **changes)) is is_one


@pytest.mark.parametrize(
    ("description", "counts", "looked"),
    [
        ("RatePerMicroBatchStream[rowsPerBatch=1]", None, True),
        ("RatePerMicroBatchStream[]", COUNTS, False),
        ("FileStreamSource", None, False),
    ],
)
def test_a_look_for_open_files_that_found_nothing_is_no_news(description: str, counts: dict[str, int] | None, looked: bool) -> None:
    assert only_looked(progress_of("ingest", 4, sources=[{"metrics": {}}, {"description": description}]), counts) is looked
