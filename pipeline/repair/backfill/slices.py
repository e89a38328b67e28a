"""The rows of a table that belong to dates of brokers: what a backfill compares and swaps."""

from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import and_, or_
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.lanes.query import FEW_BYTES
from pipeline.repair.backfill.stretch import Dates
from pipeline.store.arrow_reader import dataset_at, text_field
from schemas.field import Table
from schemas.outcomes import PAYLOAD
from schemas.render.arrow import arrow_schema
from schemas.render.ddl import quoted
from schemas.render.spark import struct
from schemas.tables import LANE_TABLES
from schemas.tables.lane_snapshots import LANE_SNAPSHOTS

#: So many rows of a table, and what was computed of it, the driver holds and compares by itself.
HELD_ROWS = 50_000
#: Rows of a table: Spark's, or few that the driver holds, of which each use costs no job.
Rows: TypeAlias = DataFrame | pa.Table
#: Tables that are computed anew. The table that records when events came stays as it is. lane_snapshots is the last: until it is swapped,
#: what went before can be found out again.
SWAPPED_TABLES: tuple[Table, ...] = (
    *(table for table in LANE_TABLES if table.name not in ("late_events", LANE_SNAPSHOTS.name)),
    LANE_SNAPSHOTS,
)


def date_columns(table: Table) -> tuple[str, ...]:
    """The date or time by which a row belongs to a date: the first of these columns that is not null."""
    return ("ts_after", "ts_before") if table.name == "log_gaps" else (table.age_by,)


def date_of(table: Table) -> str:
    """SQL of the date or time by which a row belongs to a date."""
    first, *others = date_columns(table)
    return f"coalesce({', '.join((first, *others))})" if others else first


def slice_condition(table: Table, broker: str, first: date, last: date) -> str:
    """SQL of Spark that is true of the broker's rows of the dates. Times are compared as they are, so that files can be skipped."""
    at = date_of(table)
    return f"broker = {quoted(broker)} AND {at} >= '{first}' AND {at} < '{last + timedelta(days=1)}'"


def slice_of_delta_rs(table: Table, broker: str, day: date) -> str:
    """`slice_condition` of one date for delta-rs: a backslash is nothing special there, and a quote is doubled.

    Of comparisons alone: for a function delta-rs takes every append of anybody for a conflict.
    """
    columns = date_columns(table)
    is_date = next(f.type for f in table.fields if f.name == columns[0]) == "date"
    # Texts, which take the type of the column: a CAST gives a time without a zone, which no column's bounds are compared with.
    first, end = (f"'{one}{'' if is_date else 'T00:00:00Z'}'" for one in (day, day + timedelta(days=1)))
    ways = [
        " AND ".join([*(f"{before} IS NULL" for before in columns[:place]), f"{column} >= {first}", f"{column} < {end}"])
        for place, column in enumerate(columns)
    ]
    text = "'" + broker.replace("'", "''") + "'"
    return f"broker = {text} AND ({' OR '.join(f'({way})' for way in ways)})"


def rows_of(rows: DataFrame, table: Table, asked: Iterable[Dates]) -> DataFrame:
    """The rows of the table that belong to the dates."""
    return rows.where(" OR ".join(f"({slice_condition(table, one.broker, one.first, one.last)})" for one in asked))


def frame_of(spark: SparkSession, rows: pa.Table, table: Table) -> DataFrame:
    """Rows of the table that the driver holds, as Spark has them."""
    return spark.createDataFrame(rows if rows.num_rows else [], struct(table.fields))  # Arrow's tables without rows are refused


def framed(spark: SparkSession, rows: Rows, table: Table) -> DataFrame:
    """Rows of the table as Spark's."""
    return frame_of(spark, rows, table) if isinstance(rows, pa.Table) else rows


def held_rows_of(rows: pa.Table, table: Table, asked: Iterable[Dates]) -> pa.Table:
    """`rows_of`, of rows that the driver holds."""
    return rows.filter(_any_of(table, asked))


def rows_there(spark: SparkSession, uri: str, version: int, table: Table, asked: Collection[Dates]) -> Rows:
    """The rows that belong to the dates in a version of the table at `uri`: held by the driver if they are few, and their states small."""
    few = _few_in(uri, version, table, asked)
    if few is not None:  # without a look of Spark's into the table's log
        return few
    return rows_of(spark.read.format("delta").option("versionAsOf", version).load(uri), table, asked)


def _few_in(uri: str, version: int, table: Table, asked: Iterable[Dates]) -> pa.Table | None:
    there, wanted = dataset_at(uri, version), _any_of(table, asked)
    if there.count_rows(filter=wanted) > HELD_ROWS or _payload_bytes(there, table, wanted) > FEW_BYTES:
        return None
    return there.to_table(filter=wanted).cast(arrow_schema(table.fields))


def _payload_bytes(there: ds.Dataset, table: Table, wanted: pc.Expression) -> int:
    if PAYLOAD not in table.names:
        return 0
    lengths = there.to_table(columns={"bytes": pc.binary_length(pc.field(PAYLOAD))}, filter=wanted)["bytes"]
    return pc.sum(lengths, min_count=0).as_py()


def _any_of(table: Table, asked: Iterable[Dates]) -> pc.Expression:
    return reduce(or_, (_arrow_condition(table, one) for one in asked))


def _arrow_condition(table: Table, dates: Dates) -> pc.Expression:
    """`slice_condition` for Arrow."""
    columns = date_columns(table)
    at = pc.coalesce(*map(pc.field, columns))
    first, end = (_as_type(one, arrow_schema(table.fields).field(columns[0]).type) for one in (dates.first, dates.last + timedelta(days=1)))
    return reduce(and_, (text_field("broker") == dates.broker, at >= first, at < end))


def _as_type(day: date, kind: pa.DataType) -> pa.Scalar:
    """The date, or the moment at which it begins."""
    return pa.scalar(day if pa.types.is_date(kind) else datetime.combine(day, time(), UTC), kind)


def dated(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with the column `_date` that they belong to."""
    return rows.withColumn("_date", F.expr(f"CAST({date_of(table)} AS DATE)"))
