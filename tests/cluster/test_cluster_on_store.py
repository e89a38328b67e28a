"""The job on a cluster with log and warehouse in a real S3 server: executors write there, too, and whoever dies changes nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from arriving import Arriving
from bad_proxy import BadProxy
from cluster_job import drain, half_a_state, job_on, uncommitted_bronze
from killed_job import differences, tables_of_warehouse
from pyspark.sql import SparkSession
from real_store import BUCKET, RealStore, environment_of
from standalone import Standalone
from undisturbed import undisturbed

from pipeline.warehouse.layout import QUERIES, Warehouse

pytestmark = [pytest.mark.captures, pytest.mark.store_server]
LOG = "i_age_quota_precise"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of a store whose address and key are in the environment of the driver alone."""
    with RealStore(tmp_path) as real, BadProxy(real.port) as proxy:
        for name, value in environment_of(proxy.port).items():
            monkeypatch.setenv(name, value)
        yield f"s3a://{BUCKET}/cluster"


def test_executors_and_a_driver_that_die_change_nothing(
    spark: SparkSession, cluster: Standalone, captures: Path, place: str, tmp_path: Path
) -> None:
    """Both executors amid a micro-batch of ingest, the driver amid one of lanes."""
    log, warehouse = Arriving(captures / LOG, tmp_path, 5, f"{place}/events"), Warehouse(f"{place}/warehouse")
    log.next_file()
    with job_on(cluster, log, warehouse, tmp_path / "first.txt") as job:

        def whole() -> None:
            job.wait_until(lambda: {job.written(query, "rows_in") for query in QUERIES} == {log.lines}, "all that arrived is in the tables")

        whole()
        amid = uncommitted_bronze(job, warehouse)
        log.next_file()
        job.wait_until(amid, "a task writes bronze")
        assert sum(cluster.kill_executors(number) for number in (1, 2)) == 2
        whole()
        assert job.said().count("Lost executor") >= 2, job.said()
        amid = half_a_state(warehouse)
        log.next_file()
        job.wait_until(amid, "lanes have computed and not written")
    log.rest()
    assert "taking over the lock of a driver that is gone" in drain(cluster, log, warehouse)
    assert differences(tables_of_warehouse(warehouse), undisturbed(log.folder, tmp_path / "undisturbed")) == {}, "(missing, too many)"
