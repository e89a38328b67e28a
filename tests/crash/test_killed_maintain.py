"""`maintain` killed with -9 amid OPTIMIZE and after it, while the log goes on: no row is lost or doubled, the next round goes through."""

import signal
from pathlib import Path

import pytest
from child import AFTER_OPTIMIZE, AMID_OPTIMIZE
from job_run import run_job
from killed_job import differences, run_command, tables_of_warehouse
from pyspark.sql import SparkSession
from undisturbed import log_in_files, undisturbed

from pipeline.warehouse.layout import Warehouse

pytestmark = [
    pytest.mark.captures,
    pytest.mark.slow(reason="three starts of maintain, five runs of the job; test_maintain lets a round die at the same points in process"),
]


def test_a_killed_maintain_loses_and_doubles_nothing(spark: SparkSession, captures: Path, tmp_path: Path) -> None:
    # Of bronze only closed dates are merged: midnight comes amid the files that are there at first.
    files = log_in_files(captures / "i_age_quota_precise", tmp_path / "log", 8, midnight_at=0.4)
    arriving, warehouse, log = tmp_path / "events", Warehouse(str(tmp_path / "warehouse")), tmp_path / "log.txt"
    arriving.mkdir()

    def arrive(count: int, *, drain: bool = False) -> None:
        for _ in range(count):
            file = files.pop(0)
            (arriving / file.name).write_bytes(file.read_bytes())
        run_job(arriving, warehouse, drain=drain, ingest__max_files_per_batch="1")

    def maintain(point: str) -> int:
        merged = ("--set", "maintain.merge_from_files=2")
        return run_command(point, warehouse, log, "maintain", "--warehouse", warehouse.root, *merged).code

    arrive(5)
    for point in (AMID_OPTIMIZE, AFTER_OPTIMIZE):
        assert maintain(point) == -signal.SIGKILL, f"'{point}' was not met\n{log.read_text(encoding='utf-8')}"
        arrive(1)
    assert maintain("nowhere") == 0, log.read_text(encoding="utf-8")
    arrive(1, drain=True)
    assert not files
    assert differences(tables_of_warehouse(warehouse), undisturbed(arriving, tmp_path / "undisturbed")) == {}, "(missing, too many)"
