"""Rows compared in the driver and by Spark: the same differences, dates and examples."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pipeline.backfill.compare_few
from pipeline.backfill.compare import compare
from pipeline.backfill.compare_few import compare_few
from pipeline.backfill.slices import few_rows_of, rows_of
from pipeline.backfill.stretch import Dates
from pipeline.sinks.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.render.ddl import create_table
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
COMPUTED = [gap("a", 1), gap("a", 2, 7), gap("a", 5, after=TUESDAY), gap("a", 4), gap("c", 9)]


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
    assert (a.found, a.computed, a.added, a.removed, a.changed, a.dates) == (4, 4, 1, 1, 1, {date(2026, 1, 5), date(2026, 1, 6)})
    assert (b.found, b.computed, b.added, b.removed, b.changed, b.dates) == (5, 0, 0, 5, 0, {date(2026, 1, 5)})
    assert (c.found, c.computed, c.dates, c.examples) == (1, 1, set(), [])
    assert len(b.examples) == len(a.examples) == 3
    shown = {example["key"]["from_seq"]: example for example in a.examples}
    assert {seq: example["difference"] for seq, example in shown.items()} == {2: "changed", 3: "removed", 5: "added"}
    assert (shown[2]["there"], shown[2]["now"]) == ({"events": 1}, {"events": 7})
    assert (shown[3]["now"], shown[5]["there"], shown[5]["now"]["events"]) == ({}, {}, 1)
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


def test_the_driver_reads_the_rows_that_spark_would(spark: SparkSession, warehouse: Warehouse) -> None:
    """Of rows at both edges of two dates, of two brokers; the second version of the table has more."""
    uri = warehouse.table(GAPS.name)
    spark.sql(create_table(GAPS, uri))
    moments = [datetime(2026, 1, day, 0, 0, 0, 0, UTC) + timedelta(microseconds=us) for day in (5, 6, 7) for us in (-1, 0)]
    rows = [gap(broker, seq, after=at) for broker in ("a", "x") for seq, at in enumerate(moments)]
    append_rows(spark, warehouse, GAPS, [*rows, gap("a", 20, after=None, before=moments[1]), gap("a", 21, after=None, before=moments[0])])
    append_rows(spark, warehouse, GAPS, [gap("a", 30)])
    asked = [Dates("a", MONDAY.date(), TUESDAY.date())]
    first = few_rows_of(spark, uri, 1, GAPS, asked)
    by_spark = rows_of(spark.read.format("delta").option("versionAsOf", 1).load(uri), GAPS, asked)
    assert first is not None
    assert sorted(row.from_seq for row in first.collect()) == sorted(row.from_seq for row in by_spark.collect()) == [1, 2, 3, 4, 20]
