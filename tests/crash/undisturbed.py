"""A log in files, and the tables that a job makes of them when nobody disturbs it."""

import json
from pathlib import Path

from capture_events import capture_events, write_events
from day_logs import around_midnight
from job_run import run_job
from killed_job import Rows, tables_of_warehouse

from pipeline.warehouse.layout import Warehouse


def log_in_files(capture: Path, folder: Path, count: int, midnight_at: float | None = None) -> list[Path]:
    """The capture's events in `count` files in a row; every fourth one has a rejected line that becomes a tombstone.

    `midnight_at`: share of the log's time where a UTC date begins; None: when it was.
    """
    events = capture_events(capture)
    if midnight_at is not None:
        events = around_midnight(events, midnight_at)
    ends = [len(events) * number // count for number in range(count + 1)]
    files = []
    for number in range(count):
        piece = events[ends[number] : ends[number + 1]]
        repeated = {**piece[len(piece) // 2], "topic": 7}
        path = write_events(piece, folder / f"part-{number:03}.jsonl")
        if number % 4 == 1:
            path.write_text(path.read_text(encoding="utf-8") + json.dumps(repeated) + "\n", encoding="utf-8")
        files.append(path)
    return files


def undisturbed(events: Path, folder: Path, *, drain: bool = True) -> dict[str, Rows]:
    """Tables of one run over all files, a micro-batch of ingest per file. Needs the session's Spark."""
    warehouse = Warehouse(str(folder / "warehouse"))
    run_job(events, warehouse, drain=drain, ingest__max_files_per_batch="1")
    return tables_of_warehouse(warehouse)
