"""Two runs of the job, written by hand: one that was stopped, and a slower one with other settings, which runs or was killed."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
STOPPED, RUNNING = "run-1", "run-2"
Row = Mapping[str, Any]


def second(s: float) -> datetime:
    """03:00 UTC plus s seconds."""
    return THREE + timedelta(seconds=s)


def ledger_rows() -> list[Row]:
    """run_ledger: the second run has no end."""
    same = {"command": "stream", "mode": "live", "code_version": "0.1.0", "code_fingerprint": "c1"}
    first = {**same, "run_id": STOPPED, "settings_fingerprint": "s1", "settings": {"lanes.lateness_ms": "10000"}, "started_at": second(0)}
    end = {"event": "ended", "ended_at": second(90), "outcome": "stopped", "micro_batches": 3, "unrecorded": 0}
    other = {"settings_fingerprint": "s2", "settings": {"lanes.lateness_ms": "30000"}}
    return [
        {**first, "event": "started"},
        {**first, **end},
        {**same, **other, "run_id": RUNNING, "event": "started", "started_at": second(100), "lost": "topic t: …"},
    ]


def micro_batch(run: str, query: str, batch_id: int, began_s: float, work_ms: int, rows: int | None) -> Row:
    """A row of query_progress: 0.8 s beside the work, the newest event 2 s old when it began."""
    took_ms = work_ms + 800
    return {
        "run_id": run, "query": query, "batch_id": batch_id, "began_at": second(began_s), "ended_at": second(began_s + took_ms / 1000),
        "trigger_execution_ms": took_ms, "latest_offset_ms": 50, "get_batch_ms": 10, "query_planning_ms": 140, "wal_commit_ms": 120,
        "add_batch_ms": work_ms, "commit_offsets_ms": 80, "rows_in": rows, "rows_per_s": None if rows is None else 1000 * rows / took_ms,
        "newest_event_at": None if rows is None else second(began_s - 2), "event_lag_ms": None if rows is None else took_ms + 2000,
        "lost": None if rows is None else 0,
    }  # fmt: skip


def progress_rows() -> list[Row]:
    """query_progress: lanes took 0.2 ms for a row in the first run, 0.8 in the second. One micro-batch wrote nothing."""
    return [
        micro_batch(STOPPED, "ingest", 0, 1, 1000, 9000),
        micro_batch(STOPPED, "lanes", 810, 3, 1800, 9000),
        micro_batch(STOPPED, "lanes", 811, 8, 300, None),
        micro_batch(RUNNING, "lanes", 812, 101, 7200, 9000),
        micro_batch(RUNNING, "lanes", 813, 109.5, 800, 1000),
    ]


def watch_tables() -> dict[str, list[Row]]:
    """Both tables."""
    return {"run_ledger": ledger_rows(), "query_progress": progress_rows()}
