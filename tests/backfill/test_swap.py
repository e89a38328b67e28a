"""Rows of a date give way to others, whoever holds those, and nothing beside them moves."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import pipeline.repair.backfill.swap
from pipeline.repair.backfill.slices import frame_of, slice_condition
from pipeline.repair.backfill.swap import mark_late_events, swap
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import opened
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.tables import TABLES_BY_NAME

#: A name that somebody could have meant as SQL.
ODD = "b\\' OR 'a' = 'a"
DAYS = [date(2026, 1, day) for day in (5, 6, 7)]
#: With a date, with a time, with the first of two times that is there.
SLICED = [TABLES_BY_NAME[name] for name in ("lane_snapshots", "limiter_windows", "log_gaps")]


@pytest.fixture
def house(tmp_path: Path) -> Warehouse:
    warehouse = Warehouse(f"file:{tmp_path / 'warehouse'}")
    create_missing_tables(warehouse)
    return warehouse


def plain(table: Table, **given: Any) -> dict[str, Any]:
    """A row of the table that keeps its checks."""
    of_type = {
        "string": "x",
        "boolean": False,
        "timestamp": datetime(2026, 1, 5, tzinfo=UTC),
        "date": DAYS[0],
        "binary": b"s",
        "double": 1.0,
    }
    words = {
        "milestone": "day",
        "kind": "lost",
        "reason": "given_up",
        "level": "topic",
        "dimension": "msg",
        "source": "observed",
        "limiter": "token_bucket",
    }
    row = {f.name: None if f.nullable else words.get(f.name, of_type.get(f.type, 1)) for f in table.fields}
    return {**row, **given}


def rows_of_days(table: Table, broker: str, number: int) -> list[dict[str, Any]]:
    """At both edges of each date, told apart by `number`."""
    key = next(f.name for f in table.fields if f.type == "long" and not f.nullable and f.name != "epoch")
    found = []
    for place, day in enumerate(DAYS):
        begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
        for edge, at in enumerate((begin, begin + timedelta(days=1, microseconds=-1))):
            value: Any = day if table.name == "lane_snapshots" else at
            column = ("ts_before" if place == 1 else "ts_after") if table.name == "log_gaps" else table.age_by
            found.append(plain(table, broker=broker, **{column: value, key: 1000 * number + 10 * place + edge}))
    return found


@pytest.mark.parametrize("by_tasks", [False, True])
@pytest.mark.parametrize("table", SLICED, ids=[table.name for table in SLICED])
def test_one_date_of_one_broker_is_replaced(spark: SparkSession, house: Warehouse, tmp_path: Path, table: Table, by_tasks: bool) -> None:
    there = [*rows_of_days(table, ODD, 1), *rows_of_days(table, "b", 2)]
    append_rows(house, table, there)
    now = pa.Table.from_pylist(rows_of_days(table, ODD, 3), arrow_schema(table.fields))
    swap(frame_of(spark, now, table) if by_tasks else now, house, table, ODD, [DAYS[1]], f"file:{tmp_path / 'staged'}")
    told = frame_of(spark, pa.Table.from_pylist(there, now.schema), table).where(f"NOT ({slice_condition(table, ODD, DAYS[1], DAYS[1])})")
    computed = frame_of(spark, now, table).where(slice_condition(table, ODD, DAYS[1], DAYS[1]))
    wanted = [*told.toArrow().cast(now.schema).to_pylist(), *computed.toArrow().cast(now.schema).to_pylist()]
    assert len(wanted) == len(there)
    assert sorted(map(str, arrow_rows(house.table(table.name)).to_pylist())) == sorted(map(str, wanted))


def test_a_date_may_be_left_without_rows(spark: SparkSession, house: Warehouse, tmp_path: Path) -> None:
    table = SLICED[1]
    append_rows(house, table, rows_of_days(table, "b", 1))
    nothing = arrow_schema(table.fields).empty_table()
    for rows in (nothing, frame_of(spark, nothing, table)):
        swap(rows, house, table, "b", [DAYS[0]], f"file:{tmp_path / 'staged'}")
    assert arrow_rows(house.table(table.name)).num_rows == 4


def test_late_events_are_marked_by_their_places(house: Warehouse) -> None:
    table = TABLES_BY_NAME["late_events"]
    append_rows(
        house, table, [plain(table, broker=broker, epoch=1, seq=seq, reason="epoch_over") for broker in (ODD, "b") for seq in (1, 2)]
    )
    mark_late_events(pa.table({"broker": [ODD, "b"], "epoch": [1, 2], "seq": [2, 1]}), house, "run")
    marked = {(row["broker"], row["seq"]): row["backfilled_by"] for row in arrow_rows(house.table(table.name)).to_pylist()}
    assert marked == {(ODD, 1): None, (ODD, 2): "run", ("b", 1): None, ("b", 2): None}


def test_an_append_of_another_broker_is_no_conflict(house: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A live job appends all the time."""
    for table in SLICED:
        append_rows(house, table, rows_of_days(table, "b", 1))
        tried = []

        def while_somebody_appends(uri: str, table: Table = table, tried: list[str] = tried) -> Any:
            found = opened(uri)
            append_rows(house, table, rows_of_days(table, "other", len(tried) + 2))
            tried.append(uri)
            return found

        monkeypatch.setattr(pipeline.repair.backfill.swap, "opened", while_somebody_appends)
        now = pa.Table.from_pylist(rows_of_days(table, "b", 9), arrow_schema(table.fields))
        swap(now, house, table, "b", [DAYS[0]], "")
        assert len(tried) == 1, table.name
