"""The job on a standalone cluster: the tables of a local run, whatever dies. `./test.sh cluster` runs these alone."""

import time
import zipfile
from pathlib import Path

import pytest
from arriving import Arriving
from cluster_job import drain, half_a_state, job_on, uncommitted_bronze
from killed_job import differences, tables_of_warehouse
from pyspark.sql import SparkSession
from standalone import Standalone
from undisturbed import undisturbed

from pipeline.warehouse.layout import QUERIES, Warehouse
from tools.shipped_rules import SHIPPED

pytestmark = [
    pytest.mark.captures,
    pytest.mark.slow(
        reason="a cluster of Java processes and its jobs: minutes; test_code_zip and test_cluster_options have by default what it is sent,"
        " tests/crash what a kill leaves"
    ),
]
ROOT = Path(__file__).parents[2]
LOG = "i_age_quota_precise"


def test_the_tables_are_those_of_a_local_run_and_nothing_is_compiled(
    spark: SparkSession, cluster: Standalone, captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, warehouse, before = Arriving(captures / LOG, tmp_path, 3), Warehouse(str(tmp_path / "warehouse")), set(executors_folders(cluster))
    log.next_file()
    with job_on(cluster, log, warehouse, tmp_path / "said.txt") as job:
        began_s = time.monotonic()
        job.wait_until_live()
        live_s = time.monotonic()
        job.wait_until(lambda: job.written("lanes", "applied") > 0, "the first rows are written")
        rows_s = time.monotonic()
        Path(warehouse.stop_file).touch()
        assert job.exit_code() == 0, job.said()
    with capsys.disabled():
        print(f"\nfirst rows {rows_s - live_s:.0f} s after the queries began, {rows_s - began_s:.0f} s after the command")
    log.rest()
    drain(cluster, log, warehouse)
    assert differences(tables_of_warehouse(warehouse), undisturbed(log.folder, tmp_path / "undisturbed")) == {}
    unpacked = sorted(set(executors_folders(cluster)) - before)
    assert len(unpacked) == 4, "two executors of each of two jobs"
    for folder in unpacked:
        assert rules_in(folder) == shipped_rules()


def executors_folders(cluster: Standalone) -> list[Path]:
    """Where executors unpacked the code."""
    return sorted(cluster.folder.glob("worker-*/app-*/*/dispatch_analytics"))


def rules_in(folder: Path) -> dict[str, bytes]:
    """The compiled rules of an executor."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / SHIPPED).rglob("*.nb*")}


def shipped_rules() -> dict[str, bytes]:
    """The compiled rules in the archive that was used last."""
    archive = max((ROOT / ".venv" / "shipped").glob("*.zip"), key=lambda path: path.stat().st_mtime)
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name) for name in packed.namelist() if name.startswith(SHIPPED)}


def test_executors_and_workers_that_die_change_nothing(spark: SparkSession, cluster: Standalone, captures: Path, tmp_path: Path) -> None:
    """Both executors amid a micro-batch of ingest, both amid one of lanes, then a worker with its executor, and the other at the end."""
    log, warehouse = Arriving(captures / LOG, tmp_path, 6), Warehouse(str(tmp_path / "warehouse"))
    log.next_file()
    with job_on(cluster, log, warehouse, tmp_path / "said.txt") as job:

        def whole() -> None:
            job.wait_until(lambda: {job.written(query, "rows_in") for query in QUERIES} == {log.lines}, "all that arrived is in the tables")

        whole()
        amid = uncommitted_bronze(job, warehouse)
        log.next_file()
        job.wait_until(amid, "a task writes bronze")
        killed = sum(cluster.kill_executors(number) for number in (1, 2))
        whole()
        amid = half_a_state(warehouse)
        log.next_file()
        job.wait_until(amid, "lanes have computed and not written")
        killed += sum(cluster.kill_executors(number) for number in (1, 2))
        log.next_file()
        whole()
        log.next_file()
        job.wait_until(uncommitted_bronze(job, warehouse), "a task writes bronze again")
        cluster.kill_worker(1)
        whole()
        cluster.start_worker(1)
        assert killed == 4
        assert job.said().count("Lost executor") >= 5, job.said()
        assert "ExecutorLostFailure" in job.said(), "a task was lost with its executor"
        Path(warehouse.stop_file).touch()
        assert job.exit_code() == 0, job.said()
    log.rest()
    drain(cluster, log, warehouse)
    assert differences(tables_of_warehouse(warehouse), undisturbed(log.folder, tmp_path / "undisturbed")) == {}


def test_a_driver_that_dies_goes_on(spark: SparkSession, cluster: Standalone, captures: Path, tmp_path: Path) -> None:
    """Once amid a micro-batch of ingest, once amid one of lanes."""
    log, warehouse = Arriving(captures / LOG, tmp_path, 3), Warehouse(str(tmp_path / "warehouse"))
    log.next_file()
    with job_on(cluster, log, warehouse, tmp_path / "first.txt") as job:
        job.wait_until(lambda: job.written("lanes", "applied") > 0, "the first file is applied")
        amid = uncommitted_bronze(job, warehouse)
        log.next_file()
        job.wait_until(amid, "a task writes bronze")
    with job_on(cluster, log, warehouse, tmp_path / "second.txt") as job:
        job.wait_until(half_a_state(warehouse), "lanes have computed and not written")
    log.rest()
    said = drain(cluster, log, warehouse)
    assert "taking over the lock of a driver that is gone" in said
    assert differences(tables_of_warehouse(warehouse), undisturbed(log.folder, tmp_path / "undisturbed")) == {}
