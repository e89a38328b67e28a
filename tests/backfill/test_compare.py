"""Rows compared in the driver and by Spark: the same differences, dates and examples."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import pipeline.repair.backfill.slices
from pipeline.repair.backfill.compare import compare
from pipeline.repair.backfill.compare_few import compare_few
from pipeline.repair.backfill.slices import frame_of, framed, held_rows_of, rows_there
from pipeline.repair.backfill.stretch import Dates
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.render.ddl import create_table
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


def arrow(rows: list[dict[str, Any]], table: Table = GAPS) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=arrow_schema(table.fields))


@pytest.mark.parametrize("in_driver", [True, False], ids=["driver", "spark"])
def test_every_difference_is_counted_with_its_date_and_some_are_shown(spark: SparkSession, in_driver: bool) -> None:
    given = arrow if in_driver else lambda rows: frame_of(spark, arrow(rows), GAPS)
    differences = compare(spark, given(FOUND), given(COMPUTED), GAPS, ASKED)
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
    differences = compare(spark, arrow(FOUND), arrow(FOUND[::-1]), GAPS, ASKED)
    assert {broker: (one.found, one.computed, one.dates) for broker, one in differences.items()} == {
        "a": (4, 4, set()), "b": (5, 5, set()), "c": (1, 1, set()),
    }  # fmt: skip


def test_rows_with_one_key_are_left_to_spark(spark: SparkSession) -> None:
    twice, none = arrow([gap("a", 1)] * 2), arrow([])
    assert compare_few(twice, none, GAPS, ASKED) is None
    assert compare_few(none, none, GAPS, ASKED) is not None
    assert (compare(spark, twice, none, GAPS, ASKED)["a"].found, compare(spark, none, none, GAPS, ASKED)["a"].found) == (2, 0)


def snapshot(state: bytes, next_seq: int = 9) -> dict[str, Any]:
    return {
        "broker": "a", "epoch": 1, "milestone": "day", "event_date": MONDAY.date(), "next_seq": next_seq,
        "digest": 7, "began_from": 0, "state": state,
    }  # fmt: skip


def test_states_are_compared_and_never_shown(spark: SparkSession) -> None:
    found, computed = (arrow([snapshot(state)], SNAPSHOTS) for state in (b"before", b"now"))
    (shown,) = compare(spark, found, computed, SNAPSHOTS, ASKED)["a"].examples
    assert (shown["difference"], shown["there"], shown["now"]) == ("changed", {}, {})


def test_states_of_many_bytes_are_not_held(spark: SparkSession, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = warehouse.table(SNAPSHOTS.name)
    spark.sql(create_table(SNAPSHOTS, uri))
    append_rows(warehouse, SNAPSHOTS, [snapshot(b"12345", 9), snapshot(b"12345", 10)])
    for bytes_held, is_held in ((10, True), (9, False)):
        monkeypatch.setattr(pipeline.repair.backfill.slices, "FEW_BYTES", bytes_held)
        found = rows_there(spark, uri, 1, SNAPSHOTS, ASKED)
        assert isinstance(found, pa.Table) == is_held
        assert framed(spark, found, SNAPSHOTS).count() == 2


def test_the_driver_reads_the_rows_that_spark_would(spark: SparkSession, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows at both edges of two dates, of two brokers; the second version of the table has more."""
    uri = warehouse.table(GAPS.name)
    spark.sql(create_table(GAPS, uri))
    moments = [datetime(2026, 1, day, 0, 0, 0, 0, UTC) + timedelta(microseconds=us) for day in (5, 6, 7) for us in (-1, 0)]
    rows = [gap(broker, seq, after=at) for broker in ("a", "x") for seq, at in enumerate(moments)]
    append_rows(warehouse, GAPS, [*rows, gap("a", 20, after=None, before=moments[1]), gap("a", 21, after=None, before=moments[0])])
    append_rows(warehouse, GAPS, [gap("a", 30)])
    asked = [Dates("a", MONDAY.date(), TUESDAY.date())]
    monkeypatch.setattr(pipeline.repair.backfill.slices, "HELD_ROWS", 4)
    by_spark = rows_there(spark, uri, 1, GAPS, asked)
    assert isinstance(by_spark, DataFrame), "one row too many"
    monkeypatch.setattr(pipeline.repair.backfill.slices, "HELD_ROWS", 5)
    first = rows_there(spark, uri, 1, GAPS, asked)
    assert isinstance(first, pa.Table)
    assert sorted(first["from_seq"].to_pylist()) == sorted(row.from_seq for row in by_spark.collect()) == [1, 2, 3, 4, 20]
    assert held_rows_of(first, GAPS, asked) == first
    assert held_rows_of(first, GAPS, [Dates("x", MONDAY.date(), TUESDAY.date())]).num_rows == 0
