"""How far each query got: its newest micro-batch, what it has read, what is still to come. Reads only."""

from datetime import UTC
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.faults import BadWarehouse
from pipeline.warehouse import delta_log
from pipeline.warehouse.checkpoint import delta_offsets, read_checkpoint, source_offsets
from pipeline.warehouse.guard import check_checkpoint, newest_batches
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.replays import replayed_lines

_FIRST_BATCH = 0


def query_progress(spark: SparkSession, warehouse: Warehouse, query: str) -> dict[str, Any]:
    """Newest whole micro-batch of the query (None: none yet), and its checkpoint beside it."""
    batches = newest_batches(spark, warehouse, query)
    checkpoint = read_checkpoint(spark, warehouse, query)
    last = None
    if batches:
        row = batches[0]
        last = {
            "batch_id": row.batch_id,
            "written_at": row.written_at.astimezone(UTC),  # collect() gives naive times of this process's local zone
            "rows_in": row.rows_in,
            "run_id": row.run_id,
            "code_version": row.code_version,
            "read_to": source_offsets(row.source_offsets),
        }
    return {
        "last_batch": last,
        "query_id": checkpoint.query_id,
        "planned": checkpoint.last_planned,
        "committed": checkpoint.last_committed,
        "refused": refusal(spark, warehouse, query),
    }


def refusal(spark: SparkSession, warehouse: Warehouse, query: str) -> str | None:
    """The message with which `stream` would refuse the query's checkpoint; None if it may go on.

    Asked twice before it is believed: beside a running job a micro-batch may end between two looks.
    """
    words = None
    for _ in range(2):
        try:
            check_checkpoint(spark, warehouse, query)
        except BadWarehouse as fault:
            words = str(fault)
        else:
            return None
    return words


def ingest_batch_read(spark: SparkSession, warehouse: Warehouse, entry: str) -> int | None:
    """Newest micro-batch of ingest of which lanes have read every event, by an offset log entry of theirs; None: of none.

    The version that a manifest names is not older than what its micro-batch wrote, so this never names one too new. Lines that were put
    back from quarantine later bear the number of a micro-batch that lanes may long have read: until they have read those, too, it is not.
    """
    offset = delta_offsets(entry)[0]
    if offset is None:
        return None
    manifest = spark.read.format("delta").load(warehouse.table("batch_manifest"))
    bronze = F.element_at("table_versions", "dispatch_events").cast("long")
    read = manifest.where((F.col("query") == "ingest") & (bronze <= offset.whole)).agg(F.max("batch_id")).first()
    if read is None or read[0] is None:
        return None
    unread = replayed_lines(spark, warehouse).where(F.col("bronze_version") > offset.whole).agg(F.min("ingest_batch")).collect()[0][0]
    newest = int(read[0]) if unread is None else min(int(read[0]), int(unread) - 1)
    return newest if newest >= _FIRST_BATCH else None


def newest_event_times(spark: SparkSession, warehouse: Warehouse, read_batch: int | None) -> tuple[int | None, int | None]:
    """Greatest `ts` (µs) in dispatch_events, and in its files that hold nothing beyond the micro-batch `read_batch` of ingest.

    From Delta's file statistics; None where there is no such file.
    """
    _, files = delta_log.live_files(spark, warehouse.table("dispatch_events"))
    ts = F.get_json_object("stats", "$.maxValues.ts").cast("long")
    batch = F.get_json_object("stats", "$.maxValues.ingest_batch").cast("long")
    is_read = F.lit(False) if read_batch is None else batch <= read_batch
    row = files.agg(F.max(ts).alias("newest"), F.max(F.when(is_read, ts)).alias("read")).collect()[0]
    return row["newest"], row["read"]
