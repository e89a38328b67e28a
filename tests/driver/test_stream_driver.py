"""The order of the job's steps, stopping it and failing, with small queries in place of ingest and lanes (those have their own tests)."""

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from driver import streaming
from driver.advice import one_line_cause
from driver.this_machine import is_alive, this_driver
from jobs import stream
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.settings import Settings, load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock_file import Driver

SETTINGS = load_settings(None, ["stream.trigger_interval_ms=200"], {})


class Rooms:
    """Stands in for ingest and lanes: remembers what was started, and runs `work` in each micro-batch."""

    def __init__(self, folder: Path) -> None:
        self.steps: list[str] = []
        self.batches: dict[str, int] = {"ingest": 0, "lanes": 0}
        self.began: dict[str, int] = {"ingest": 0, "lanes": 0}
        self.work: Callable[[str], None] = lambda _: None
        self._folder = folder
        (folder / "in").mkdir(parents=True)
        (folder / "in" / "1.json").write_text('{"n": 1}\n{"n": 2}\n')

    def feed(self, name: str) -> None:
        """One more file for both queries."""
        (self._folder / f"{name}.part").write_text('{"n": 3}\n')
        (self._folder / f"{name}.part").rename(self._folder / "in" / f"{name}.json")

    def start(self, query: str, spark: SparkSession, run: Any, trigger: dict[str, Any]) -> Any:
        self.steps.append(f"{query} {next(iter(trigger))}")

        def write(batch: Any, _number: int) -> None:
            self.began[query] += 1
            run.before_micro_batch()
            batch.count()
            self.work(query)
            self.batches[query] += 1

        rows = spark.readStream.schema("n int").json(str(self._folder / "in"))
        checkpoint = str(self._folder / f"checkpoint-{query}")
        return rows.writeStream.queryName(query).foreachBatch(write).option("checkpointLocation", checkpoint).trigger(**trigger).start()


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rooms:
    fake = Rooms(tmp_path / "rooms")

    def start_ingest(spark: Any, warehouse: Any, events: str, settings: Settings, run: Any, trigger: dict[str, Any]) -> Any:
        return fake.start("ingest", spark, run, trigger)

    def start_lanes(spark: Any, warehouse: Any, settings: Settings, run: Any, trigger: dict[str, Any]) -> Any:
        return fake.start("lanes", spark, run, trigger)

    def issue_drain(warehouse: Any, run: Any) -> int:
        fake.steps.append("drain")
        fake.feed("drain")
        return 1

    def report_grown_files(warehouse: Any, events: str, settings: Settings, run: Any) -> int:
        fake.steps.append("grown files")
        return 0

    for stand_in in (start_ingest, report_grown_files, start_lanes, issue_drain):
        monkeypatch.setattr(streaming, stand_in.__name__, stand_in)
    return fake


@pytest.fixture
def run_job(spark: SparkSession, warehouse: Warehouse) -> Callable[..., int]:
    """Runs `stream` on the tests' session."""
    return lambda once=False, drain=False: streaming.run_stream(spark, "unused", warehouse.root, SETTINGS, once=once, drain=drain)


def when(condition: Callable[[], bool], then: Callable[[], None]) -> threading.Thread:
    """Do `then` from another thread as soon as `condition` holds."""

    def watch() -> None:
        deadline = time.monotonic() + 120
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.05)
        then()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_drain_without_once_is_refused() -> None:
    args = argparse.Namespace(once=False, drain=True, settings=None, overrides=[], events="e", warehouse="w")
    with pytest.raises(BadConfig, match=r"--drain .* needs --once"):
        stream.run(args)


def test_once_ingests_to_the_end_before_lanes_and_drains_last(rooms: Rooms, run_job: Callable[..., int]) -> None:
    assert run_job(once=True, drain=True) == 0
    assert rooms.steps == ["ingest availableNow", "lanes availableNow", "drain", "lanes availableNow", "grown files"]
    assert rooms.batches == {"ingest": 1, "lanes": 2}


@pytest.mark.parametrize("how", ["signal", "file"])
def test_a_live_job_stops_when_asked_after_its_running_batches(
    spark: SparkSession, rooms: Rooms, run_job: Callable[..., int], warehouse: Warehouse, how: str
) -> None:
    in_batch = threading.Event()

    def slow(query: str) -> None:
        if query == "lanes":
            in_batch.set()
            time.sleep(3)

    def ask() -> None:
        if how == "signal":
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            Path(warehouse.stop_file).touch()
        rooms.feed("late")  # the micro-batch that it starts must not be done

    rooms.work = slow
    asking = when(in_batch.is_set, ask)
    assert run_job() == 0
    asking.join()
    assert rooms.steps == ["ingest processingTime", "lanes processingTime"]
    assert rooms.batches["lanes"] == 1, "the batch that ran was finished, the next was not begun"
    assert not Path(warehouse.lock_file).exists()
    assert how_runs_ended(spark, warehouse) == [("live", "stopped", None)]


def how_runs_ended(spark: SparkSession, warehouse: Warehouse) -> list[tuple[str, str, str | None]]:
    """Mode, outcome and error of every run that ended."""
    ended = spark.read.format("delta").load(warehouse.table("run_ledger")).where("event = 'ended'")
    return [tuple(row) for row in ended.select("mode", "outcome", "error").collect()]


def test_one_failing_query_stops_the_other_and_says_why_in_a_line(
    spark: SparkSession, rooms: Rooms, run_job: Callable[..., int], warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(query: str) -> None:
        if query == "lanes":
            raise ValueError("the 7th entry is wrong")

    rooms.work = fail
    assert run_job() == 1
    assert "error: lanes failed: ValueError: the 7th entry is wrong\n" in capsys.readouterr().err
    assert how_runs_ended(spark, warehouse) == [("live", "failed", "lanes failed: ValueError: the 7th entry is wrong")]


def test_a_driver_that_lost_the_warehouse_writes_nothing_more(rooms: Rooms, run_job: Callable[..., int], warehouse: Warehouse) -> None:
    def steal(query: str) -> None:
        if query == "ingest":
            Path(warehouse.lock_file).write_text(Path(warehouse.lock_file).read_text().replace(str(os.getpid()), "1"))

    rooms.work = steal
    with pytest.raises(BadWarehouse, match="lanes: this driver lost the warehouse"):
        run_job(once=True)
    assert rooms.batches == {"ingest": 1, "lanes": 0}


def test_a_process_is_told_from_another_with_its_number() -> None:
    me = this_driver("r")
    assert is_alive(me)
    assert not is_alive(Driver("r", "h", os.getpid(), "another boot:1"))
    assert not is_alive(Driver("r", "h", 2**22 + 1, ""))


@pytest.mark.parametrize(
    ("details", "cause"),
    [
        ("x\npipeline.faults.BadWarehouse: lost it\n\tat org.x", "BadWarehouse: lost it"),
        ("Traceback\n  File y\nZeroDivisionError: division by zero\n\nCaused by: org.x.Y: z", "ZeroDivisionError: division by zero"),
        ("Proxy\npyspark.errors.exceptions.captured.ArithmeticException: [OVERFLOW] x\n\n===", "ArithmeticException: [OVERFLOW] x"),
        ("org.x.A: top\nCaused by: java.io.IOException: disk full\n\tat x", "java.io.IOException: disk full"),
        ("only this\nand more", "only this"),
    ],
)
def test_the_cause_of_a_failed_query_is_one_line(details: str, cause: str) -> None:
    assert one_line_cause(details) == cause
