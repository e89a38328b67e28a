"""Puts rows in the place of others: one date of one broker in one table is one commit."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import write_deltalake

from pipeline.repair.backfill.slices import Rows, held_rows_of, slice_condition, slice_of_delta_rs
from pipeline.repair.backfill.stretch import Dates
from pipeline.store.arrow_places import arrow_place
from pipeline.store.table_log import opened
from pipeline.warehouse.append_frame import written_in_tasks
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.conflicts import despite_appends
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.ids import BROKER, id_of
from schemas.render.arrow import arrow_schema


def swap(computed: Rows, warehouse: Warehouse, table: Table, broker: str, dates: Iterable[date], folder: str) -> None:
    """Replace the broker's rows of each date by those of `computed`, which holds rows of the table; many go by way of `folder`."""
    for one in sorted(dates):
        if isinstance(computed, pa.Table):
            rows = partial(held_rows_of, computed, table, [Dates(broker, one, one)])
        else:
            of_date = computed.where(slice_condition(table, broker, one, one))
            place = f"{folder}/{table.name}"
            files = written_in_tasks(of_date, place, table, f"{id_of(BROKER, broker)}-{one}")
            rows = partial(_streamed, files, table, place)
        despite_appends(table.name, partial(_replace, rows, warehouse.table(table.name), slice_of_delta_rs(table, broker, one)))


def _replace(rows: Callable[[], pa.Table | pa.RecordBatchReader], uri: str, predicate: str) -> None:
    write_deltalake(opened(uri), rows(), mode="overwrite", predicate=predicate, commit_properties=tagged())


def _streamed(files: Sequence[NewFile], table: Table, folder: str) -> pa.Table | pa.RecordBatchReader:
    """Rows of files that tasks wrote below `folder`: a batch at a time is held."""
    schema = arrow_schema(table.fields)
    if not files:
        return schema.empty_table()
    place, filesystem = arrow_place(folder)
    paths = [f"{place}/{file.path}" if place else file.path for file in files]
    return ds.dataset(paths, schema, format="parquet", filesystem=filesystem).scanner().to_reader()


def mark_late_events(late: pa.Table, warehouse: Warehouse, run_id: str) -> None:
    """Mark these late events (broker, epoch, seq): this run computed their dates with them."""
    same = " AND ".join(f"there.{name} = now.{name}" for name in ("broker", "epoch", "seq"))

    def merge() -> None:
        table = opened(warehouse.table("late_events"))
        merged = table.merge(late, same, source_alias="now", target_alias="there", commit_properties=tagged())
        merged.when_matched_update({"backfilled_by": f"'{run_id}'"}).execute()

    despite_appends("late_events", merge)
