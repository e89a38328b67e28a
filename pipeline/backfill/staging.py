"""Where what was computed anew lies until it is compared and swapped: operator output as Parquet, beside the tables."""

from collections.abc import Iterable
from datetime import date
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.backfill.refold import refold
from pipeline.backfill.slices import HELD_ROWS, SWAPPED_TABLES, Rows, held_rows_of, rows_of
from pipeline.backfill.stretch import Dates, Stretch
from pipeline.faults import BadWarehouse
from pipeline.lanes.lane import LaneSettings
from pipeline.lanes.lane_input import WANTED, replayed_rows
from pipeline.lanes.operator import OUTPUT_TYPE
from pipeline.lanes.outcome_packets import narrow_rows
from pipeline.session_settings import ARROW_BATCH_BYTES, UNCOUNTED, setting
from pipeline.sinks.few_outcomes import FEW_BYTES, FewOutcomes, ids_in
from pipeline.sinks.outcomes import lacks_text, table_rows, with_text
from pipeline.store.hadoop_files import files_with_hadoop
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.small_tables import arrow_rows
from schemas.field import Table
from schemas.outcomes import KINDS, PAYLOAD
from schemas.render.ddl import quoted
from schemas.tables.bookkeeping import NAMES


def stage(
    spark: SparkSession,
    warehouse: Warehouse,
    stretches: dict[tuple[int, int], tuple[Stretch, bytes, date]],
    ingest_batch: int,
    settings: LaneSettings,
    folder: str,
) -> None:
    """Fold the stretches again, in parallel, and write what comes out into `folder`."""
    if not stretches:
        spark.createDataFrame([], OUTPUT_TYPE).write.partitionBy("kind").parquet(folder)
        return
    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events")).where(F.col("ingest_batch") <= ingest_batch)
    control = spark.read.format("delta").load(warehouse.table("lane_control"))
    chosen = [stretch for stretch, _, _ in stretches.values()]
    wanted = spark.createDataFrame([(s.span.broker_id, s.span.epoch, s.first_seq, s.last_seq) for s in chosen], WANTED)
    # The same as bounds, so that Delta skips files without any of these rows.
    brokers, epochs = {s.span.broker for s in chosen}, {s.span.epoch for s in chosen}
    near = bronze.where(F.col("broker").isin(brokers) & F.col("epoch").isin(epochs))
    near = near.where(F.col("seq").between(min(s.first_seq for s in chosen), max(s.last_seq for s in chosen)))
    outcomes = replayed_rows(near, control, wanted).mapInPandas(partial(refold, stretches=stretches, settings=settings), OUTPUT_TYPE)
    with setting(spark, ARROW_BATCH_BYTES, UNCOUNTED):  # lane rows are numbers
        outcomes.write.partitionBy("kind").parquet(folder)


def staged_tables(spark: SparkSession, warehouse: Warehouse, folder: str, asked: list[Dates]) -> dict[str, Rows]:
    """The staged rows of the dates, by table, as the tables have them; tables of which nothing was staged are left out.

    Raises BadWarehouse where an id has no name: ingest did not finish its micro-batch.
    """
    # Nothing at all came out where all epochs of the dates were over before: then there is no file.
    staged = spark.read.schema(OUTPUT_TYPE).parquet(folder)
    files = files_with_hadoop(folder, spark)
    tables = [table for table in SWAPPED_TABLES if files.exists(f"{folder}/kind={KINDS[table.name]}")]
    count, state_bytes = staged.agg(F.count("*"), F.coalesce(F.sum(F.length(PAYLOAD)), F.lit(0))).collect()[0]
    if count <= HELD_ROWS and state_bytes <= FEW_BYTES:
        held = _few(spark, warehouse, staged, tables)
        return {table.name: held_rows_of(held[table.name], table, asked) for table in tables}
    rows = _many(spark, warehouse, staged, tables)
    return {table.name: rows_of(rows[table.name], table, asked) for table in tables}


def _few(spark: SparkSession, warehouse: Warehouse, staged: DataFrame, tables: Iterable[Table]) -> dict[str, pa.Table]:
    wide = staged.toArrow()
    outcomes = {table.name: narrow_rows(wide, table.name) for table in tables}
    few = FewOutcomes(outcomes, arrow_rows(spark, warehouse.table(NAMES.name), among={"id": ids_in(outcomes.values())}))
    if few.lacks_text():
        raise _names_are_missing(warehouse)
    return {table.name: few.rows_of(table) for table in tables}


def _many(spark: SparkSession, warehouse: Warehouse, staged: DataFrame, tables: Iterable[Table]) -> dict[str, DataFrame]:
    resolved = with_text(staged, spark.read.format("delta").load(warehouse.table(NAMES.name)))
    if resolved.where(lacks_text()).limit(1).count():
        raise _names_are_missing(warehouse)
    return {table.name: table_rows(resolved.where(F.col("kind") == KINDS[table.name]), table) for table in tables}


def _names_are_missing(warehouse: Warehouse) -> BadWarehouse:
    return BadWarehouse(f"names of ids in {warehouse.table('dispatch_events')} are missing: start `stream` again, then this")


def staged_late_events(waiting: DataFrame, asked: list[Dates], folder: str) -> DataFrame:
    """The events that wait (broker, epoch, seq, date) and are of the dates, written into `folder`: as they are now, whatever is swapped."""
    of_dates = " OR ".join(f"(broker = {quoted(one.broker)} AND date BETWEEN '{one.first}' AND '{one.last}')" for one in asked)
    waiting.where(of_dates).coalesce(1).write.parquet(folder)
    return waiting.sparkSession.read.schema(waiting.schema).parquet(folder)
