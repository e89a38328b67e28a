"""Killed with -9 at named points, and started again each time: every table is what an uninterrupted run makes of the same files."""

import random
import signal
from pathlib import Path

import pytest
from child import POINTS, STATE_COMMIT
from job_run import run_job
from killed_job import differences, run_child, tables_of_warehouse
from pyspark.sql import SparkSession
from reader import Reader
from undisturbed import log_in_files, undisturbed

from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
#: The one that has no like in process.
FEW = (STATE_COMMIT,)
LONG = pytest.mark.slow(reason="nine starts of the job: three minutes; a kill, and a death at every commit in process, run by default")


def shuffled(seed: int) -> tuple[str, ...]:
    """All points in the order of the seed."""
    return tuple(random.Random(seed).sample(POINTS, len(POINTS)))


@pytest.mark.parametrize(
    "points", [pytest.param(FEW, id="few"), *(pytest.param(shuffled(seed), id=f"seed-{seed}", marks=LONG) for seed in (1, 2))]
)
def test_nothing_is_lost_or_doubled(
    spark: SparkSession, captures: Path, points: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file arrives after a kill; the next start first repeats what the kill cut off."""
    files = log_in_files(captures / "i_age_quota_precise", tmp_path / "log", len(points) + 1)
    arriving, warehouse, log = tmp_path / "events", Warehouse(str(tmp_path / "warehouse")), tmp_path / "log.txt"
    arriving.mkdir()
    restarts = []
    with Reader(warehouse) as reader:
        for point, file in zip(points, files, strict=False):
            (arriving / file.name).write_bytes(file.read_bytes())
            ended = run_child(point, arriving, warehouse, log)
            assert ended.code == -signal.SIGKILL, f"'{point}' was not met\n{log.read_text()}"
            restarts.append(ended.first_batch_s)
        (arriving / files[-1].name).write_bytes(files[-1].read_bytes())
        # In this session: what the last kill left is on disk alone, and no other Java need start.
        run_job(arriving, warehouse, ingest__max_files_per_batch="1")
    with capsys.disabled():
        seconds = ", ".join("-" if s is None else f"{s:.0f}" for s in restarts)
        print(f"\nseconds from each start to its first whole micro-batch (-: killed before): {seconds}")
    wanted = undisturbed(arriving, tmp_path / "undisturbed")
    assert differences(tables_of_warehouse(warehouse), wanted) == {}, f"(missing, too many) after kills at {points}"
    assert reader.wrong == []
    assert len(reader.cuts) >= 1 + len(points) // 2, "the reader saw the warehouse grow"
