"""What status shows of backfills: the last one, and what waits for the next."""

from datetime import UTC
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.warehouse.layout import Warehouse
from schemas.tables.backfills import BACKFILLS


def last_backfill(spark: SparkSession, warehouse: Warehouse) -> dict[str, Any] | None:
    """The run of `backfill` that finished last and what it replaced; None if none did. A dry run is none."""
    finished = spark.read.format("delta").load(warehouse.table(BACKFILLS.name)).where("NOT dry_run")
    runs = finished.groupBy("run_id").agg(
        F.max("finished_at").alias("finished_at"),
        F.count_distinct("broker").alias("brokers"),
        F.min("first_date").alias("first_date"),
        F.max("last_date").alias("last_date"),
        F.coalesce(F.sum(F.when(F.col("swapped"), F.expr("added + removed + changed"))), F.lit(0)).alias("rows_replaced"),
    )
    rows = runs.orderBy(F.desc("finished_at")).limit(1).collect()
    if not rows:
        return None
    # collect() gives naive times of this process's local zone
    return {**rows[0].asDict(), "finished_at": rows[0].finished_at.astimezone(UTC)}


def waiting_late_events(spark: SparkSession, warehouse: Warehouse) -> dict[str, int]:
    """Late events that no backfill has counted yet, and their dates by broker."""
    late = spark.read.format("delta").load(warehouse.table("late_events")).where("backfilled_by IS NULL")
    row = late.agg(F.count("*").alias("late_events"), F.count_distinct("broker", "event_date").alias("dates")).collect()[0]
    return {"late_events": row["late_events"], "dates": row["dates"]}
