"""Rows to a Delta table exactly once per micro-batch: a repeated micro-batch writes nothing twice."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, Transaction, write_deltalake
from deltalake.transaction import AddAction
from pyspark.sql import DataFrame, SparkSession

from pipeline.store.address import delta_url
from pipeline.store.table_log import opened
from pipeline.warehouse import delta_log
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.small_tables import frame_of
from pipeline.warehouse.writer_mark import marked
from schemas.field import Table
from schemas.render.arrow import arrow_schema


def append_once(df: DataFrame, warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Append `df` to the table unless (`app_id`, `version`) was appended before, or it has no rows. Returns whether it wrote.

    Asks the frame whether it has rows: persist what is expensive to compute, or call `append` where there surely are some.
    """
    if is_appended(df.sparkSession, warehouse, table, app_id, version) or df.isEmpty():
        return False
    append(df, warehouse, table, app_id, version)
    return True


def append(df: DataFrame, warehouse: Warehouse, table: str, app_id: str, version: int) -> None:
    """Append `df` to the table; Delta skips it, without computing it, if a version ≥ `version` of `app_id` was appended before."""
    writer = df.write.format("delta").mode("append").option("txnAppId", app_id).option("txnVersion", version)
    writer.save(warehouse.table(table))


def append_rows(
    spark: SparkSession,
    warehouse: Warehouse,
    table: Table,
    rows: pa.Table | pa.RecordBatchReader | Sequence[Mapping[str, Any]],
    once: tuple[str, int] | None = None,
) -> None:
    """Append rows that the driver has, with all columns of the table, in one commit; `once` is (app id, version), as in `append`.

    A reader has rows, and of its rows a slice at a time is held.

    By delta-rs, which takes some milliseconds and keeps the table's CHECK constraints as Spark does; by Spark where delta-rs cannot open
    the table. The table must exist.
    """
    schema = arrow_schema(table.fields)
    if not isinstance(rows, pa.RecordBatchReader):
        rows = rows if isinstance(rows, pa.Table) else pa.table({name: [row[name] for row in rows] for name in schema.names}, schema)
        if rows.num_rows == 0:
            return
    uri = warehouse.table(table.name)
    if delta_url(uri) is None:
        held = rows if isinstance(rows, pa.Table) else rows.read_all()
        _append_by_spark(spark, warehouse, table, held, once)
        return
    delta = opened(uri)
    if once is not None and _is_in(delta, *once):
        return
    transactions = None if once is None else [Transaction(*once)]
    write_deltalake(delta, rows, mode="append", commit_properties=marked(transactions))


class NewFile(NamedTuple):
    """A Parquet file below a table's folder that no commit names yet.

    `path` from that folder on, `modified_at_ms` since 1970, `partition`: value of each partition column, `stats` as in Delta's log.
    """

    path: str
    size_bytes: int
    modified_at_ms: int
    partition: dict[str, str]
    stats: dict[str, Any]

    @property
    def rows(self) -> int:
        """Rows in it."""
        return int(self.stats["numRecords"])


def append_files(uri: str, table: Table, files: Sequence[NewFile], once: tuple[str, int]) -> None:
    """Append what the files hold to the table, in one commit; `once` is (app id, version), as in `append`.

    Nobody looks into the files: they must have all columns of the table, and keep its checks.
    """
    delta = opened(uri)
    actions = [
        AddAction(file.path, file.size_bytes, file.partition, file.modified_at_ms, data_change=True, stats=json.dumps(file.stats))
        for file in files
    ]
    commit = marked([Transaction(*once)])
    delta.create_write_transaction(actions, "append", delta.schema(), list(table.partition_by), commit_properties=commit)


def _append_by_spark(spark: SparkSession, warehouse: Warehouse, table: Table, rows: pa.Table, once: tuple[str, int] | None) -> None:
    frame = frame_of(spark, rows, table).coalesce(1)
    if once is None:
        frame.write.format("delta").mode("append").save(warehouse.table(table.name))
    else:
        append(frame, warehouse, table.name, *once)


def is_appended(spark: SparkSession, warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Whether `append` with these would be skipped."""
    uri = warehouse.table(table)
    if delta_url(uri) is not None:
        return _is_in(opened(uri), app_id, version)
    last = delta_log.last_transaction(spark, uri, app_id)
    return last is not None and last >= version


def _is_in(delta: DeltaTable, app_id: str, version: int) -> bool:
    last = delta.transaction_version(app_id)
    return last is not None and last >= version


def app_id_of(query_id: str, table: str) -> str:
    """Delta's transaction id of what the query with this id writes into `table`: a new checkpoint has a new query id."""
    return f"{query_id}:{table}"
