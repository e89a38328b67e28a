"""Puts rows in the place of others: one date of one broker in one table is one commit."""

from collections.abc import Iterable
from datetime import date
from functools import partial

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import write_deltalake
from pyspark.sql import DataFrame

from pipeline.backfill.slices import Rows, held_rows_of, slice_condition, slice_of_delta_rs
from pipeline.backfill.stretch import Dates
from pipeline.sinks.in_tasks import written_in_tasks
from pipeline.store.arrow_places import arrow_place
from pipeline.store.table_log import opened
from pipeline.warehouse.conflicts import despite_appends
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.writer_mark import marked
from schemas.field import Table
from schemas.ids import BROKER, id_of
from schemas.render.arrow import arrow_schema


def swap(computed: Rows, warehouse: Warehouse, table: Table, broker: str, dates: Iterable[date], folder: str) -> None:
    """Replace the broker's rows of each date by those of `computed`, which holds rows of the table; many go by way of `folder`."""
    for one in sorted(dates):
        despite_appends(table.name, partial(_replace, computed, warehouse, table, broker, one, folder))


def _replace(computed: Rows, warehouse: Warehouse, table: Table, broker: str, day: date, folder: str) -> None:
    if isinstance(computed, pa.Table):
        rows = held_rows_of(computed, table, [Dates(broker, day, day)])
    else:
        of_date = computed.where(slice_condition(table, broker, day, day))
        rows = _streamed(of_date, table, folder, f"{id_of(BROKER, broker)}-{day}")
    predicate = slice_of_delta_rs(table, broker, day)
    write_deltalake(opened(warehouse.table(table.name)), rows, mode="overwrite", predicate=predicate, commit_properties=marked())


def _streamed(rows: DataFrame, table: Table, folder: str, name: str) -> pa.Table | pa.RecordBatchReader:
    """Rows of Spark, read from files that its tasks write: a batch at a time is held."""
    files = written_in_tasks(rows, f"{folder}/{table.name}", table, name)
    schema = arrow_schema(table.fields)
    if not files:
        return schema.empty_table()
    place, filesystem = arrow_place(f"{folder}/{table.name}")
    paths = [f"{place}/{file.path}".lstrip("/") if not place else f"{place}/{file.path}" for file in files]
    return ds.dataset(paths, schema, format="parquet", filesystem=filesystem).scanner().to_reader()


def mark_late_events(late: pa.Table, warehouse: Warehouse, run_id: str) -> None:
    """Mark these late events (broker, epoch, seq): this run computed their dates with them."""
    same = " AND ".join(f"there.{name} = now.{name}" for name in ("broker", "epoch", "seq"))

    def merge() -> None:
        table = opened(warehouse.table("late_events"))
        merged = table.merge(late, same, source_alias="now", target_alias="there", commit_properties=marked())
        merged.when_matched_update({"backfilled_by": f"'{run_id}'"}).execute()

    despite_appends("late_events", merge)
