"""The disk of the warehouse is full, may not be written, or lost something: one line says what to do, and nothing is lost or doubled."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capture_events import capture_events, write_events
from job_run import run_job, tables_in
from lane_tables import tables_of
from pyspark.sql import SparkSession
from spark_cache import forget_cached_tables

from driver.streaming import run_stream
from pipeline.faults import BadWarehouse
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
#: Room for all tables and checkpoints of the small capture, and for little more.
DISK_BYTES = 32 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        # Only root may mount, and in a container not even root: CI may lack the right. What is done on a full disk needs a full disk.
        pytest.skip(f"a disk that can be full must be mounted, and this user may not mount: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def error_of(events: Path, warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which the job ended, exit code 1."""
    spark = SparkSession.getActiveSession()
    capsys.readouterr()
    assert run_stream(spark, str(events), warehouse.root, load_settings(None, [], {}), once=True, drain=False) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.slow(reason="seven runs of the job; test_advice has what is said, test_every_commit_fails that nothing is doubled")
def test_a_disk_that_is_full_or_read_only_costs_nothing(
    spark: SparkSession, captures: Path, tmp_path: Path, disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = capture_events(captures / "p1_batches")
    events, warehouse = tmp_path / "events", Warehouse(str(disk / "warehouse"))
    write_events(log[:300], events / "a.jsonl.gz")
    remount(disk, "ro")
    with pytest.raises(BadWarehouse, match=r"the folder file:.*/warehouse cannot be made"):
        run_job(events, warehouse, drain=False)
    remount(disk, "rw")
    run_job(events, warehouse, drain=False)
    write_events(log[300:], events / "b.jsonl.gz")
    remount(disk, "ro")
    assert "may not be read or written. Give the rights, then start again" in error_of(events, warehouse, capsys)
    remount(disk, "rw")
    refused = []
    for left in (10_000, 300_000):
        ballast = fill(disk, left)
        refused.append(error_of(events, warehouse, capsys))
        ballast.unlink()
    assert all("the disk is full. Make room, then start again" in line for line in refused), refused
    run_job(events, warehouse)
    assert tables_in(spark, warehouse) == tables_of(log)


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def fill(disk: Path, left: int) -> Path:
    """A file that leaves `left` bytes of the disk free."""
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - left))
    return ballast


@pytest.mark.slow(reason="five runs of the job; test_advice has what is said of each fault, test_guard what is refused before a run")
def test_what_was_deleted_or_damaged_is_named_with_the_command(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of bronze that lanes have not read (vacuumed too early, say), then the state of lanes."""
    log = capture_events(captures / "p1_batches")
    events = tmp_path / "events"
    write_events(log[:300], events / "a.jsonl.gz")
    run_job(events, warehouse, drain=False)
    read = set(Path(warehouse.table("dispatch_events")).rglob("*.parquet"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("driver.streaming.start_lanes", _not_today)
        write_events(log[300:], events / "b.jsonl.gz")
        with pytest.raises(RuntimeError, match="not today"):
            run_job(events, warehouse)
    (unread,) = set(Path(warehouse.table("dispatch_events")).rglob("*.parquet")) - read
    aside = unread.rename(tmp_path / unread.name)
    root = f"file:{warehouse.root}"
    line = error_of(events, warehouse, capsys)
    assert (
        f"a file of table dispatch_events is gone. Put it back, or compute anew: ./spark-submit.sh rebuild all --warehouse {root}" in line
    )
    aside.rename(unread)

    state = {path: path.read_bytes() for path in Path(warehouse.checkpoint("lanes"), "state").rglob("*.changelog")}
    for path, whole in state.items():
        path.write_bytes(whole[:20])
    line = error_of(events, warehouse, capsys)
    assert f"{root}/_checkpoints/lanes is damaged. Compute anew: ./spark-submit.sh rebuild lanes --warehouse {root}" in line
    for path, whole in state.items():
        path.write_bytes(whole)
    forget_cached_tables(spark)
    run_job(events, warehouse)
    assert tables_in(spark, warehouse) == tables_of(log)


def _not_today(*_: object) -> None:
    raise RuntimeError("not today")
