"""What Spark's commands make of a warehouse that was loaded: they look after it, and never go on from it."""

import json
from pathlib import Path

import pytest
from backfill_run import run_backfill_command, unsound
from capture_events import write_events
from day_logs import around_midnight
from job_run import run_job
from loaded import load_into, tables_unlike
from pyspark.sql import SparkSession
from upkeep_log import capture

from console.command_line import main
from driver.streaming import run_stream
from pipeline.faults import BadWarehouse
from pipeline.settings import load_settings
from pipeline.sources import listed_files
from pipeline.warehouse.layout import Warehouse


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log around midnight, in two files."""
    folder = tmp_path_factory.mktemp("log") / "events"
    events = around_midnight(capture("p1_batches"), share=0.8)
    write_events(events[:300], folder / "1.jsonl")
    write_events(events[300:], folder / "2.jsonl.gz")
    return folder


@pytest.fixture(scope="module")
def loaded(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The log, loaded by two processes, which both wrote events of the first date. Tests may only look after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listed_files, "_SMALL_TASK_BYTES", 1_000)
        return load_into(log, tmp_path_factory.mktemp("loaded") / "warehouse")


def test_tables_are_those_of_the_streaming_job(spark: SparkSession, log: Path, loaded: Warehouse, warehouse: Warehouse) -> None:
    run_job(log, warehouse)
    assert tables_unlike(loaded, warehouse) == []


def test_invariants_hold_and_a_backfill_finds_every_row_as_it_is(spark: SparkSession, loaded: Warehouse) -> None:
    assert unsound(loaded) == {}
    dates = ("--from", "2026-11-20", "--to", "2026-11-23", "--dry-run")
    document = run_backfill_command(spark, loaded, *dates)
    assert document["done"]
    assert [one for one in document["done"] for table in one["tables"].values() if table["dates"]] == []


def test_maintain_looks_after_it(spark: SparkSession, loaded: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maintain", "--warehouse", loaded.root, "--format", "json"]) == 0
    done = json.loads(capsys.readouterr().out.splitlines()[-1])
    bronze = done["tables"]["dispatch_events"]
    assert (len(bronze["merged_dates"]), bronze["merged_files"], bronze["into_files"]) == (1, 2, 1)
    assert bronze["merged_dates"][0] < done["first_open_date"]


@pytest.mark.parametrize("arguments", [["rebuild", "lanes", "--yes"], ["quarantine", "replay"]])
def test_what_would_compute_on_is_refused(
    spark: SparkSession, loaded: Warehouse, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main([*arguments, "--warehouse", loaded.root]) == 2
    assert "was made by `load` of a finished log" in capsys.readouterr().err


def test_stream_does_not_go_on_from_it(spark: SparkSession, log: Path, loaded: Warehouse) -> None:
    with pytest.raises(BadWarehouse, match="was made by `load` of a finished log"):
        run_stream(spark, str(log), loaded.root, load_settings(None, [], {}), once=True, drain=True)
