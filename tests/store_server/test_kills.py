"""The job on each store killed with -9, at points and at random: the next start takes its lock and goes on, nothing is lost or doubled.

STORE_KILLS=20 KILL_SEED=7 for other random kills than four of seed 1.
"""

import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest
from arriving import Arriving
from child import STATE_COMMIT
from in_store import run_in_store
from job_run import run_job
from killed_job import LANE_COUNTS, VOLATILE, Rows, differences, run_child, tables_of_warehouse
from live_job import LiveJob
from pyspark.sql import SparkSession
from quick_start import INTERPRETED
from random_kills import killed_at_random
from undisturbed import undisturbed

from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
#: Between a query's commits and Spark's; deaths at the commits themselves are in test_logs_in_store, in process.
POINTS = ("ingest before Spark's commit", STATE_COMMIT, "lanes between two tables", "lanes before Spark's commit")
KILLS = int(os.environ.get("STORE_KILLS", "4"))
SEED = int(os.environ.get("KILL_SEED", "1"))


def test_named_kills(spark: SparkSession, captures: Path, any_place: str, tmp_path: Path, spark_of_children: None) -> None:
    """Each file comes before a kill; the next start first repeats what the kill cut off."""
    log = Arriving(captures / "i_age_quota_precise", tmp_path, len(POINTS) + 1, f"{any_place}/events")
    warehouse, output = Warehouse(f"{any_place}/warehouse"), tmp_path / "log.txt"
    for point in POINTS:
        log.next_file()
        ended = run_child(point, log.place, warehouse, output)
        assert ended.code == -signal.SIGKILL, f"'{point}' was not met\n{output.read_text(encoding='utf-8')}"
    log.rest()
    run_in_store(log.folder, warehouse, ingest__max_files_per_batch="1")
    assert output.read_text(encoding="utf-8").count("taking over the lock of a driver that is gone") == len(POINTS) - 1
    assert differences(tables_of_warehouse(warehouse), undisturbed(log.folder, tmp_path / "undisturbed")) == {}, "(missing, too many)"


def whatever_the_batches(warehouse: Warehouse) -> dict[str, Rows]:
    """The tables, and the sums of all micro-batches.

    Spark notes the files of a micro-batch of ingest before it plans it. Killed between the two, it puts the next file into the same one.
    """
    tables = tables_of_warehouse(warehouse, VOLATILE | {"ingest_batch"})
    manifest = arrow_rows(warehouse.table("batch_manifest"))
    sums = manifest.group_by("query").aggregate([(name, "sum") for name in (*LANE_COUNTS, "bronze")]).to_pylist()
    return tables | {"batch_manifest": Counter(tuple(map(str, row.values())) for row in sums)}


def test_random_kills(spark: SparkSession, captures: Path, any_place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng, log = random.Random(SEED), Arriving(captures / "h_size_quota_eviction", tmp_path, KILLS + 1, f"{any_place}/events")
    warehouse, grew = Warehouse(f"{any_place}/warehouse"), 0
    for number in range(KILLS):
        job = LiveJob(log.place, warehouse, tmp_path / f"start-{number}.txt", conf=INTERPRETED, ingest__max_files_per_batch="1")
        if log.arrived <= job.commits("dispatch_events"):  # one per file, and the one that made the table
            log.next_file()
        grew += killed_at_random(rng, job)
    log.rest()
    run_in_store(log.folder, warehouse, ingest__max_files_per_batch="1")
    again = f"repeat: STORE_KILLS={KILLS} KILL_SEED={SEED} ./test.sh store -k random_kills"
    here = Warehouse(str(tmp_path / "warehouse"))
    run_job(log.folder, here, ingest__max_files_per_batch="1")
    assert differences(whatever_the_batches(warehouse), whatever_the_batches(here)) == {}, f"(missing, too many); {again}"
    with capsys.disabled():
        print(f"\n{KILLS} kills, {grew} after a whole micro-batch")
