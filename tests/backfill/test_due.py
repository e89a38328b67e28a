"""Which dates wait for a backfill, and why."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from pipeline.query.newest_room import NewestRoom
from pipeline.repair.backfill.due_dates import Due, carried_dates, late_dates, runs, waiting_events, without_last
from pipeline.repair.backfill.stretch import Dates
from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import create_table
from schemas.render.spark import struct
from schemas.tables.gaps import LATE_EVENTS
from schemas.tables.lane_snapshots import LANE_SNAPSHOTS

B = "b:8080"
EPOCH = 7
FIRST = date(2026, 11, 21)


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def milestone(name: str, number: int, next_seq: int, digest: int = 0, began_from: int = 0, epoch: int = EPOCH) -> tuple:
    return (B, epoch, name, day(number), next_seq, digest, began_from, b"")


def late(seq: int, number: int, *, batch: int = 1, by: str | None = None, epoch: int = EPOCH) -> tuple:
    ts = datetime(2026, 11, 21, tzinfo=UTC) + timedelta(days=number)
    return (B, epoch, seq, day(number), ts, 1, "given_up", batch, by)


Write = Callable[[list[tuple], list[tuple]], None]


@pytest.fixture
def written(spark: SparkSession, warehouse: Warehouse) -> Write:
    """Writes milestones and late events into the warehouse's tables."""

    def write(milestones: list[tuple], late_events: list[tuple]) -> None:
        for table, rows in ((LANE_SNAPSHOTS, milestones), (LATE_EVENTS, late_events)):
            spark.sql(create_table(table, warehouse.table(table.name)))
            spark.createDataFrame(rows, struct(table.fields)).write.format("delta").mode("append").save(warehouse.table(table.name))

    return write


@pytest.fixture
def look(warehouse: Warehouse, written: Write) -> NewestRoom:
    """Late events of three epochs."""
    milestones = [
        milestone("day", 0, 100, 5),
        milestone("settled", 0, 100),
        milestone("day", 2, 300, 6, 5),
        milestone("drained", 7, 20, epoch=9),
    ]
    written(
        milestones,
        [
            late(50, 0),
            late(100, 0),  # its ts is a moment before midnight, its place after the day's end
            late(290, 9),  # a clock that was wrong
            late(310, 3),
            late(6, 12, batch=9, epoch=8),  # nobody has read so far
            late(7, 13, by="run", epoch=8),
            late(5, 5, epoch=8),
            late(20, 9, epoch=9),  # after what was the end of its epoch, which it moves
        ],
    )
    return NewestRoom(warehouse)


def test_late_events_wait_on_the_dates_of_their_place(look: NewestRoom) -> None:
    assert late_dates(look, 8) == [
        Due(Dates(B, day(0), day(0)), "late"), Due(Dates(B, day(2), day(3)), "late"), Due(Dates(B, day(5), day(5)), "late"),
        Due(Dates(B, day(7), day(7)), "late"),
    ]  # fmt: skip


def test_the_events_that_a_backfill_of_dates_counts_are_those_of_the_dates(look: NewestRoom) -> None:
    def seqs(broker: str, first: int, last: int) -> list[int]:
        found = waiting_events(look, 8, [Dates(broker, day(first), day(last)), Dates("another", day(0), day(20))])
        assert found.column_names == ["broker", "epoch", "seq"]
        return sorted(found["seq"].to_pylist())

    assert (seqs(B, 2, 3), seqs(B, 5, 7), seqs(B, 8, 20), seqs("b'1", 0, 20)) == ([100, 290, 310], [5, 20], [], [])


def test_a_date_that_began_from_another_state_is_carried_the_first_one_first(
    spark: SparkSession, warehouse: Warehouse, written: Write
) -> None:
    written(
        [milestone("day", 0, 100, 5), milestone("settled", 0, 100), milestone("day", 1, 200, 6, 5), milestone("ended", 2, 250, 0, 6)], []
    )
    assert carried_dates(NewestRoom(warehouse)) == []
    other = [milestone("day", 0, 100, 50, epoch=8), milestone("day", 3, 200, 60, 51, epoch=8), milestone("drained", 4, 250, 0, 61, epoch=8)]
    written(other, [])
    assert carried_dates(NewestRoom(warehouse)) == [Due(Dates(B, day(1), day(3)), "carried")]


def test_the_oldest_snapshot_that_is_left_is_not_judged(spark: SparkSession, warehouse: Warehouse, written: Write) -> None:
    written([milestone("day", 1, 200, 6, 5), milestone("ended", 2, 250, 0, 6)], [])
    assert carried_dates(NewestRoom(warehouse)) == []


def test_runs_of_dates_have_no_gap() -> None:
    assert runs(B, {day(1), day(0), day(4)}) == [Dates(B, day(0), day(1)), Dates(B, day(4), day(4))]


def test_a_range_without_its_last_date() -> None:
    assert without_last(Due(Dates(B, day(0), day(2)), "late")) == Due(Dates(B, day(0), day(1)), "late")
    assert without_last(Due(Dates(B, day(1), day(1)), "late")) is None
