"""Where what was computed anew lies until it is compared and swapped: packets of outcomes as Parquet, beside the tables."""

from collections.abc import Sequence
from datetime import date
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.faults import BadWarehouse
from pipeline.lanes.lane import LaneTiming
from pipeline.lanes.lane_input import WANTED, replayed_rows
from pipeline.lanes.named_outcomes import NamedOutcomes, ids_in
from pipeline.lanes.operator import PACKETS_TYPE
from pipeline.lanes.outcome_packets import opened_outcomes
from pipeline.lanes.outcome_rows import UNNAMED, table_rows, unnamed_packets
from pipeline.lanes.query import FEW_BYTES
from pipeline.repair.backfill.refold import refold
from pipeline.repair.backfill.slices import HELD_ROWS, SWAPPED_TABLES, Rows, held_rows_of, rows_of
from pipeline.repair.backfill.stretch import Dates, Stretch
from pipeline.session_settings import ARROW_BATCH_BYTES, UNCOUNTED, setting
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.outcomes import KINDS
from schemas.render.spark import struct
from schemas.tables.bookkeeping import NAMES


def stage(
    spark: SparkSession,
    warehouse: Warehouse,
    stretches: dict[tuple[int, int], tuple[Stretch, bytes, date]],
    ingest_batch: int,
    settings: LaneTiming,
    folder: str,
) -> None:
    """Fold the stretches again, in parallel, and write what comes out into `folder`."""
    if not stretches:
        spark.createDataFrame([], PACKETS_TYPE).write.partitionBy("kind").parquet(folder)
        return
    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events")).where(F.col("ingest_batch") <= ingest_batch)
    control = spark.read.format("delta").load(warehouse.table("lane_control"))
    chosen = [stretch for stretch, _, _ in stretches.values()]
    wanted = spark.createDataFrame([(s.span.broker_id, s.span.epoch, s.first_seq, s.last_seq) for s in chosen], WANTED)
    # The same as bounds, so that Delta skips files without any of these rows.
    brokers, epochs = {s.span.broker for s in chosen}, {s.span.epoch for s in chosen}
    near = bronze.where(F.col("broker").isin(brokers) & F.col("epoch").isin(epochs))
    near = near.where(F.col("seq").between(min(s.first_seq for s in chosen), max(s.last_seq for s in chosen)))
    outcomes = replayed_rows(near, control, wanted).mapInPandas(partial(refold, stretches=stretches, settings=settings), PACKETS_TYPE)
    with setting(spark, ARROW_BATCH_BYTES, UNCOUNTED):  # lane rows are numbers
        outcomes.write.partitionBy("kind").parquet(folder)


def staged_tables(spark: SparkSession, warehouse: Warehouse, folder: str, asked: list[Dates]) -> dict[str, Rows]:
    """The staged rows of the dates, by table, as the tables have them; tables of which nothing was staged are left out.

    Raises BadWarehouse where an id has no name: ingest did not finish its micro-batch.
    """
    # Nothing at all came out where all epochs of the dates were over before: then there is no file.
    staged = spark.read.schema(PACKETS_TYPE).parquet(folder)
    files = files_at(folder)
    tables = [table for table in SWAPPED_TABLES if files.exists(f"{folder}/kind={KINDS[table.name]}")]
    count, state_bytes = staged.agg(*(F.coalesce(F.sum(name), F.lit(0)) for name in ("rows", "payload_bytes"))).collect()[0]
    if count <= HELD_ROWS and state_bytes <= FEW_BYTES:
        held = _few(warehouse, staged, tables)
        return {table.name: held_rows_of(held[table.name], table, asked) for table in tables}
    rows = _many(warehouse, staged, tables)
    return {table.name: rows_of(rows[table.name], table, asked) for table in tables}


def _few(warehouse: Warehouse, staged: DataFrame, tables: Sequence[Table]) -> dict[str, pa.Table]:
    packets = staged.select("kind", "outcome").toArrow()
    outcomes = {
        table.name: opened_outcomes(table.name, packets.filter(pc.equal(packets["kind"], KINDS[table.name]))["outcome"].to_pylist())
        for table in tables
    }
    named = NamedOutcomes(outcomes, arrow_rows(warehouse.table(NAMES.name), among={"id": ids_in(outcomes.values())}))
    if named.lacks_text():
        raise _names_are_missing(warehouse)
    return {table.name: named.rows_of(table) for table in tables}


def _many(warehouse: Warehouse, staged: DataFrame, tables: Sequence[Table]) -> dict[str, DataFrame]:
    names = warehouse.table(NAMES.name)
    of_tables = staged.where(F.col("kind").isin([KINDS[table.name] for table in tables]))
    if not of_tables.mapInArrow(partial(unnamed_packets, names), UNNAMED).where("packets > 0").isEmpty():
        raise _names_are_missing(warehouse)
    return {
        table.name: staged.where(F.col("kind") == KINDS[table.name]).mapInArrow(partial(table_rows, table, names), struct(table.fields))
        for table in tables
    }


def _names_are_missing(warehouse: Warehouse) -> BadWarehouse:
    return BadWarehouse(f"names of ids in {warehouse.table('dispatch_events')} are missing: start `stream` again, then this")
