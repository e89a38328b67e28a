"""Puts rows in the place of others: one date of one broker in one table is one commit."""

from collections.abc import Iterable
from datetime import date
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.backfill.slices import slice_condition
from pipeline.backfill.stretch import Dates
from pipeline.warehouse.conflicts import despite_appends
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.render.ddl import delta_path, quoted


def swap(computed: DataFrame, warehouse: Warehouse, table: Table, broker: str, dates: Iterable[date]) -> None:
    """Replace the broker's rows of each date by those of `computed`, which holds rows of the table."""
    for one in sorted(dates):
        condition = slice_condition(table, broker, one, one)
        rows = computed.where(condition).coalesce(1)
        writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", condition)
        despite_appends(table.name, partial(writer.save, warehouse.table(table.name)))


def mark_late_events(spark: SparkSession, warehouse: Warehouse, dates: Dates, ingest_batch: int, run_id: str) -> None:
    """Say of the late events of the dates that this run computed the dates with them."""
    late = warehouse.table("late_events")
    condition = (
        f"backfilled_by IS NULL AND broker = {quoted(dates.broker)} AND event_date BETWEEN '{dates.first}' AND '{dates.last}' "
        f"AND ingest_batch <= {ingest_batch}"
    )
    if spark.read.format("delta").load(late).where(F.expr(condition)).limit(1).count():
        statement = f"UPDATE {delta_path(late)} SET backfilled_by = {quoted(run_id)} WHERE {condition}"
        despite_appends("late_events", lambda: spark.sql(statement))
