"""Puts rows in the place of others: one date of one broker in one table is one commit."""

from collections.abc import Iterable
from datetime import date
from functools import partial

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.backfill.slices import slice_condition
from pipeline.warehouse.conflicts import despite_appends
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table


def swap(computed: DataFrame, warehouse: Warehouse, table: Table, broker: str, dates: Iterable[date]) -> None:
    """Replace the broker's rows of each date by those of `computed`, which holds rows of the table."""
    for one in sorted(dates):
        condition = slice_condition(table, broker, one, one)
        rows = computed.where(condition).coalesce(1)
        writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", condition)
        despite_appends(table.name, partial(writer.save, warehouse.table(table.name)))


def mark_late_events(late: DataFrame, warehouse: Warehouse, run_id: str) -> None:
    """Mark these late events (broker, epoch, seq): this run computed their dates with them."""
    table = DeltaTable.forPath(late.sparkSession, warehouse.table("late_events"))
    same = " AND ".join(f"there.{name} = now.{name}" for name in ("broker", "epoch", "seq"))
    merge = table.alias("there").merge(late.alias("now"), same).whenMatchedUpdate(set={"backfilled_by": F.lit(run_id)})
    despite_appends("late_events", merge.execute)
