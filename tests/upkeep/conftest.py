"""A small warehouse as the real job makes it, with lost events and a rejected line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from capture_events import write_events
from job_run import run_job
from pyspark.sql import SparkSession
from upkeep_log import REJECTED, first_epoch, second_epoch

from pipeline.warehouse.layout import Warehouse


@pytest.fixture(scope="session")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Four files, four micro-batches of ingest, drained. Nobody may change it: copy it."""
    folder = tmp_path_factory.mktemp("upkeep")
    one, two = first_epoch(), second_epoch()
    write_events(one[: len(one) // 2], folder / "events" / "1.jsonl")
    write_events(one[len(one) // 2 :], folder / "events" / "2.jsonl")
    write_events(two[: len(two) // 2], folder / "events" / "3.jsonl")
    last = write_events(two[len(two) // 2 :], folder / "events" / "4.jsonl")
    last.write_text(last.read_text(encoding="utf-8") + REJECTED + "\n", encoding="utf-8")
    warehouse = Warehouse(f"file:{folder / 'warehouse'}")
    run_job(folder / "events", warehouse, ingest__max_files_per_batch="1")
    return warehouse


@pytest.fixture
def copied(made: Warehouse, tmp_path: Path) -> Callable[[], Warehouse]:
    """Makes a copy that the test may change."""

    def copy() -> Warehouse:
        return Warehouse("file:" + str(shutil.copytree(made.root.removeprefix("file:"), tmp_path / "copy")))

    return copy
