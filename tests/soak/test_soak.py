"""Stream, maintain, backfill, readers at once, for SOAK_MINUTES (10), while events come late: nobody fails, no row is lost or doubled."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from backfill_run import broken_invariants, computed
from capture_events import write_events
from job_run import run_job, tables_in
from live_job import LiveJob
from pyspark.sql import SparkSession
from quick_start import INTERPRETED
from reader import Reader
from upkeep_log import capture

from console.command_line import main
from driver.this_machine import utc_now
from pipeline.query.newest_room import NewestRoom
from pipeline.store.table_log import opened
from pipeline.upkeep import vacuum
from pipeline.upkeep.status import status
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables import TABLES

pytestmark = pytest.mark.slow(reason="ten minutes; the parts, live job, maintain and consistent cuts, have tests by default")
MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
DAYS_BEFORE = (3, 2, 1, 0)
FILES_PER_EPOCH = 12
#: Of each epoch, by position: they are missing in the seventh file, are given up by the ninth, and come with the tenth.
LATE, COMES_WITH = range(430, 440), 9
#: Position before the newest broker stops.
GOES_ON = 780
#: A file that was merged is removed so soon: a test has no week. Longer than any reader here holds a version.
KEPT_S = 60
JOB = {"ingest__max_files_per_batch": "1", "lanes__lateness_ms": "1000"}


def epoch_of(days_before: int) -> list[dict[str, Any]]:
    """Events of an epoch; the newest one goes on."""
    events = capture("p1_batches", days_before)
    return events if days_before else events[:GOES_ON]


def log_in_files(folder: Path) -> list[Path]:
    """Four epochs of a broker on four dates in a row, in small files; of each epoch some events come late."""
    files = []
    for days_before in DAYS_BEFORE:
        events = epoch_of(days_before)
        size = -(-len(events) // FILES_PER_EPOCH)
        for number in range(FILES_PER_EPOCH):
            positions = [n for n in range(number * size, min((number + 1) * size, len(events))) if n not in LATE]
            late = LATE if number == COMES_WITH else ()
            files.append(write_events([events[n] for n in (*positions, *late)], folder / f"{len(files):04}.jsonl"))
    return files


def log_in_time(folder: Path) -> Path:
    """The same events, none of them late."""
    for number, days_before in enumerate(DAYS_BEFORE):
        write_events(epoch_of(days_before), folder / f"{number:04}.jsonl")
    return folder


class Arrivals:
    """Lets a file arrive whenever lanes have read those before it, however slow the machine, spread over most of the time."""

    def __init__(self, files: list[Path], folder: Path, job: LiveJob) -> None:
        self._files, self._folder, self._job = files, folder, job
        self.events = 0
        self.wrong: list[str] = []
        folder.mkdir()

    @contextmanager
    def coming(self) -> Iterator[threading.Thread]:
        """In a thread; at the end of the block all have come."""
        thread = threading.Thread(target=self._bring_all, daemon=True)
        thread.start()
        yield thread
        thread.join()
        assert self.wrong == []

    def _bring_all(self) -> None:
        began = time.monotonic()
        try:
            for number, file in enumerate(self._files):
                time.sleep(max(0.0, began + 54 * MINUTES * number / len(self._files) - time.monotonic()))
                self._job.wait_until(self._read, f"file {number} can arrive")
                self.events += len(file.read_text(encoding="utf-8").splitlines())
                file.rename(self._folder / file.name)
            self._job.wait_until(self._applied, "all is applied, or late")
        except pytest.fail.Exception as fault:
            self.wrong.append(str(fault))

    def _read(self) -> bool:
        return self._job.written("lanes", "rows_in") == self.events

    def _applied(self) -> bool:
        return self._job.written("lanes", "applied") + self._job.written("lanes", "late") == self.events


def test_stream_maintain_backfill_and_readers_do_not_disturb_each_other(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = Warehouse(f"file:{tmp_path / 'warehouse'}")
    monkeypatch.setattr(vacuum, "SHORTEST", timedelta(0))
    monkeypatch.setattr(vacuum, "MARGIN", timedelta(0))
    create_missing_tables(warehouse)
    for table in TABLES:
        kept = {"delta.deletedFileRetentionDuration": f"interval {KEPT_S} seconds"}
        # With our mark: `status` tells of commits of somebody else.
        opened(warehouse.table(table.name)).alter.set_table_properties(kept, commit_properties=tagged())
    removed, done, reader = 0, list[dict[str, Any]](), Reader(Warehouse(str(tmp_path / "warehouse")))
    days = [datetime.fromtimestamp(capture("p1_batches", before)[0]["ts"] / 1e6, UTC).date() for before in DAYS_BEFORE]
    with reader, LiveJob(tmp_path / "events", warehouse, tmp_path / "said.txt", conf=INTERPRETED, **JOB) as job:
        arrivals = Arrivals(log_in_files(tmp_path / "log"), tmp_path / "events", job)
        job.wait_until_live()
        with arrivals.coming() as thread:
            while thread.is_alive():
                assert job.is_running(), job.said()
                if job.written("lanes", "rows_in"):
                    removed += maintained(warehouse, capsys)
                    done.append(backfilled(warehouse, capsys, days[len(done) // 2 % len(days)] if len(done) % 2 else None))
                found = status(NewestRoom(warehouse), utc_now(), "elsewhere", lambda _: True, 1 << 20)
                assert found["problems"] == []
        for _ in range(3):
            done.append(backfilled(warehouse, capsys))
        assert done[-1]["done"] == [], "what was put right stays right"
        assert done[-1]["not_closed"], "the test needs late events of the date that is not over"
        (tmp_path / "warehouse" / "_stop").touch()
        assert job.exit_code() == 0, job.said()
    run_job(tmp_path / "events", warehouse, **JOB)
    for _ in range(3):
        done.append(backfilled(warehouse, capsys))
    assert (done[-1]["done"], done[-1]["not_closed"]) == ([], [])
    with capsys.disabled():
        print(f"\n{len(done)} rounds, {removed} files removed, {len(reader.cuts)} consistent cuts read")
    assert removed, "the test needs rounds that removed files"
    assert reader.wrong == []
    assert len(reader.cuts) > 1
    undisturbed = Warehouse(str(tmp_path / "undisturbed"))
    run_job(log_in_time(tmp_path / "in_time"), undisturbed, **JOB)
    found, wanted = (computed(tables_in(spark, one)) for one in (warehouse, undisturbed))
    assert [name for name in wanted if found[name] != wanted[name]] == []
    assert broken_invariants(warehouse) == {}


def maintained(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> int:
    """One round of upkeep; how many files it removed."""
    capsys.readouterr()
    assert main(["maintain", "--warehouse", warehouse.root, "--set", "maintain.merge_from_files=4", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    return sum(table["removed_files"] for table in document["tables"].values())


def backfilled(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], day: date | None = None) -> dict[str, Any]:
    """One backfill of what waits, or of a date whether it does or not: its document."""
    capsys.readouterr()
    dates = ["--pending"] if day is None else ["--from", str(day)]
    code = main(["backfill", "--warehouse", warehouse.root, *dates, "--set", "lanes.lateness_ms=1000", "--format", "json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert code == (1 if day and document["not_closed"] else 0), document
    return document
