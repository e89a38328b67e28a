"""The live job killed with -9 at random times, again and again. KILLS=200 and KILL_SEED=1 unless the environment says otherwise."""

import os
import random
from pathlib import Path

import pytest
from killed_job import differences, run_child, tables_of_warehouse
from live_job import LiveJob
from pyspark.sql import SparkSession
from quick_start import INTERPRETED
from random_kills import killed_at_random
from reader import Reader
from undisturbed import log_in_files, undisturbed

from pipeline.warehouse.layout import Warehouse

pytestmark = [
    pytest.mark.captures,
    pytest.mark.slow(reason="200 starts of the job: two hours; test_every_commit_fails fails each commit of a micro-batch by default"),
]
KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("KILL_SEED", "1"))


def test_nothing_is_lost_or_doubled_by_random_kills(
    spark: SparkSession, captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At each start a file or two wait to be read; the job lives for a random time; what it left is taken up by the next."""
    rng = random.Random(SEED)
    files = log_in_files(captures / "h_size_quota_eviction", tmp_path / "log", KILLS)
    arriving, warehouse = tmp_path / "events", Warehouse(str(tmp_path / "warehouse"))
    arriving.mkdir()
    arrived = grew = 0
    with Reader(warehouse) as reader:
        for number in range(KILLS):
            job = LiveJob(arriving, warehouse, tmp_path / f"start-{number}.txt", conf=INTERPRETED, ingest__max_files_per_batch="1")
            if arrived <= job.commits("dispatch_events"):  # one per file, and the one that made the table
                (arriving / files[arrived].name).write_bytes(files[arrived].read_bytes())
                arrived += 1
            grew += killed_at_random(rng, job)
        last = run_child("nowhere", arriving, warehouse, tmp_path / "last.txt", "--drain")
    assert last.code == 0, (tmp_path / "last.txt").read_text(encoding="utf-8")
    wanted = undisturbed(arriving, tmp_path / "undisturbed")
    assert differences(tables_of_warehouse(warehouse), wanted) == {}, f"(missing, too many); repeat: KILLS={KILLS} KILL_SEED={SEED}"
    assert reader.wrong == []
    with capsys.disabled():
        print(f"\n{KILLS} kills, {grew} after a whole micro-batch, {arrived} files read; {len(reader.cuts)} consistent cuts were read")
