"""Which dates of dispatch_events are over: nothing of them is still to come, as far as one can know."""

from datetime import UTC, date, datetime, timedelta

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.reading.beside_spark import look_beside
from pipeline.upkeep.progress import ingest_batch_read
from pipeline.warehouse import delta_log
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.guard import loaded_batch
from pipeline.warehouse.layout import Warehouse


def batch_read_for_good(spark: SparkSession, warehouse: Warehouse) -> int | None:
    """Newest micro-batch of ingest whose events lanes will never read again, not even after a crash; None: there is none."""
    look = look_beside(spark, warehouse)
    loaded = loaded_batch(look, "lanes")
    committed = read_checkpoint(spark, warehouse, "lanes").last_committed
    entry = offset_entry(spark, warehouse, "lanes", committed) if loaded is None else loaded["source_offsets"]
    return None if entry is None else ingest_batch_read(look, entry)


def first_open_date(spark: SparkSession, warehouse: Warehouse, read_batch: int | None, today: date) -> date | None:
    """All dates before it are closed: every broker's newest event that lanes have read is of this date or a later one. None: none is.

    A broker without events on the newest date and on the one before does not hold dates open: it may never come back. Dates after
    `today` are of a wrong clock and close nothing. A closed date is no promise: what comes late for it is read all the same.
    """
    if read_batch is None:
        return None
    _, files = delta_log.live_files(spark, warehouse.table("dispatch_events"))
    dates = files.select(F.element_at("partitionValues", "event_date").cast("date").alias("date")).where(F.col("date") <= F.lit(today))
    newest = dates.agg(F.max("date")).collect()[0][0]
    if newest is None:
        return None
    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    recent = bronze.where((F.col("event_date") >= F.lit(newest - timedelta(days=1))) & (F.col("ingest_batch") <= read_batch))
    least = recent.groupBy("broker_id").agg(F.max("ts").alias("ts")).agg(F.min("ts")).collect()[0][0]
    return None if least is None else datetime.fromtimestamp(least / 1e6, UTC).date()
