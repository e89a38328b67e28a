"""A warehouse of a damaged log, as the real job makes it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from job_run import run_job
from pyspark.sql import SparkSession
from quarantined_log import STRICT, Damaged, written_log

from console.command_line import main
from pipeline.warehouse.layout import Warehouse


@pytest.fixture(scope="session")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Damaged:
    """The log in three files, three micro-batches of ingest, drained. Nobody may change it: copy it."""
    damaged = written_log(tmp_path_factory.mktemp("damaged"))
    run_job(damaged.place, damaged.warehouse, **STRICT)
    return damaged


@pytest.fixture
def copied(made: Damaged, tmp_path: Path) -> Callable[[], Damaged]:
    """Makes copies of the warehouse that the test may change; the log is the same."""

    def copy() -> Damaged:
        target = tmp_path / f"copy-{len(list(tmp_path.glob('copy-*')))}"
        shutil.copytree(made.warehouse.root.removeprefix("file:"), target)
        return Damaged(made.folder, Warehouse(f"file:{target}"), made.events, made.seqs)

    return copy


@pytest.fixture(scope="session")
def moved(made: Damaged, tmp_path_factory: pytest.TempPathFactory) -> Damaged:
    """All lines that needed a repaired text are put back; nobody has read them. Nobody may change it."""
    folder = tmp_path_factory.mktemp("moved")
    shutil.copytree(made.warehouse.root.removeprefix("file:"), folder / "warehouse")
    damaged = Damaged(made.folder, Warehouse(f"file:{folder / 'warehouse'}"), made.events, made.seqs)
    assert main(["quarantine", "replay", "--warehouse", damaged.warehouse.root, "--from", str(damaged.repaired(folder))]) == 0
    return damaged
