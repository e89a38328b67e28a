"""A lane goes on while a backfill runs: its newest milestones may tell of events that the backfill does not count."""

from datetime import date
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.repair.backfill.stretch import Milestone
from pipeline.repair.backfill.uncounted_dates import counted_milestones, first_uncounted
from pipeline.warehouse.layout import Warehouse

B, OTHER = "b'1:8080", "b2:8080"
EPOCH, OVER = 7, 5
COUNTS, AFTER = 3, 4
#: Whoever asks it fails.
NO_SPARK: Any = None

EVENTS = {
    "is of no milestone yet": (B, EPOCH, 120, AFTER),
    "counts": (B, EPOCH, 99, COUNTS),
    "was late": (B, EPOCH, 40, AFTER),
    "came twice, and counts": (B, EPOCH, 30, COUNTS),
    "its duplicate": (B, EPOCH, 30, AFTER),
    "of an epoch that was over before": (B, OVER, 50, AFTER),
    "of another broker": (OTHER, EPOCH, 10, AFTER),
}


@pytest.fixture
def written(spark: SparkSession, warehouse: Warehouse) -> Warehouse:
    """EVENTS; a broker whose epoch stands at 100, and one that was over at 50, and another broker."""
    for table, columns, rows in (
        ("dispatch_events", "broker string, epoch long, seq long, ingest_batch long", [*EVENTS.values()]),
        ("late_events", "broker string, epoch long, seq long", [(B, EPOCH, 40)]),
        (
            "lane_snapshots",
            "broker string, epoch long, next_seq long",
            [(B, EPOCH, 60), (B, EPOCH, 100), (B, OVER, 50), (OTHER, EPOCH, 11)],
        ),
    ):
        spark.createDataFrame(rows, columns).write.format("delta").save(warehouse.table(table))
    return warehouse


def appended(spark: SparkSession, warehouse: Warehouse, *events: tuple[str, int, int, int]) -> None:
    columns = "broker string, epoch long, seq long, ingest_batch long"
    spark.createDataFrame(events, columns).write.format("delta").mode("append").save(warehouse.table("dispatch_events"))


def test_late_repeated_and_newer_events_are_in_no_mark(spark: SparkSession, written: Warehouse) -> None:
    assert first_uncounted(spark, written, [B], COUNTS) == {}
    assert first_uncounted(spark, written, [OTHER], COUNTS) == {(OTHER, EPOCH): 10}
    assert first_uncounted(NO_SPARK, written, [OTHER], AFTER) == {}, "the files' statistics tell"
    assert first_uncounted(spark, written, [], COUNTS) == {}


def test_what_lanes_may_have_applied_since_is(spark: SparkSession, written: Warehouse) -> None:
    appended(spark, written, (B, EPOCH, 80, AFTER), (B, EPOCH, 70, AFTER + 1), (B, EPOCH, 101, AFTER))
    assert first_uncounted(spark, written, [B, OTHER], COUNTS) == {(B, EPOCH): 70, (OTHER, EPOCH): 10}
    assert first_uncounted(spark, written, [B], AFTER) == {(B, EPOCH): 70}


def test_a_mark_before_the_first_event_that_does_not_count_stays() -> None:
    """`next_seq` is the first event that a milestone does not tell of."""
    before, at, beyond = (Milestone("day", date(2026, 11, 21), next_seq) for next_seq in (69, 70, 71))
    milestones = {(B, EPOCH): [before, at, beyond], (OTHER, EPOCH): [beyond]}
    assert counted_milestones(milestones, {(B, EPOCH): 70}) == {(B, EPOCH): [before, at], (OTHER, EPOCH): [beyond]}
