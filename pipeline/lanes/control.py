"""Rows that wake lanes: the end of a finite log."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.run_context import RunContext
from pipeline.warehouse.layout import Warehouse


def issue_drain(spark: SparkSession, warehouse: Warehouse, run: RunContext) -> int:
    """Write one drain row per known lane into `lane_control`; returns how many. The next micro-batches of lanes act on them."""
    brokers = spark.read.format("delta").load(warehouse.table("names")).where("level = 'broker'")
    rows = brokers.select(
        F.col("id").alias("broker_id"),
        F.lit("drain").alias("kind"),
        *(F.lit(0).cast("bigint").alias(name) for name in ("epoch", "seq", "ts", "ns")),
        F.lit(-1).cast("bigint").alias("ingest_batch"),
        F.lit(run.now()).cast("timestamp").alias("issued_at"),
    )
    rows.coalesce(1).write.format("delta").mode("append").save(warehouse.table("lane_control"))
    return brokers.count()
