"""Rows to a Delta table exactly once per micro-batch: a repeated micro-batch writes nothing twice. Every commit is made by delta-rs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from deltalake import Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction

from pipeline.store.open_tables import KeptTable, kept_open
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import STREAMED
from pipeline.warehouse.version_checksum import write_checksum
from schemas.field import Table
from schemas.render.arrow import arrow_schema


def append_rows(
    warehouse: Warehouse,
    table: Table,
    rows: pa.Table | pa.RecordBatchReader | Sequence[Mapping[str, Any]],
    once: tuple[str, int] | None = None,
) -> None:
    """Append rows that this process has, with all columns of the table, in one commit, unless `once` was appended before.

    `once` is (app id, version): a version ≥ this one of the same app id was the same rows. A reader has rows, and of its rows a slice at
    a time is held. The table must exist; delta-rs keeps its CHECK constraints.
    """
    schema = arrow_schema(table.fields)
    if not isinstance(rows, pa.RecordBatchReader):
        rows = rows if isinstance(rows, pa.Table) else pa.table({name: [row[name] for row in rows] for name in schema.names}, schema)
        if rows.num_rows == 0:
            return
    with kept_open(warehouse.table(table.name), once) as kept:
        if once is None:
            write_deltalake(kept.delta, rows, mode="append", commit_properties=tagged())
        elif not kept.is_appended(*once):
            with _though_the_answer_is_lost(kept, once):
                write_deltalake(kept.delta, rows, mode="append", commit_properties=tagged([Transaction(*once)]))
            kept.appended[once[0]] = once[1]


def append_files(uri: str, table: Table, files: Sequence[NewFile], once: tuple[str, int]) -> bool:
    """Append what the files hold to the table, in one commit, unless `once`, (app id, version), was appended before: then False.

    Nobody looks into the files: they must have all columns of the table, and keep its checks.
    """
    if not files:
        return True
    actions = [
        AddAction(file.path, file.size_bytes, file.partition, file.modified_at_ms, data_change=True, stats=json.dumps(file.stats))
        for file in files
    ]
    commit = tagged([Transaction(*once)])
    with kept_open(uri) as kept:
        if kept.is_appended(*once):
            return False
        delta = kept.delta
        with _though_the_answer_is_lost(kept, once):
            delta.create_write_transaction(actions, "append", delta.schema(), list(table.partition_by), commit_properties=commit)
        if table.name in STREAMED:
            delta.update_incremental()
            write_checksum(uri, delta)
    return True


def is_appended(warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Whether an append with these would be skipped."""
    with kept_open(warehouse.table(table)) as kept:
        return kept.is_appended(app_id, version)


@contextmanager
def _though_the_answer_is_lost(kept: KeptTable, once: tuple[str, int]) -> Iterator[None]:
    """A commit. Where a store made it and its answer is lost, the client asks again, and its own commit is in its way."""
    try:
        yield
    except CommitFailedError:
        kept.delta.update_incremental()
        kept.appended.clear()
        if not kept.is_appended(*once):
            raise


def app_id_of(query_id: str, table: str) -> str:
    """Delta's transaction id of what the query with this id writes into `table`: a new checkpoint has a new query id."""
    return f"{query_id}:{table}"
