"""Rows of one query from Spark and from the reading room, in a form in which they can be compared."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import Row, SparkSession

from pipeline.query.room import ReadingRoom

#: Sums of floats in another order differ in the last digits.
DIGITS = 9


def difference(session: SparkSession, room: ReadingRoom, sql: str) -> dict[str, Any]:
    """Columns and rows that only one of the two has; empty where they agree."""
    frame, answer = session.sql(sql), room.ask(sql)
    spark, duckdb = Counter(plain(tuple(row)) for row in frame.collect()), Counter(map(plain, answer.rows))
    found = {"spark": sorted((spark - duckdb).elements(), key=repr)[:3], "duckdb": sorted((duckdb - spark).elements(), key=repr)[:3]}
    columns = {} if frame.columns == answer.columns else {"columns": (frame.columns, answer.columns)}
    return {**columns, **{engine: rows for engine, rows in found.items() if rows}}


def plain(value: Any) -> Any:
    """Structs and lists as tuples, maps by their keys, numbers to DIGITS, times in UTC."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, float | Decimal):
        return float(f"{float(value):.{DIGITS}g}")
    if isinstance(value, Mapping):
        return tuple(plain(one) for one in value.values())
    if isinstance(value, Row | tuple | list):
        return tuple(map(plain, value))
    return value
