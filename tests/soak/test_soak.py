"""Stream, maintain, backfill and readers at once, for SOAK_MINUTES (10): nobody fails, and no row is lost or doubled."""

import json
import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from capture_events import write_events
from killed_job import differences, tables_of_warehouse
from live_job import LiveJob
from pyspark.sql import SparkSession
from reader import Reader
from undisturbed import undisturbed
from upkeep_log import capture

from jobs.cli import main
from jobs.driver import utc_now
from pipeline.upkeep import vacuum
from pipeline.upkeep.status import status
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.render.ddl import delta_path
from schemas.tables import TABLES

pytestmark = [pytest.mark.spark, pytest.mark.slow]
MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
FILES_PER_EPOCH = 6
WRITTEN_AT = 1_790_000_000
#: A file that was merged is removed so soon: a test has no week. Longer than any reader here holds a version.
KEPT_S = 60


def log_in_files(folder: Path) -> list[Path]:
    """Four epochs of a broker on four dates in a row, in small files."""
    files = []
    for days_before in (3, 2, 1, 0):
        events = capture("p1_batches", days_before)
        size = -(-len(events) // FILES_PER_EPOCH)
        for start in range(0, len(events), size):
            file = write_events(events[start : start + size], folder / f"{len(files):04}.jsonl")
            os.utime(file, (WRITTEN_AT + len(files),) * 2)  # files are read in the order of their times
            files.append(file)
    return files


def test_stream_maintain_and_readers_do_not_disturb_each_other(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, arriving, warehouse = log_in_files(tmp_path / "log"), tmp_path / "events", Warehouse(f"file:{tmp_path / 'warehouse'}")
    arriving.mkdir()
    monkeypatch.setattr(vacuum, "SHORTEST", timedelta(0))
    monkeypatch.setattr(vacuum, "MARGIN", timedelta(0))
    create_missing_tables(spark, warehouse)
    for table in TABLES:
        kept = f"'delta.deletedFileRetentionDuration' = 'interval {KEPT_S} seconds'"
        spark.sql(f"ALTER TABLE {delta_path(warehouse.table(table.name))} SET TBLPROPERTIES ({kept})")
    reader, waiting = Reader(Warehouse(str(tmp_path / "warehouse"))), list(files)
    rounds, removed, anew, arrived = 0, 0, 0, 0
    days = [shutil.copy(file, tmp_path) for file in files[::FILES_PER_EPOCH]]
    with reader, LiveJob(arriving, warehouse, tmp_path / "said.txt", ingest__max_files_per_batch="1") as job:
        began = time.monotonic()
        while (elapsed := time.monotonic() - began) < 60 * MINUTES:
            assert job.is_running(), job.said()
            # Never more than the job can take, however slow the machine: at the end nothing waits.
            if (
                waiting
                and len(files) - len(waiting) <= len(files) * elapsed / (54 * MINUTES)
                and job.written("lanes", "applied") == arrived
            ):
                arrived += _lines(waiting[0])
                waiting[0].rename(arriving / waiting.pop(0).name)
            if job.written("lanes", "rows_in"):
                removed += maintained(warehouse, capsys)
                anew += backfilled(warehouse, days[rounds % len(days)], capsys)
                rounds += 1
            found = status(spark, warehouse, utc_now(), "elsewhere", lambda _: True, 1 << 20)
            assert found["problems"] == []
        job.wait_until(lambda: job.written("lanes", "applied") == arrived, "all is applied")
        (tmp_path / "warehouse" / "_stop").touch()
        assert job.exit_code() == 0, job.said()
    assert rounds > 1
    assert removed, "the test needs rounds that removed files"
    assert anew, "the test needs rounds that computed dates anew"
    assert reader.wrong == []
    assert len(reader.cuts) > 1
    wanted = undisturbed(arriving, tmp_path / "undisturbed", drain=False)
    assert differences(tables_of_warehouse(Warehouse(str(tmp_path / "warehouse"))), wanted) == {}


def maintained(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> int:
    """One round of upkeep; how many files it removed."""
    capsys.readouterr()
    assert main(["maintain", "--warehouse", warehouse.root, "--set", "maintain.merge_from_files=4", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    return sum(table["removed_files"] for table in document["tables"].values())


def backfilled(warehouse: Warehouse, log: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """The date of a file computed anew, if it is closed by now; what is there is what comes out. Returns how many rows did."""
    capsys.readouterr()
    on = datetime.fromtimestamp(json.loads(log.read_text(encoding="utf-8").splitlines()[0])["ts"] / 1e6, UTC).date()
    code = main(["backfill", "--warehouse", warehouse.root, "--from", str(on), "--format", "json"])
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert code == (1 if document["not_closed"] else 0)
    tables = [table for one in document["done"] for table in one["tables"].values()]
    assert not any(table["dates"] for table in tables), document
    return sum(table["computed"] for table in tables)


def _lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())
