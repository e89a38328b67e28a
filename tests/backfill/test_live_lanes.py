"""A backfill that reaches now: lanes hold, rows up to there are put right, lanes go on from what was computed."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from backfill_run import computed, run_backfill_command, unsound, without_states
from capture_events import capture_events, write_events
from day_logs import DAY_US, around_midnight
from job_run import run_job, tables_in
from lane_tables import tables_of
from pyspark.sql import SparkSession

import jobs.backfill
import jobs.driver
from pipeline.backfill.live import LiveLanes
from pipeline.lanes.control import Order, broker_ids, issue
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures

#: The request of a backfill that died.
DEAD = 5
#: Holes are given up quickly: these logs last for a minute.
JOB = {"lanes__lateness_ms": "1000", "ingest__max_files_per_batch": "1"}


class LiveLog:
    """A log of one epoch over midnight that arrives while lanes run: whenever the backfill waits, `stream --once` runs once."""

    def __init__(self, events: list[dict[str, Any]], folder: Path, warehouse: Warehouse, *, late_today: bool = True) -> None:
        self.events, self.folder, self.warehouse = events, folder, warehouse
        self.files = self.arrived = 0
        self.settings = dict(JOB)
        midnight = next(n for n, event in enumerate(events) if event["ts"] // DAY_US > events[0]["ts"] // DAY_US)
        self.missing = [*events[midnight - 300 : midnight - 290], *(events[midnight + 20 : midnight + 30] if late_today else ())]
        self.now = midnight + 400

    def arrive_next(self, count: int) -> None:
        """The next events without what is missing, in a file of their own; the job reads it."""
        self.write_next(count)
        self.run()

    def write_next(self, count: int) -> None:
        """The same, and nobody reads it."""
        coming = self.events[self.arrived : self.arrived + count]
        self.arrived += len(coming)
        self.write([event for event in coming if event not in self.missing])

    def write(self, events: list[dict[str, Any]]) -> None:
        self.files += 1
        write_events(events, self.folder / f"{self.files}.jsonl")

    def until_now(self) -> None:
        """What came in time, then what had been given up."""
        for count in (self.now, 2, 2):
            self.write_next(count)
        self.run()  # a micro-batch of ingest for each file
        self.write(self.missing)
        self.run()

    def run(self, *, drain: bool = False) -> None:
        run_job(self.folder, self.warehouse, drain=drain, **self.settings)


@pytest.fixture
def log(spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse) -> LiveLog:
    """Half a minute after midnight; of both days something came late."""
    log = LiveLog(around_midnight(capture_events(captures / "l_holes_redelivery_seek")), tmp_path / "events", warehouse)
    log.until_now()
    assert len(tables_in(spark, warehouse)["late_events"]) == len(log.missing)
    return log


@pytest.fixture
def lanes_run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Lets a job live: what it does whenever the backfill waits for it, told how often it did."""

    def live(wait: Callable[[int], None]) -> None:
        waits = iter(range(100))
        monkeypatch.setattr(jobs.backfill, "time", SimpleNamespace(sleep=lambda _: wait(next(waits))))
        monkeypatch.setattr(jobs.driver, "stream_runs", lambda *_: True)

    return live


def assert_as_if_in_time(spark: SparkSession, log: LiveLog) -> None:
    """The rest of the log comes, and the tables are those of a log of which nothing was late."""
    log.write_next(len(log.events))
    log.run(drain=True)
    assert without_states(computed(tables_in(spark, log.warehouse))) == without_states(computed(tables_of(log.events)))


def test_what_came_late_for_today_counts_and_its_lane_goes_on_from_what_was_computed(
    spark: SparkSession, log: LiveLog, lanes_run: Any
) -> None:
    lanes_run(lambda _: log.arrive_next(50))
    document = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["lane"] for one in document["live"]] == ["its lane goes on from what was computed"]
    assert document["not_closed"] == []
    assert_as_if_in_time(spark, log)
    answers = spark.read.format("delta").load(log.warehouse.table("lane_answers")).collect()
    assert sorted(row.answer for row in answers) == ["held", "seeded"]


@pytest.mark.slow(reason="three backfills, ten runs of the job: two minutes; the test above has one backfill of a lane that runs")
def test_closed_dates_wait_for_nobody_and_lanes_go_on_from_what_was_computed(spark: SparkSession, log: LiveLog, lanes_run: Any) -> None:
    """First without a stream, then with one: what the first could not do the second does. A backfill before them died."""
    (lane,) = broker_ids(spark, log.warehouse).values()
    issue(spark, log.warehouse, [Order(lane, "hold", place=(DEAD, 0, 0))], datetime.now(UTC))
    log.run()
    document = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["lane"] for one in document["live"]] == ["no stream is running"]
    assert [one["reason"] for one in document["done"]] == ["late"]
    orders = spark.read.format("delta").load(log.warehouse.table("lane_control")).collect()
    assert {(row.kind, row.seq) for row in orders} == {("hold", DEAD), ("release", DEAD)}, "nobody else is told to hold"
    log.arrive_next(2)

    lanes_run(lambda _: log.arrive_next(50))
    second = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["lane"] for one in second["live"]] == ["its lane goes on from what was computed"]
    assert [one["reason"] for one in second["done"]] == ["live"]
    assert second["not_closed"] == []
    assert_as_if_in_time(spark, log)
    tables = tables_in(spark, log.warehouse)
    assert [(row["answer"], row["request"] == DEAD) for row in sorted(tables["lane_answers"], key=lambda row: row["request"])] == [
        ("held", True),
        ("released", True),
        ("held", False),
        ("seeded", False),
    ]
    by_run = Counter(row["backfilled_by"] for row in tables["late_events"])
    assert by_run == {document["run_id"]: len(log.missing) // 2, second["run_id"]: len(log.missing) // 2}
    assert run_backfill_command(spark, log.warehouse, "--pending")["done"] == []
    assert unsound(spark, log.warehouse) == {}


@pytest.mark.slow(reason="two backfills, eight runs of the job; the test above takes a lane over by default, test_hold has its answers")
def test_what_came_late_for_a_closed_date_reaches_the_lane(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse, lanes_run: Any
) -> None:
    """Nothing of today is late, but today's lane goes on from yesterday."""
    log = LiveLog(around_midnight(capture_events(captures / "l_holes_redelivery_seek")), tmp_path / "events", warehouse, late_today=False)
    log.until_now()
    lanes_run(lambda _: log.arrive_next(20))
    document = run_backfill_command(spark, warehouse, "--pending")
    assert [one["reason"] for one in document["done"]] == ["late", "live"]
    assert_as_if_in_time(spark, log)
    assert run_backfill_command(spark, warehouse, "--pending")["done"] == []


@pytest.mark.slow(reason="two backfills, nine runs of the job; test_hold lets a hold lapse in the lane by default")
def test_a_lane_that_went_on_before_loses_nothing_once_it_is_asked_again(
    spark: SparkSession, log: LiveLog, lanes_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows that it gave meanwhile are swapped away; its late events still wait, so the next backfill brings them back."""
    log.settings["lanes__hold_ms"] = "1000"
    really_holding = LiveLanes.holding

    def lapse_after_the_last_look(lanes: LiveLanes) -> set[str]:
        holding = really_holding(lanes)
        log.arrive_next(400)
        return holding

    lanes_run(lambda _: log.arrive_next(20))
    with monkeypatch.context() as patch:
        patch.setattr(LiveLanes, "holding", lapse_after_the_last_look)
        document = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["lane"] for one in document["live"]] == ["its lane had gone on before"]
    log.settings["lanes__hold_ms"] = "600000"
    lanes_run(lambda _: log.arrive_next(20))
    document = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["lane"] for one in document["live"]] == ["its lane goes on from what was computed"]
    assert_as_if_in_time(spark, log)
    tables = tables_in(spark, log.warehouse)
    assert sorted(row["answer"] for row in tables["lane_answers"]) == ["held", "held", "lapsed", "refused", "seeded"]
