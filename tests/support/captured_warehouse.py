"""A warehouse of what lanes make of logs, real or simulated, made without the job and without Spark."""

import re
from collections.abc import Iterable
from inspect import getsource
from pathlib import Path
from typing import Any

import pyarrow as pa
from capture_events import capture_events
from lane_tables import OUTCOME_TABLES, SETTINGS, tables_of
from lane_views import names_of, spark_rows

from pipeline.diagnosis import topic_rows
from pipeline.lanes.lane import LaneTiming
from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS, sql_of
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.events import CODES
from schemas.render.arrow import arrow_schema
from schemas.tables import TABLES_BY_NAME

#: Views, and `explain` of a topic, look at events of a few types alone; the others, most of a log, are left out.
_QUERIES = [*map(sql_of, VIEWS), getsource(topic_rows)]
LOOKED_AT = {type_ for type_ in CODES if any(re.search(f"'{type_}'", query) for query in _QUERIES)}


def warehouse_of(captures: Iterable[Path], folder: Path) -> Warehouse:
    """Of the logs of these captures."""
    return warehouse_of_logs(map(capture_events, captures), folder)


def room_over(logs: Iterable[list[dict[str, Any]]], folder: Path, settings: LaneTiming = SETTINGS) -> ReadingRoom:
    """The views over what comes of these logs. test_both_engines.py holds the views' rows in a room against Spark's."""
    return ReadingRoom(warehouse_of_logs(logs, folder, settings))


def warehouse_of_logs(logs: Iterable[list[dict[str, Any]]], folder: Path, settings: LaneTiming = SETTINGS) -> Warehouse:
    """Every table of lanes, names, and the events that views look at; each log is of one broker."""
    warehouse = Warehouse(f"file:{folder}")
    create_missing_tables(warehouse)
    append_logs(warehouse, logs, settings)
    return warehouse


def append_logs(warehouse: Warehouse, logs: Iterable[list[dict[str, Any]]], settings: LaneTiming = SETTINGS) -> None:
    """The same rows, into a warehouse that is there."""
    rows: dict[str, list[Any]] = {name: [] for name in (*OUTCOME_TABLES, "dispatch_events", "names")}
    for events in logs:
        rows["dispatch_events"] += [event for event in events if event["type"] in LOOKED_AT]
        for name, found in tables_of(events, settings=settings).items():
            rows[name] += found
        rows["names"] += [row for row in names_of(events) if row not in rows["names"]]
    for name, found in rows.items():
        if found:
            append_plain(warehouse, name, found)


def append_plain(warehouse: Warehouse, name: str, rows: list[Any]) -> None:
    """Rows of a table, times in µs."""
    schema = arrow_schema(TABLES_BY_NAME[name].fields)
    columns = zip(*spark_rows(name, rows), strict=True)
    values = pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)
    append_rows(warehouse, TABLES_BY_NAME[name], values)
