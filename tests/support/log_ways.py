"""Ways in which one log may come to the job: in files, commits, micro-batches and runs. Its tables must not depend on them."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capture_events import write_events
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

import pipeline.lanes.query
import pipeline.warehouse.log_cleanup
import schemas.render.ddl
from console.command_line import main
from pipeline.store.address import local_path
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import commit_text, opened
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.log_cleanup import LogCleanup

Events = list[dict[str, Any]]
#: Runs the job over what lies in a folder, as `run_job` does.
Run = Callable[..., None]
Way = Callable[[Events, Path, Warehouse, Run], None]
#: Longer than any of these logs: files may then come in any order.
PATIENT = {"lanes__lateness_ms": "600000"}


def pieces(events: Events, count: int) -> list[Events]:
    size = -(-len(events) // count)
    return [events[start : start + size] for start in range(0, len(events), size)]


def one_run_per_file(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    for number, piece in enumerate(pieces(events, 3)):
        write_events(piece, folder / f"part-{number}.jsonl.gz")
        run_job(folder, warehouse, drain=number == 2)


def logs_cut_short(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    """Runs that go on where another ended, many micro-batches, and tables whose logs forget all but their newest versions meanwhile."""
    files = list(enumerate(pieces(events, 9)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemas.render.ddl, "CHECKPOINT_INTERVAL", "2")
        patch.setattr(pipeline.warehouse.log_cleanup, "LOOKED_AT", 2)
        patch.setattr(pipeline.warehouse.log_cleanup, "EVERY_MICRO_BATCHES", 1)
        patch.setattr(pipeline.lanes.query, "LogCleanup", lambda of, _: LogCleanup(of, 1))
        for run in (files[:6], files[6:]):
            for number, piece in run:
                write_events(piece, folder / f"part-{number}.jsonl.gz")
            run_job(folder, warehouse, drain=run[-1] == files[-1], ingest__max_files_per_batch="1", lanes__max_bytes_per_batch="1k")
    for table in ("dispatch_events", "batch_manifest"):
        is_cut_short = commit_text(warehouse.table(table), 1) is None
        assert is_cut_short == (local_path(warehouse.root) is not None), f"{table}: a store needs no shorter log"
    assert main(["sql", "SELECT count(*) FROM subscription_throttle", "--consistent", "--warehouse", warehouse.root]) == 0


def one_commit_in_many_micro_batches(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    for number, piece in enumerate(pieces(events, 6)):
        write_events(piece, folder / f"{number % 2}" / f"part-{number}.jsonl")
    run_job(folder, warehouse, lanes__max_bytes_per_batch="1k")


def one_file_per_ingest_batch_in_any_order(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    parts = list(enumerate(pieces(events, 5)))
    random.Random(7).shuffle(parts)
    for arrival, (number, piece) in enumerate(parts):
        write_events(piece, folder / f"{arrival}-{number}.jsonl")
    run_job(folder, warehouse, ingest__max_files_per_batch="1", **PATIENT)


def repeated_and_shuffled(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    rng = random.Random(11)
    twice = events + rng.sample(events, len(events) // 5)
    rng.shuffle(twice)
    for number, piece in enumerate(pieces(twice, 3)):
        write_events(piece, folder / f"part-{number}.jsonl.gz")
    run_job(folder, warehouse, ingest__max_files_per_batch="1", lanes__max_bytes_per_batch="1k", **PATIENT)


def stopped_in_the_middle(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    half = len(events) // 2
    write_events(events[:half:2], folder / "even.jsonl")
    run_job(folder, warehouse, drain=False)
    write_events(events[1:half:2] + events[half:], folder / "rest.jsonl")
    run_job(folder, warehouse, drain=False)
    run_job(folder, warehouse)


def optimized_and_rebuilt(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    for number, piece in enumerate(pieces(events, 4)):
        write_events(piece, folder / f"part-{number}.jsonl")
    run_job(folder, warehouse, ingest__max_files_per_batch="1")
    spark = SparkSession.getActiveSession()
    assert spark is not None
    DeltaTable.forPath(spark, warehouse.table("dispatch_events")).optimize().executeCompaction()
    assert main(["rebuild", "lanes", "--warehouse", warehouse.root, "--yes"]) == 0
    run_job(folder, warehouse)


def outcomes_in_tasks(events: Events, folder: Path, warehouse: Warehouse, run_job: Run) -> None:
    """Repeated, shuffled, and as where outcomes are more than the driver takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline.lanes.query, "FEW_ROWS", -1)
        repeated_and_shuffled(events, folder, warehouse, run_job)
    files = opened(warehouse.table("subscription_throttle")).file_uris()
    assert files
    assert all(file.endswith(".zstd.parquet") for file in files), "the driver wrote them"


WAYS: list[Way] = [
    logs_cut_short,
    one_run_per_file,
    one_commit_in_many_micro_batches,
    one_file_per_ingest_batch_in_any_order,
    repeated_and_shuffled,
    stopped_in_the_middle,
    optimized_and_rebuilt,
    outcomes_in_tasks,
]


def assert_balance(warehouse: Warehouse, distinct_events: int) -> None:
    """in = bronze + quarantine, and bronze = applied + duplicates + late + held; nothing vanishes."""
    manifest = arrow_rows(warehouse.table("batch_manifest")).to_pylist()
    counts = ("rows_in", "bronze", "quarantined", "applied", "duplicates", "late", "held")
    total = {query: {name: sum(row[name] for row in manifest if row["query"] == query) for name in counts} for query in ("ingest", "lanes")}
    ingest, lanes = total["ingest"], total["lanes"]
    assert ingest["rows_in"] == ingest["bronze"] + ingest["quarantined"]
    assert lanes["rows_in"] == ingest["bronze"]
    assert lanes["rows_in"] == lanes["applied"] + lanes["duplicates"] + lanes["late"] + lanes["quarantined"] + lanes["held"]
    assert lanes["applied"] == distinct_events
    assert all(row["state_bytes"] > 0 for row in manifest if row["query"] == "lanes" and row["rows_in"])
