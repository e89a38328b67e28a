"""Rows to a Delta table exactly once per micro-batch: a repeated micro-batch writes nothing twice. Every commit is made by delta-rs."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from deltalake import Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction

from pipeline.store.open_tables import KeptTable, kept_open
from pipeline.store.whole_answers import FAULTS, is_broken_off, whole_answer
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.conflicts import ATTEMPTS
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import STREAMED
from pipeline.warehouse.version_checksum import write_checksum
from schemas.field import Table
from schemas.render.arrow import arrow_schema


def append_rows(
    warehouse: Warehouse,
    table: Table,
    rows: pa.Table | Callable[[], pa.RecordBatchReader] | Sequence[Mapping[str, Any]],
    once: tuple[str, int] | None = None,
) -> None:
    """Append rows that this process has, with all columns of the table, in one commit, unless `once` was appended before.

    `once` is (app id, version): a version ≥ this one of the same app id was the same rows. Of the rows of a reader, which is made for
    each attempt, a slice at a time is held. The table must exist; delta-rs keeps its CHECK constraints.
    """
    schema = arrow_schema(table.fields)
    if not callable(rows):
        rows = rows if isinstance(rows, pa.Table) else pa.table({name: [row[name] for row in rows] for name in schema.names}, schema)
        if rows.num_rows == 0:
            return
    with kept_open(warehouse.table(table.name), once) as kept:
        if once is None:
            _write(kept, rows, None)
        elif not kept.is_appended(*once):
            _committed(kept, once, partial(_write, kept, rows, [Transaction(*once)]))
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
        partitions = list(table.partition_by)
        _committed(
            kept, once, lambda: delta.create_write_transaction(actions, "append", delta.schema(), partitions, commit_properties=commit)
        )
        if table.name in STREAMED:
            whole_answer(delta.update_incremental)
            write_checksum(uri, delta)
    return True


def is_appended(warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Whether an append with these would be skipped."""
    with kept_open(warehouse.table(table)) as kept:
        return kept.is_appended(app_id, version)


def _write(kept: KeptTable, rows: pa.Table | Callable[[], pa.RecordBatchReader], once: list[Transaction] | None) -> None:
    write_deltalake(kept.delta, rows() if callable(rows) else rows, mode="append", commit_properties=tagged(once))


def _committed(kept: KeptTable, once: tuple[str, int], commit: Callable[[], None]) -> None:
    """Make a commit of an append. It reads nothing, so it is made again where a backfill or `maintain` deleted files beside it.

    delta-rs refuses it then. It also refuses where a store made the commit and its answer is lost: the client asks again, and its own
    commit is in its way. Where an answer breaks off, nobody knows yet if the commit is made.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            commit()
        except FAULTS as fault:
            if not isinstance(fault, CommitFailedError) and not is_broken_off(fault):
                raise
            whole_answer(kept.delta.update_incremental)
            kept.appended.clear()
            if kept.is_appended(*once):
                return
            if left == 0:
                raise
        else:
            return


def app_id_of(query_id: str, table: str) -> str:
    """Delta's transaction id of what the query with this id writes into `table`: a new checkpoint has a new query id."""
    return f"{query_id}:{table}"
