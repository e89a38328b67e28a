"""Rows compared in the driver and by Spark: the same differences, dates and examples."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pipeline.backfill.compare_few
from pipeline.backfill.compare import compare
from pipeline.backfill.compare_few import compare_few
from pipeline.backfill.stretch import Dates
from schemas.field import Table
from schemas.render.spark import struct
from schemas.tables import TABLES_BY_NAME

GAPS, SNAPSHOTS = TABLES_BY_NAME["log_gaps"], TABLES_BY_NAME["lane_snapshots"]
MONDAY, TUESDAY = datetime(2026, 1, 5, 23, 59, 59, 999_999, UTC), datetime(2026, 1, 6, tzinfo=UTC)
ASKED = [Dates(broker, MONDAY.date(), TUESDAY.date()) for broker in ("a", "b", "c")]


def gap(broker: str, seq: int, events: int = 1, after: datetime | None = MONDAY, before: datetime | None = TUESDAY) -> dict[str, Any]:
    """A lost range; the date of `after` counts, and that of `before` where there is none."""
    return {
        "broker": broker, "epoch": 1, "kind": "lost", "from_seq": seq, "to_seq": seq, "events": events,
        "ts_before": before, "ts_after": after, "step_us": 0,
    }  # fmt: skip


FOUND = [gap("a", 1), gap("a", 2), gap("a", 3, after=None), gap("a", 4), *(gap("b", seq) for seq in range(10, 15)), gap("c", 9)]
COMPUTED = [gap("a", 1), gap("a", 2, 7), gap("a", 5, after=TUESDAY), gap("a", 4, before=None), gap("c", 9)]


def compared(spark: SparkSession, found: list[dict[str, Any]], computed: list[dict[str, Any]], table: Table = GAPS) -> dict[str, Any]:
    sides = [
        spark.createDataFrame([tuple(row[name] for name in table.names) for row in rows], struct(table.fields), verifySchema=False)
        for rows in (found, computed)
    ]
    return compare(*sides, table, ASKED)


@pytest.mark.parametrize("few", [True, False], ids=["driver", "spark"])
def test_every_difference_is_counted_with_its_date_and_some_are_shown(
    spark: SparkSession, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline.backfill.compare_few, "HELD_ROWS", 10 if few else 9)
    differences = compared(spark, FOUND, COMPUTED)
    a, b, c = (differences[broker] for broker in "abc")
    assert (a.found, a.computed, a.added, a.removed, a.changed, a.dates) == (4, 4, 1, 1, 2, {date(2026, 1, 5), date(2026, 1, 6)})
    assert (b.found, b.computed, b.added, b.removed, b.changed, b.dates) == (5, 0, 0, 5, 0, {date(2026, 1, 5)})
    assert (c.found, c.computed, c.dates, c.examples) == (1, 1, set(), [])
    assert len(b.examples) == len(a.examples) == 3
    (changed,) = [example for example in a.examples if example["key"]["from_seq"] == 2] or [None]
    if changed:  # which three of four are shown is not promised
        assert changed["difference"] == "changed"
        assert (changed["there"], changed["now"]) == ({"events": 1}, {"events": 7})
    assert all(example["difference"] == "removed" and example["now"] == {} and example["there"]["events"] == 1 for example in b.examples)


def test_equal_rows_in_another_order_do_not_differ(spark: SparkSession) -> None:
    differences = compared(spark, FOUND, FOUND[::-1])
    assert {broker: (one.found, one.computed, one.dates) for broker, one in differences.items()} == {
        "a": (4, 4, set()), "b": (5, 5, set()), "c": (1, 1, set()),
    }  # fmt: skip


def test_rows_with_one_key_and_rows_with_states_are_left_to_spark(spark: SparkSession) -> None:
    twice, none = (spark.createDataFrame([tuple(row.values()) for row in rows], struct(GAPS.fields)) for rows in ([gap("a", 1)] * 2, []))
    assert compare_few(twice, none, GAPS, ASKED) is None
    assert compare_few(none, none, GAPS, ASKED) is not None
    empty = spark.createDataFrame([], struct(SNAPSHOTS.fields))
    assert compare_few(empty, empty, SNAPSHOTS, ASKED) is None
