"""Rows to a Delta table exactly once per micro-batch: a repeated micro-batch writes nothing twice. Every commit is made by delta-rs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction

from pipeline.sinks.table_file import NewFile
from pipeline.store.kept_open import kept_open
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.writer_mark import marked
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
    with kept_open(warehouse.table(table.name)) as delta:
        if once is None or not _is_in(delta, *once):
            transactions = None if once is None else [Transaction(*once)]
            with _though_the_answer_is_lost(delta, once):
                write_deltalake(delta, rows, mode="append", commit_properties=marked(transactions))


def append_files(uri: str, table: Table, files: Sequence[NewFile], once: tuple[str, int]) -> None:
    """Append what the files hold to the table, in one commit; `once` is (app id, version), as in `append_rows`, and was not appended yet.

    Nobody looks into the files: they must have all columns of the table, and keep its checks.
    """
    actions = [
        AddAction(file.path, file.size_bytes, file.partition, file.modified_at_ms, data_change=True, stats=json.dumps(file.stats))
        for file in files
    ]
    commit = marked([Transaction(*once)])
    with kept_open(uri) as delta, _though_the_answer_is_lost(delta, once):
        delta.create_write_transaction(actions, "append", delta.schema(), list(table.partition_by), commit_properties=commit)


def is_appended(warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Whether an append with these would be skipped."""
    with kept_open(warehouse.table(table)) as delta:
        return _is_in(delta, app_id, version)


@contextmanager
def _though_the_answer_is_lost(delta: DeltaTable, once: tuple[str, int] | None) -> Iterator[None]:
    """A commit. Where a store made it and its answer is lost, the client asks again, and its own commit is in its way."""
    try:
        yield
    except CommitFailedError:
        if once is None:
            raise
        delta.update_incremental()
        if not _is_in(delta, *once):
            raise


def _is_in(delta: DeltaTable, app_id: str, version: int) -> bool:
    last = delta.transaction_version(app_id)
    return last is not None and last >= version


def app_id_of(query_id: str, table: str) -> str:
    """Delta's transaction id of what the query with this id writes into `table`: a new checkpoint has a new query id."""
    return f"{query_id}:{table}"
