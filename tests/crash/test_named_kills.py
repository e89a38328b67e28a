"""Killed with -9 at every named point, and started again each time: every table is what an uninterrupted run makes of the same files."""

import random
import signal
from pathlib import Path

import pytest
from child import POINTS
from killed_job import Rows, differences, run_child, tables_of_warehouse
from pyspark.sql import SparkSession
from reader import Reader
from undisturbed import log_in_files, undisturbed

from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures


@pytest.fixture(scope="module")
def files(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A log in one file more than there are points."""
    return log_in_files(captures / "i_age_quota_precise", tmp_path_factory.mktemp("log"), len(POINTS) + 1)


@pytest.fixture(scope="module")
def uninterrupted(spark: SparkSession, files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Tables of a job that nobody disturbed."""
    return undisturbed(files[0].parent, tmp_path_factory.mktemp("uninterrupted"))


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_or_doubled(
    seed: int, files: list[Path], uninterrupted: dict[str, Rows], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file arrives after a kill; the next start first repeats what the kill cut off. The order of the points is the seed's."""
    points = random.Random(seed).sample(POINTS, len(POINTS))
    arriving, warehouse, log = tmp_path / "events", Warehouse(str(tmp_path / "warehouse")), tmp_path / "log.txt"
    arriving.mkdir()
    restarts = []
    with Reader(warehouse) as reader:
        for point, file in zip(points, files, strict=False):
            (arriving / file.name).write_bytes(file.read_bytes())
            ended = run_child(point, arriving, warehouse, log)
            assert ended.code == -signal.SIGKILL, f"'{point}' was not met; repeat: pytest {__file__} -k {seed}\n{log.read_text()}"
            restarts.append(ended.first_batch_s)
        (arriving / files[-1].name).write_bytes(files[-1].read_bytes())
        last = run_child("nowhere", arriving, warehouse, log, "--drain")
    assert last.code == 0, log.read_text()
    with capsys.disabled():
        seconds = ", ".join("-" if s is None else f"{s:.0f}" for s in (*restarts, last.first_batch_s))
        print(f"\nseconds from each start to its first whole micro-batch (-: killed before): {seconds}")
    assert differences(tables_of_warehouse(warehouse), uninterrupted) == {}, f"(missing, too many) after kills at {points}"
    assert reader.wrong == []
    assert len(reader.cuts) > len(points) // 2, "the reader saw the warehouse grow"
