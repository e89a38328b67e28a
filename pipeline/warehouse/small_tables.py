"""Rows of Delta tables that the driver takes into its memory: by Arrow in milliseconds, where a job of Spark takes most of a second."""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.store.address import delta_url
from pipeline.store.arrow_reader import dataset_at
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse import delta_log
from schemas.field import Table
from schemas.render.spark import struct


def newest_version(spark: SparkSession, uri: str) -> int:
    """Version of the table now; −1 if there is none."""
    return delta_log.version(spark, uri) if delta_url(uri) is None else newest_version_at(uri)


def arrow_rows(
    spark: SparkSession,
    uri: str,
    columns: Sequence[str] | None = None,
    among: Mapping[str, Collection[Any] | pa.Array] | None = None,
    within: Mapping[str, tuple[int, int]] | None = None,
) -> pa.Table:
    """Rows of an existing table as it is now: all columns or `columns`, all rows or those whose value is `among` some of a column.

    And of them those whose value of a column is `within` bounds, which belong to them. What is returned must fit into the driver; what is
    left out is not held: all of it where delta-rs opens the table, elsewhere other columns and what is beyond bounds.
    """
    if delta_url(uri) is not None:
        table = dataset_at(uri)
        bounds = [(pc.field(column) >= least) & (pc.field(column) <= most) for column, (least, most) in (within or {}).items()]
        conditions = [*bounds, *([_condition(table.schema, among)] if among else [])]
        return table.to_table(columns and list(columns), filter=reduce(and_, conditions) if conditions else None)
    frame = spark.read.format("delta").load(uri)
    for column, (least, most) in (within or {}).items():
        frame = frame.where(F.col(column).between(least, most))
    if columns is not None:
        frame = frame.select(*dict.fromkeys((*columns, *(among or {}))))
    rows = frame.toArrow()
    kept = rows.filter(_condition(rows.schema, among)) if among else rows
    return kept if columns is None else kept.select(list(columns))


def frame_of(spark: SparkSession, rows: pa.Table, table: Table) -> DataFrame:
    """Rows of the table that the driver holds, as Spark has them."""
    return spark.createDataFrame(rows if rows.num_rows else [], struct(table.fields))  # Arrow's tables without rows are refused


def _condition(schema: pa.Schema, among: Mapping[str, Collection[Any] | pa.Array]) -> pc.Expression:
    def values_of(column: str) -> pa.Array:
        values = among[column]
        return values if isinstance(values, pa.Array) else pa.array(list(values), schema.field(column).type)

    return reduce(and_, (pc.field(column).isin(values_of(column)) for column in among))
