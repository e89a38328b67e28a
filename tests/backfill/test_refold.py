"""A date that is folded again from the snapshot before it gives the rows that the lane gave, and ends by itself."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from busy_log import busy_log, without
from capture_events import capture_events
from day_logs import DAY_US, around_midnight
from lane_rows import lane_rows
from lane_tables import SETTINGS, Table, as_tables, drain_row, run_lane
from real_captures import CAPTURES, EVERY_CAPTURE

from pipeline.faults import BrokenInvariant
from pipeline.repair.backfill.refold import Refold
from pipeline.repair.backfill.slices import SWAPPED_TABLES, date_of
from pipeline.repair.backfill.stretch import Dates, EpochSpan, Milestone, NotClosed, stretch_of
from pipeline.rules.outcome import Rows

START = date(1970, 1, 1)


def day_of(table: Any, row: dict[str, Any]) -> int:
    """The date of a row, in days since 1970, as slices.py has it."""
    at = date_of(table)
    value = (row["ts_after"] or row["ts_before"]) if table.name == "log_gaps" else row[at]
    return value if at == "event_date" else value // DAY_US


def rows_of_day(tables: dict[str, Table], day: int, epoch: int) -> dict[str, Table]:
    return {
        table.name: [row for row in tables[table.name] if row["epoch"] == epoch and day_of(table, row) == day] for table in SWAPPED_TABLES
    }


def refolded(events: list[dict], snapshots: Table, day: int, epoch: int, chunk: int = 5_000) -> list[Rows]:
    """What a backfill of one date gives of one epoch, from the snapshots that a lane left."""
    on = START + timedelta(days=day)
    own = sorted((event for event in events if event["epoch"] == epoch), key=lambda event: event["seq"])
    of_day = [event["seq"] for event in own if event["ts"] // DAY_US == day]
    span = EpochSpan("b", 1, epoch, min(of_day, default=None), max(of_day, default=None))
    of_epoch = [row for row in snapshots if row["epoch"] == epoch]
    milestones = [Milestone(row["milestone"], START + timedelta(days=row["event_date"]), row["next_seq"]) for row in of_epoch]
    stretch = stretch_of(Dates("b", on, on), span, milestones)
    assert stretch is not None
    state = next((row["state"] for row in of_epoch if row["milestone"] == "day" and row["next_seq"] == stretch.first_seq), b"")
    fold = Refold(stretch, state, on, SETTINGS)
    rows = lane_rows([event for event in own if stretch.first_seq <= event["seq"] <= stretch.last_seq])
    outcomes = []
    for part in np.array_split(rows, max(1, len(rows) // chunk)):
        outcomes += fold.offer(part) if len(part) else []
    return [*outcomes, *fold.finish()]


def check_every_day(events: list[dict]) -> None:
    """Both days of a log around midnight, of every epoch in it."""
    outcomes, _ = run_lane([[lane_rows(events)], [drain_row()]])
    whole = as_tables(outcomes, events)
    for epoch in {event["epoch"] for event in events}:
        for day in {event["ts"] // DAY_US for event in events if event["epoch"] == epoch}:
            again = as_tables(refolded(events, whole["lane_snapshots"], day, epoch), events)
            assert rows_of_day(again, day, epoch) == rows_of_day(whole, day, epoch)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.501, 0.9])
def test_each_date_of_a_busy_log(share: float) -> None:
    check_every_day(around_midnight(busy_log(), share))


@EVERY_CAPTURE
def test_each_date_of_a_real_broker(name: str) -> None:
    check_every_day(around_midnight(capture_events(CAPTURES / name)))


def test_late_events_count_as_if_they_had_come_in_time() -> None:
    events = around_midnight(busy_log())
    outcomes, _ = run_lane([[lane_rows(without(events, 100, 101))], [drain_row()]])
    holed = as_tables(outcomes, events)
    outcomes, _ = run_lane([[lane_rows(events)], [drain_row()]])
    sound = as_tables(outcomes, events)
    day, epoch = events[0]["ts"] // DAY_US, events[0]["epoch"]
    assert rows_of_day(holed, day, epoch) != rows_of_day(sound, day, epoch)
    again = as_tables(refolded(events, holed["lane_snapshots"], day, epoch), events)
    assert rows_of_day(again, day, epoch) == rows_of_day(sound, day, epoch)


def test_what_was_repeated_or_lost_is_so_again() -> None:
    events = around_midnight(busy_log())
    events = [*without(events, 50, 51, 52), events[10], events[11], {**events[70], "tombstone": True}]
    check_every_day(events)


def test_a_date_that_lanes_have_not_passed_is_not_closed() -> None:
    events = around_midnight(busy_log())
    outcomes, _ = run_lane([[lane_rows(events)]])
    snapshots = as_tables(outcomes, events)["lane_snapshots"]
    day, epoch = events[0]["ts"] // DAY_US, events[0]["epoch"]
    assert refolded(events, snapshots, day, epoch)
    with pytest.raises(NotClosed, match="has not settled"):
        refolded(events, snapshots, day + 1, epoch)


def test_an_epoch_that_was_over_before_has_no_rows_to_give() -> None:
    first = date(2026, 11, 21)
    milestones = [Milestone("ended", first, 11)]
    span = EpochSpan("b", 1, 5, None, None)
    assert stretch_of(Dates("b", first + timedelta(days=3), first + timedelta(days=3)), span, milestones) is None


def test_events_that_do_not_close_the_dates_are_our_fault() -> None:
    events = around_midnight(busy_log())
    day = events[0]["ts"] // DAY_US
    on = START + timedelta(days=day)
    span = EpochSpan("b", 1, events[0]["epoch"], 1, 10)
    stretch = stretch_of(Dates("b", on, on), span, [Milestone("settled", on, 11), Milestone("day", on + timedelta(days=1), 12)])
    assert stretch is not None
    fold = Refold(replace(stretch), b"", on, SETTINGS)
    fold.offer(lane_rows(events[:10]))
    with pytest.raises(BrokenInvariant, match="do not close"):
        fold.finish()
