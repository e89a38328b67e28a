"""The rows of a table that belong to dates of brokers: what a backfill compares and swaps."""

from collections.abc import Iterable
from datetime import date, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.backfill.stretch import Dates
from schemas.field import Table
from schemas.render.ddl import quoted
from schemas.tables import LANE_TABLES
from schemas.tables.lane_snapshots import LANE_SNAPSHOTS

#: Tables that are computed anew. Tables that record when events and requests came stay as they are. lane_snapshots is the last: until it is
#: swapped, what went before can be found out again.
SWAPPED_TABLES: tuple[Table, ...] = (
    *(table for table in LANE_TABLES if table.name not in ("late_events", "lane_answers", LANE_SNAPSHOTS.name)),
    LANE_SNAPSHOTS,
)


def date_of(table: Table) -> str:
    """SQL of the date or time by which a row belongs to a date."""
    return "coalesce(ts_after, ts_before)" if table.name == "log_gaps" else table.age_by


def slice_condition(table: Table, broker: str, first: date, last: date) -> str:
    """SQL that is true of the broker's rows of the dates. Times are compared as they are, so that files can be skipped."""
    at = date_of(table)
    return f"broker = {quoted(broker)} AND {at} >= '{first}' AND {at} < '{last + timedelta(days=1)}'"


def rows_of(rows: DataFrame, table: Table, asked: Iterable[Dates]) -> DataFrame:
    """The rows of the table that belong to the dates."""
    return rows.where(" OR ".join(f"({slice_condition(table, one.broker, one.first, one.last)})" for one in asked))


def dated(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with the column `_date` that they belong to."""
    return rows.withColumn("_date", F.expr(f"CAST({date_of(table)} AS DATE)"))
