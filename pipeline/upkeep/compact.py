"""Few large files instead of many small ones: OPTIMIZE, where there is something to gain.

It rewrites files and changes no row: appends go on beside it, and lanes, who stream from dispatch_events, skip what it wrote.
Rows are not put in another order: no view of ours filters dispatch_events by anything but dates, which are folders already.
"""

from dataclasses import dataclass
from datetime import date

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.settings import MaintainSettings
from pipeline.warehouse import delta_log
from pipeline.warehouse.checkpoint import read_checkpoint
from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import delta_path
from schemas.tables import TABLES_BY_NAME

#: One small file alone cannot be merged with anything.
_PAIR = 2


@dataclass(frozen=True)
class Merge:
    """Small files of a table that are worth merging; of a partitioned table those of `dates`."""

    table: str
    small_files: int
    dates: tuple[date, ...] = ()


def planned_merge(
    spark: SparkSession, warehouse: Warehouse, table: str, settings: MaintainSettings, open_date: date | None
) -> Merge | None:
    """What there is to merge in the table now; None: not enough to be worth it.

    A date of dispatch_events is merged once it is closed (before `open_date`; None: no date is), every other table when it has
    `merge_from_files` small files.
    """
    _, files = delta_log.live_files(spark, warehouse.table(table))
    small = files.where(F.col("size") < settings.small_file_bytes)
    if not TABLES_BY_NAME[table].partition_by:
        count = small.count()
        return Merge(table, count) if count >= settings.merge_from_files else None
    # Lanes that have not begun would meet merged files in no order, and take disorder for loss.
    if open_date is None or not read_checkpoint(spark, warehouse, "lanes").planned:
        return None
    by_date = small.groupBy(F.element_at("partitionValues", "event_date").cast("date").alias("date")).count()
    rows = by_date.where((F.col("date") < F.lit(open_date)) & (F.col("count") >= _PAIR)).orderBy("date").collect()
    return Merge(table, sum(row["count"] for row in rows), tuple(row["date"] for row in rows)) if rows else None


def merge(spark: SparkSession, warehouse: Warehouse, planned: Merge, settings: MaintainSettings) -> tuple[int, int]:
    """OPTIMIZE what was planned; files removed and added. `spark` should be a session of its own: its Delta settings are changed."""
    spark.conf.set("spark.databricks.delta.optimize.minFileSize", str(settings.small_file_bytes))
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(settings.merged_file_bytes))
    dates = ", ".join(f"DATE '{day}'" for day in planned.dates)
    where = f" WHERE event_date IN ({dates})" if dates else ""
    metrics = spark.sql(f"OPTIMIZE {delta_path(warehouse.table(planned.table))}{where}").select("metrics.*").collect()[0]
    return int(metrics["numFilesRemoved"]), int(metrics["numFilesAdded"])
