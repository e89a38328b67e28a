"""The live job killed with -9 at random times, again and again. KILLS=200 and KILL_SEED=1 unless the environment says otherwise."""

import os
import random
import time
from pathlib import Path

import pytest
from killed_job import differences, run_child, tables_of_warehouse
from live_job import LiveJob
from pyspark.sql import SparkSession
from reader import Reader
from undisturbed import log_in_files, undisturbed

from pipeline.warehouse.layout import Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.captures, pytest.mark.slow]
KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("KILL_SEED", "1"))
#: From before Spark has started to well after the first micro-batches of both queries.
EARLIEST_S, LATEST_S = 1.0, 30.0
FILES = 60


def test_nothing_is_lost_or_doubled_by_random_kills(spark: SparkSession, captures: Path, tmp_path: Path) -> None:
    """A file of the log arrives before most starts; the job lives for a random time; what it left is taken up by the next."""
    rng = random.Random(SEED)
    files = log_in_files(captures / "h_size_quota_eviction", tmp_path / "log", FILES)
    arriving, warehouse = tmp_path / "events", Warehouse(str(tmp_path / "warehouse"))
    arriving.mkdir()
    waiting = list(files)
    with Reader(warehouse) as reader:
        for number in range(KILLS):
            if waiting and rng.random() < FILES / KILLS * 1.2:
                file = waiting.pop(0)
                (arriving / file.name).write_bytes(file.read_bytes())
            lifetime_s = rng.uniform(EARLIEST_S, LATEST_S)
            with LiveJob(arriving, warehouse, tmp_path / f"start-{number}.txt", ingest__max_files_per_batch="1") as job:
                time.sleep(lifetime_s)  # at the end of the block the whole process group is killed
                assert job.is_running(), f"start {number} ended by itself: {job.said()}"
        for file in waiting:
            (arriving / file.name).write_bytes(file.read_bytes())
            time.sleep(0.01)  # files are read in the order of their times
        last = run_child("nowhere", arriving, warehouse, tmp_path / "last.txt", "--drain")
    assert last.code == 0, (tmp_path / "last.txt").read_text(encoding="utf-8")
    wanted = undisturbed(arriving, tmp_path / "undisturbed")
    assert differences(tables_of_warehouse(warehouse), wanted) == {}, f"(missing, too many); repeat: KILLS={KILLS} KILL_SEED={SEED}"
    assert reader.wrong == []
