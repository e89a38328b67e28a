"""Spark's account of a micro-batch and ours, as a row of query_progress. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.upkeep.run_records.outbox import Entry

#: Column → Spark's name of the phase in durationMs.
PHASES = {
    "trigger_execution_ms": "triggerExecution",
    "latest_offset_ms": "latestOffset",
    "get_batch_ms": "getBatch",
    "query_planning_ms": "queryPlanning",
    "wal_commit_ms": "walCommit",
    "add_batch_ms": "addBatch",
    "commit_offsets_ms": "commitOffsets",
}
#: As batch_manifest has them.
COUNTS = ("rows_in", "quarantined", "late", "held", "lost")
#: Column → sum of what state operators report.
STATE = {"state_rows_updated": "numRowsUpdated", "state_memory_bytes": "memoryUsedBytes", "state_commit_ms": "commitTimeMs"}
BEHIND = {"files_behind": "numFilesOutstanding", "bytes_behind": "numBytesOutstanding"}
#: Spark's description of the source that wakes ingest begins so.
_COUNTER = "RatePerMicroBatchStream["
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US_OF_YEAR_10000 = 253_402_300_800_000_000
_NO_COUNTS: Mapping[str, int] = {}


def is_micro_batch(progress: Mapping[str, Any]) -> bool:
    """Whether a progress is of a micro-batch that was run. Spark also reports triggers that found nothing new."""
    return "addBatch" in progress["durationMs"]


def only_looked(progress: Mapping[str, Any], counts: Mapping[str, int] | None) -> bool:
    """Whether a micro-batch looked for open files (pipeline/ingest/following.py), and found nothing new. There is one for each trigger."""
    return counts is None and any(source.get("description", "").startswith(_COUNTER) for source in progress["sources"])


def progress_row(progress: Mapping[str, Any], counts: Mapping[str, int] | None, run_id: str) -> Entry:
    """A row of query_progress.

    `progress` is the JSON of Spark's StreamingQueryProgress; `counts` what the micro-batch wrote into batch_manifest and `newest_ts` (µs,
    0: no event was read), None if it wrote nothing.
    """
    durations = progress["durationMs"]
    began_at = datetime.fromisoformat(progress["timestamp"])
    ended_at = began_at + timedelta(milliseconds=durations["triggerExecution"])
    counted = counts or _NO_COUNTS
    newest_at = _instant(counted.get("newest_ts", 0))
    seconds = durations["triggerExecution"] / 1000
    operators = progress.get("stateOperators") or []
    metrics = [source.get("metrics") or {} for source in progress["sources"]]
    return {
        "run_id": run_id,
        "query": progress["name"],
        "query_id": progress["id"],
        "batch_id": progress["batchId"],
        "began_at": began_at,
        "ended_at": ended_at,
        **{column: durations.get(phase, 0) for column, phase in PHASES.items()},
        **{name: counted.get(name, 0) if counts else None for name in COUNTS},
        "rows_per_s": counted["rows_in"] / seconds if counts and seconds else None,
        "newest_event_at": newest_at,
        "event_lag_ms": None if newest_at is None else round((ended_at - newest_at) / timedelta(milliseconds=1)),
        **{column: _sum_of_known(metrics, metric) for column, metric in BEHIND.items()},
        "state_bytes": counted.get("state_bytes"),
        **{column: sum(operator[name] for operator in operators) if operators else None for column, name in STATE.items()},
    }


def _instant(us: int) -> datetime | None:
    """None for 0, which stands for no event, and for a number beyond every timestamp: an event may carry any number."""
    return _EPOCH + timedelta(microseconds=us) if 0 < us < _US_OF_YEAR_10000 else None


def _sum_of_known(metrics: list[Mapping[str, str]], name: str) -> int | None:
    """Sum over the sources that report it; None if none does."""
    known = [int(source[name]) for source in metrics if name in source]
    return sum(known) if known else None
