"""Deletes rows of dates that are over and older than they are to be kept; by default everything is kept for ever."""

from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.store.arrow_reader import dataset_at
from pipeline.store.table_log import opened
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.conflicts import despite_appends
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

#: Before the first micro-batch of ingest.
NOTHING_READ = -1


def oldest_kept(keep_days: int, today: date, open_date: date | None) -> date | None:
    """First date of which rows are kept; None: nothing may be deleted, because no date is closed (`first_open_date`)."""
    return None if open_date is None else min(today - timedelta(days=keep_days), open_date)


def rows_before(warehouse: Warehouse, table: str, first_kept: date, read_batch: int | None) -> int:
    """How many rows `delete_before` would delete now."""
    column, begin = TABLES_BY_NAME[table].age_by, datetime.combine(first_kept, time(), UTC)
    rows = dataset_at(warehouse.table(table))
    kind = rows.schema.field(column).type
    old = pc.field(column) < pa.scalar(first_kept if pa.types.is_date(kind) else begin, kind)
    if table == "dispatch_events":
        old = old & (pc.field("ingest_batch") <= (NOTHING_READ if read_batch is None else read_batch))
    return int(rows.count_rows(filter=old))


def delete_before(warehouse: Warehouse, table: str, first_kept: date, read_batch: int | None) -> int:
    """Delete rows of dates before `first_kept`; returns how many.

    Of dispatch_events only rows that lanes have read for good (up to micro-batch `read_batch` of ingest): what comes late for an old date
    is new to them, and may be there by now without anybody having looked. Raises BadWarehouse if appends came between each time.
    """
    where, uri = _old(table, first_kept, read_batch), warehouse.table(table)
    return int(despite_appends(table, lambda: opened(uri).delete(where, commit_properties=tagged()))["num_deleted_rows"] or 0)


def _old(table: str, first_kept: date, read_batch: int | None) -> str:
    """SQL of delta-rs that is true of the rows to delete. A text takes the type of its column: so files are skipped by their bounds."""
    column = TABLES_BY_NAME[table].age_by
    is_date = next(f.type for f in TABLES_BY_NAME[table].fields if f.name == column) == "date"
    old = f"{column} < '{first_kept}{'' if is_date else 'T00:00:00Z'}'"
    if table != "dispatch_events":
        return old
    return f"{old} AND ingest_batch <= {NOTHING_READ if read_batch is None else read_batch}"
