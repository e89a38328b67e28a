"""Rows of one query from Spark and from the reading room, in a form in which they can be compared."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from pipeline.query.room import Answer
from pipeline.query.views.catalog import VIEWS, named_in, sql_of

#: Sums of floats in another order differ in the last digits.
DIGITS = 9


class ViewByView:
    """Frames of views. A view reads the rows of the views that it names, computed once: Spark plans its own text, not theirs, too.

    Where each view has the same rows from both engines over the same input, so have views that are nested.
    """

    def __init__(self, session: SparkSession):
        """In the session all tables of a warehouse are registered, no view."""
        self._session = session
        self._frames: dict[str, DataFrame] = {}

    def frame(self, view: str) -> DataFrame:
        """The rows of a view, which are computed."""
        for name in named_in(view):
            if name in VIEWS and name not in self._frames:
                rows = self._session.sql(sql_of(name)).localCheckpoint()
                rows.createOrReplaceTempView(name)
                self._frames[name] = rows
        return self._frames[view]


def difference(frame: DataFrame, answer: Answer) -> dict[str, Any]:
    """Columns and rows that only one of Spark and the reading room has; empty where they agree."""
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
