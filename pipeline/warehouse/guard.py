"""Refuses to continue from a checkpoint that is not the one that wrote the tables: rows would be ignored or doubled in silence.

The warehouse records its own state in `batch_manifest` (written after each micro-batch). Spark continues from the checkpoint.
"""

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from pipeline.faults import BadWarehouse
from pipeline.warehouse.checkpoint import Checkpoint, offset_entry, read_checkpoint
from pipeline.warehouse.files import WarehouseFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.local_tables import newest_version
from schemas.tables import LANE_TABLES

#: Tables that a query alone writes rows of its own into. `lane_control` has several writers and belongs to none.
WRITTEN_BY = {
    "ingest": ("dispatch_events", "quarantine", "names", "ingest_files"),
    "lanes": tuple(table.name for table in LANE_TABLES),
}
#: As many micro-batches as Spark keeps the offsets of (spark.sql.streaming.minBatchesToRetain); more would find no file.
_COMPARED_BATCHES = 20


def writer_of(table: str) -> str:
    """The query that is to be computed anew where the table is gone or another; ingest, and with it all, where it is not of lanes alone."""
    return "lanes" if table in WRITTEN_BY["lanes"] else "ingest"


def check_checkpoint(spark: SparkSession, warehouse: Warehouse, query: str) -> None:
    """Raise BadWarehouse with the command that repairs it if `query` (ingest or lanes) must not continue from its checkpoint.

    Reads only; the tables need not exist yet. Call before they are made.
    """
    if query == "ingest" and WarehouseFiles(spark).exists(warehouse.replay_marker):
        # Its next manifest would show half a replay to every consistent cut.
        raise BadWarehouse(f"ingest: a `quarantine replay` was interrupted. This ends it: {warehouse.replay_command}")
    # In this order: beside a running job the checkpoint then knows every micro-batch that the manifest has.
    manifest = newest_batches(spark, warehouse, query)
    checkpoint = read_checkpoint(spark, warehouse, query)
    if checkpoint.damaged:
        _refuse(warehouse, query, f"{warehouse.checkpoint(query)}/metadata is damaged")
    if manifest:
        _compare(spark, warehouse, query, checkpoint, manifest)
        _check_versions(spark, warehouse, query, manifest[0])
        return
    if checkpoint.last_committed is not None:
        _refuse(warehouse, query, f"the checkpoint has finished micro-batch {checkpoint.last_committed}, but batch_manifest knows of none")
    if checkpoint.query_id is None:
        for table in WRITTEN_BY[query]:
            if _version(spark, warehouse, table) is not None and spark.read.format("delta").load(warehouse.table(table)).limit(1).count():
                _refuse(warehouse, query, f"table {table} has rows, but there is neither a checkpoint nor a row in batch_manifest")


def _compare(spark: SparkSession, warehouse: Warehouse, query: str, checkpoint: Checkpoint, manifest: list[Row]) -> None:
    newest = manifest[0]
    if checkpoint.query_id is None:
        _refuse(warehouse, query, f"micro-batch {newest.batch_id} is in the tables, but the checkpoint is gone")
    if checkpoint.query_id != newest.query_id:
        _refuse(warehouse, query, f"the checkpoint is of query {checkpoint.query_id}, the tables are of query {newest.query_id}")
    if newest.batch_id not in checkpoint.planned:
        last = "none" if checkpoint.last_planned is None else checkpoint.last_planned
        _refuse(warehouse, query, f"micro-batch {newest.batch_id} is in the tables, but the checkpoint is older: its last is {last}")
    for row in manifest:
        written = offset_entry(spark, warehouse, query, row.batch_id)
        if written is not None and written.strip() != row.source_offsets.strip():
            _refuse(warehouse, query, f"the checkpoint read other input in micro-batch {row.batch_id} than what is in the tables")


def _check_versions(spark: SparkSession, warehouse: Warehouse, query: str, newest: Row) -> None:
    """A table that was deleted, or restored from an older copy, would miss what the checkpoint holds for done."""
    for table in WRITTEN_BY[query]:
        written = newest.table_versions.get(table)
        if written is None:
            continue
        found = _version(spark, warehouse, table)
        if found is None or int(written) > found:
            state = "is gone" if found is None else f"stands at version {found}"
            _refuse(warehouse, query, f"table {table} {state}, micro-batch {newest.batch_id} left it at version {written}")


def _refuse(warehouse: Warehouse, query: str, reason: str) -> None:
    advice = f"Put the right one back, or compute anew: {warehouse.rebuild_command(query)}"
    raise BadWarehouse(f"{query}: {reason}. Going on would ignore or double rows. {advice}")


def newest_batches(spark: SparkSession, warehouse: Warehouse, query: str) -> list[Row]:
    """Rows of batch_manifest of the query that wrote last, newest first; some at most. Empty where there are none, or no table."""
    if _version(spark, warehouse, "batch_manifest") is None:
        return []
    manifest = spark.read.format("delta").load(warehouse.table("batch_manifest")).where(F.col("query") == query)
    rows = manifest.orderBy(F.desc("written_at"), F.desc("batch_id")).limit(_COMPARED_BATCHES).collect()
    return [row for row in rows if row.query_id == rows[0].query_id]


def _version(spark: SparkSession, warehouse: Warehouse, table: str) -> int | None:
    """Newest version of the Delta table; None if there is none."""
    version = newest_version(spark, warehouse.table(table))
    return version if version >= 0 else None
