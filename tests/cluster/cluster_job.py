"""A job on a cluster of the tests, and moments at which somebody may die."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from arriving import Arriving
from files_below import files_below, state_versions
from live_job import LiveJob
from standalone import Standalone

from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parents[2]
EXECUTORS = {"spark.executor.memory": "768m"}


def job_on(cluster: Standalone, log: Arriving, warehouse: Warehouse, output: Path) -> LiveJob:
    """A live job, a file in each micro-batch."""
    return LiveJob(log.place, warehouse, output, conf={"spark.master": cluster.url, **EXECUTORS}, ingest__max_files_per_batch="1")


def drain(cluster: Standalone, log: Arriving, warehouse: Warehouse) -> str:
    """The job to the end of the log; what it printed."""
    command = [ROOT / "spark-submit.sh", "stream", "--once", "--drain", "--events", log.place, "--warehouse", warehouse.root]
    of_spark = ["--master", cluster.url, *(word for key, value in EXECUTORS.items() for word in ("--conf", f"{key}={value}"))]
    of_spark += ["--conf", "spark.sql.shuffle.partitions=2"]
    environ = {key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS")}
    done = subprocess.run(
        [*command, *of_spark, "--set", "ingest.max_files_per_batch=1"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{cluster.said_by_executors()}"
    return done.stdout


def uncommitted_bronze(job: LiveJob, warehouse: Warehouse) -> Callable[[], bool]:
    """Whether a task writes a file of bronze that no commit has yet."""
    bronze = warehouse.table("dispatch_events")
    before, commits = files_below(bronze, ".parquet"), job.commits("dispatch_events")
    return lambda: job.commits("dispatch_events") == commits and files_below(bronze, ".parquet") > before


def half_a_state(warehouse: Warehouse) -> Callable[[], bool]:
    """Whether a partition of lanes' state is committed for another micro-batch, which comes before anything is written."""
    checkpoint = warehouse.checkpoint("lanes")
    before = state_versions(checkpoint)
    return lambda: state_versions(checkpoint) > before
