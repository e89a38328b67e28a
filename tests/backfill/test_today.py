"""What came late for a date that is not over waits: it counts with the first backfill after the lane has passed the date."""

from pathlib import Path
from typing import Any

import pytest
from backfill_run import broken_invariants, computed, run_backfill_command, unsound, without_states
from capture_events import capture_events, write_events
from day_logs import DAY_US, around_midnight
from job_run import run_job, tables_in
from lane_tables import tables_of
from pyspark.sql import SparkSession

from jobs.backfill import text_lines
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures


class TwoDays:
    """A log of one epoch over midnight. Of both days something comes late; the second day is not over."""

    def __init__(self, events: list[dict[str, Any]], folder: Path, warehouse: Warehouse) -> None:
        self.events, self.folder, self.warehouse = events, folder, warehouse
        midnight = next(n for n, event in enumerate(events) if event["ts"] // DAY_US > events[0]["ts"] // DAY_US)
        self.missing = [*events[midnight - 300 : midnight - 290], *events[midnight + 20 : midnight + 30]]
        self.came = midnight + 400
        for number, stop in enumerate((self.came, self.came + 2, self.came + 4)):
            start = (0, self.came, self.came + 2)[number]
            self.write(f"{number}", [event for event in events[start:stop] if event not in self.missing])
        self.run()  # a micro-batch of ingest for each file
        self.write("late", self.missing)
        self.run()

    def write(self, name: str, events: list[dict[str, Any]]) -> None:
        write_events(events, self.folder / f"{name}.jsonl")

    def go_on(self, *more: dict[str, Any]) -> None:
        """The rest of the log comes, and more events behind it."""
        self.events = [*self.events, *more]
        self.write("rest", self.events[self.came + 4 :])

    def run(self, *, drain: bool = False) -> None:
        # Gaps are given up quickly: the log lasts for a minute.
        run_job(self.folder, self.warehouse, drain=drain, lanes__lateness_ms="1000", ingest__max_files_per_batch="1")

    def waiting(self, spark: SparkSession) -> int:
        """Late events that were not counted."""
        return sum(row["backfilled_by"] is None for row in tables_in(spark, self.warehouse)["late_events"])


@pytest.fixture
def log(spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse) -> TwoDays:
    log = TwoDays(around_midnight(capture_events(captures / "l_holes_redelivery_seek")), tmp_path / "events", warehouse)
    assert log.waiting(spark) == len(log.missing)
    return log


def as_if_in_time(spark: SparkSession, log: TwoDays) -> bool:
    return without_states(computed(tables_in(spark, log.warehouse))) == without_states(computed(tables_of(log.events)))


def test_today_is_passed_over_and_told_then_counted_once_it_is_over(spark: SparkSession, log: TwoDays) -> None:
    today = log.events[log.came]["ts"] // DAY_US
    document = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["reason"] for one in document["done"]] == ["late"], "yesterday"
    (passed_over,) = document["not_closed"]
    (line,) = [line for line in text_lines(document) if "passed over" in line]
    assert line.startswith(f"{passed_over['date']} is not closed yet, it was passed over: {log.events[0]['broker']}. ")
    assert log.waiting(spark) == len(log.missing) // 2
    asked = run_backfill_command(spark, log.warehouse, "--from", str(passed_over["date"]))
    assert (asked["done"], asked["not_closed"]) == ([], document["not_closed"])

    log.go_on()
    log.run(drain=True)
    assert broken_invariants(log.warehouse) == {}, "though today was counted on from the state of before yesterday's repair"
    tables = tables_in(spark, log.warehouse)
    rows = [row for name in ("limiter_windows", "subscription_throttle") for row in tables[name] if row["window_start"] // DAY_US == today]
    assert {row["complete"] for row in rows} == {False}, "until they are counted, the rows say that they lack something"
    second = run_backfill_command(spark, log.warehouse, "--pending")
    assert ([one["reason"] for one in second["done"]], second["not_closed"]) == (["late"], [])
    assert as_if_in_time(spark, log)
    assert (log.waiting(spark), unsound(log.warehouse)) == (0, {})


@pytest.mark.slow(reason="four runs of the job, three backfills: a minute; the test above ends its log, and runs by default")
def test_a_lane_that_passes_midnight_closes_the_date_and_the_days_after_it_are_carried(spark: SparkSession, log: TwoDays) -> None:
    """The lane goes on from its own state, day by day; each date is put right once it is over."""
    run_backfill_command(spark, log.warehouse, "--pending")
    last = log.events[-1]
    later_us = (DAY_US, DAY_US + 70_000_000, DAY_US + 140_000_000)
    beats = [
        {**last, "seq": last["seq"] + number, "ts": last["ts"] + us, "ns": last["ns"] + 1000 * us} for number, us in enumerate(later_us, 1)
    ]
    assert last["type"] == "heartbeat"
    log.go_on(*beats)
    log.run()
    document = run_backfill_command(spark, log.warehouse, "--pending")
    assert ([one["reason"] for one in document["done"]], document["not_closed"]) == (["late"], [])
    assert log.waiting(spark) == 0
    log.run(drain=True)
    third = run_backfill_command(spark, log.warehouse, "--pending")
    assert [one["reason"] for one in third["done"]] == ["carried"], "the lane began its last day from a state of before"
    assert as_if_in_time(spark, log)
    assert run_backfill_command(spark, log.warehouse, "--pending")["done"] == []
