"""The same log through the real job, cut into files, commits, micro-batches and runs: the tables stay the same, row for row."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events, write_events
from delta.tables import DeltaTable
from job_run import run_job, tables_in
from lane_tables import tables_of
from pyspark.sql import SparkSession

import pipeline.lanes.query
import pipeline.warehouse.log_cleanup
import schemas.render.ddl
from jobs.cli import main
from pipeline.store.table_log import commit_text, opened
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.log_cleanup import LogCleanup

pytestmark = pytest.mark.captures
Events = list[dict[str, Any]]
#: Longer than any of these logs: files may then come in any order.
PATIENT = {"lanes__lateness_ms": "600000"}


def pieces(events: Events, count: int) -> list[Events]:
    size = -(-len(events) // count)
    return [events[start : start + size] for start in range(0, len(events), size)]


def one_run_per_file(events: Events, folder: Path, warehouse: Warehouse) -> None:
    for number, piece in enumerate(pieces(events, 3)):
        write_events(piece, folder / f"part-{number}.jsonl.gz")
        run_job(folder, warehouse, drain=number == 2)


def logs_cut_short(events: Events, folder: Path, warehouse: Warehouse) -> None:
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
        assert commit_text(warehouse.table(table), 1) is None, table
    assert main(["sql", "SELECT count(*) FROM subscription_throttle", "--consistent", "--warehouse", warehouse.root]) == 0


def one_commit_in_many_micro_batches(events: Events, folder: Path, warehouse: Warehouse) -> None:
    for number, piece in enumerate(pieces(events, 6)):
        write_events(piece, folder / f"{number % 2}" / f"part-{number}.jsonl")
    run_job(folder, warehouse, lanes__max_bytes_per_batch="1k")


def one_file_per_ingest_batch_in_any_order(events: Events, folder: Path, warehouse: Warehouse) -> None:
    parts = list(enumerate(pieces(events, 5)))
    random.Random(7).shuffle(parts)
    for arrival, (number, piece) in enumerate(parts):
        write_events(piece, folder / f"{arrival}-{number}.jsonl")
    run_job(folder, warehouse, ingest__max_files_per_batch="1", **PATIENT)


def repeated_and_shuffled(events: Events, folder: Path, warehouse: Warehouse) -> None:
    rng = random.Random(11)
    twice = events + rng.sample(events, len(events) // 5)
    rng.shuffle(twice)
    for number, piece in enumerate(pieces(twice, 3)):
        write_events(piece, folder / f"part-{number}.jsonl.gz")
    run_job(folder, warehouse, ingest__max_files_per_batch="1", lanes__max_bytes_per_batch="1k", **PATIENT)


def stopped_in_the_middle(events: Events, folder: Path, warehouse: Warehouse) -> None:
    half = len(events) // 2
    write_events(events[:half:2], folder / "even.jsonl")
    run_job(folder, warehouse, drain=False)
    write_events(events[1:half:2] + events[half:], folder / "rest.jsonl")
    run_job(folder, warehouse, drain=False)
    run_job(folder, warehouse)


def optimized_and_rebuilt(events: Events, folder: Path, warehouse: Warehouse) -> None:
    for number, piece in enumerate(pieces(events, 4)):
        write_events(piece, folder / f"part-{number}.jsonl")
    run_job(folder, warehouse, ingest__max_files_per_batch="1")
    spark = SparkSession.getActiveSession()
    assert spark is not None
    DeltaTable.forPath(spark, warehouse.table("dispatch_events")).optimize().executeCompaction()
    assert main(["rebuild", "lanes", "--warehouse", warehouse.root, "--yes"]) == 0
    run_job(folder, warehouse)


def outcomes_in_tasks(events: Events, folder: Path, warehouse: Warehouse) -> None:
    """Repeated, shuffled, and as where outcomes are more than the driver takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline.lanes.query, "FEW_ROWS", -1)
        repeated_and_shuffled(events, folder, warehouse)
    files = opened(warehouse.table("subscription_throttle")).file_uris()
    assert files
    assert all(file.endswith(".zstd.parquet") for file in files), "the driver wrote them"


WAYS: list[Callable[[Events, Path, Warehouse], None]] = [
    logs_cut_short,
    one_run_per_file,
    one_commit_in_many_micro_batches,
    one_file_per_ingest_batch_in_any_order,
    repeated_and_shuffled,
    stopped_in_the_middle,
    optimized_and_rebuilt,
    outcomes_in_tasks,
]


#: Together: repeats, shuffles, several files, commits and micro-batches of either query; a run that goes on where another ended.
BY_DEFAULT = (logs_cut_short, outcomes_in_tasks)
LONG = pytest.mark.slow(reason="one to four runs of the job; two ways run by default, test_order cuts random logs in the pure lane")


@pytest.mark.parametrize("way", [pytest.param(way, id=way.__name__, marks=() if way in BY_DEFAULT else LONG) for way in WAYS])
def test_tables_do_not_depend_on_how_the_log_came(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse, way: Callable[[Events, Path, Warehouse], None]
) -> None:
    events = capture_events(captures / "t_restart", until_as_of=False)
    way(events, tmp_path / "events", warehouse)
    assert tables_of(events) == tables_in(spark, warehouse)
    assert_balance(spark, warehouse, len(events))


def assert_balance(spark: SparkSession, warehouse: Warehouse, distinct_events: int) -> None:
    """in = bronze + quarantine, and bronze = applied + duplicates + late + held; nothing vanishes."""
    manifest = spark.read.format("delta").load(warehouse.table("batch_manifest")).collect()
    counts = ("rows_in", "bronze", "quarantined", "applied", "duplicates", "late", "held")
    total = {query: {name: sum(row[name] for row in manifest if row["query"] == query) for name in counts} for query in ("ingest", "lanes")}
    ingest, lanes = total["ingest"], total["lanes"]
    assert ingest["rows_in"] == ingest["bronze"] + ingest["quarantined"]
    assert lanes["rows_in"] == ingest["bronze"]
    assert lanes["rows_in"] == lanes["applied"] + lanes["duplicates"] + lanes["late"] + lanes["quarantined"] + lanes["held"]
    assert lanes["applied"] == distinct_events
    assert all(row["state_bytes"] > 0 for row in manifest if row["query"] == "lanes" and row["rows_in"])


@pytest.mark.slow(reason="three runs of the job; test_order has epochs in any order in the pure lane, test_job_captures many at once")
def test_several_captures_in_one_warehouse_in_any_order(spark: SparkSession, captures: Path, tmp_path: Path) -> None:
    """All captures are of one broker id: their epochs lie side by side in one lane."""
    names = ("f_limit_above_need", "l_holes_redelivery_seek")
    logs = {name: capture_events(captures / name) for name in names}
    whole = tables_of([event for name in names for event in logs[name]])
    newest_first = sorted(names, key=lambda name: -logs[name][0]["epoch"])
    for order, steps in (("at once", [newest_first]), ("newest first", [[name] for name in newest_first])):
        warehouse, events = Warehouse(str(tmp_path / order)), tmp_path / f"events {order}"
        for step in steps:
            for name in step:
                write_events(logs[name], events / name / "events.jsonl.gz")
            run_job(events, warehouse, drain=step == steps[-1])
        assert tables_in(spark, warehouse) == whole, order
