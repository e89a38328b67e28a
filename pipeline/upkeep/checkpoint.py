"""What lies in a query's checkpoint, as one JSON-ready document. Reads only."""

from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.lanes.blob import MAGIC
from pipeline.lanes.state_layout import STATE_LAYOUT
from pipeline.query.newest_room import NewestRoom
from pipeline.store.files import files_at
from pipeline.upkeep.needed_versions import STREAMED
from pipeline.upkeep.progress import refusal
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import entry_settings, source_offsets

_STORE = "spark.sql.streaming.stateStore.providerClass"
_PARTITIONS = "spark.sql.shuffle.partitions"
#: A reader has no coordinator to report to, and must repair nothing.
_ONLY_FOR_WRITERS = (
    "spark.sql.streaming.stateStore.coordinatorReportSnapshotUploadLag",
    "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled",
)
#: Of a state blob: four bytes of magic, four of layout (little-endian).
_MAGIC_BYTES, _LAYOUT_AT = len(MAGIC), len(MAGIC) + 1


def inspect(spark: SparkSession, warehouse: Warehouse, query: str) -> dict[str, Any]:
    """Everything of the checkpoint of `query`; `refused` is the message with which `stream` would refuse it, None if it may go on."""
    checkpoint, folder = read_checkpoint(warehouse, query), warehouse.checkpoint(query)
    entry = offset_entry(warehouse, query, checkpoint.last_planned)
    names = STREAMED if query == "lanes" else ("events", "looks")
    return {
        "query": query,
        "folder": folder,
        "bytes": files_at(warehouse.root).bytes_below(folder),
        "query_id": checkpoint.query_id,
        "refused": refusal(NewestRoom(warehouse), query),
        "planned": checkpoint.last_planned,
        "committed": checkpoint.last_committed,
        "sources": None if entry is None else dict(zip(names, source_offsets(entry), strict=False)),
        "state": _state(spark, folder, entry, checkpoint.last_committed) if query == "lanes" and entry is not None else None,
        "rebuild": warehouse.rebuild_command(query),
    }


def _state(spark: SparkSession, folder: str, entry: str, committed: int | None) -> dict[str, Any]:
    """Size and format of the lanes' state after the newest finished micro-batch."""
    settings = entry_settings(entry)
    formats: dict[str, int] = {}
    if committed is not None:
        reader = spark.newSession()
        for key in _ONLY_FOR_WRITERS:
            reader.conf.set(key, "false")
        blobs = reader.read.format("statestore").option("batchId", committed).load(folder)
        head = F.hex(F.substring("value.groupState.blob", 1, _LAYOUT_AT + 3)).alias("head")
        formats = {_format(row["head"]): row["count"] for row in blobs.select(head).groupBy("head").count().collect()}
    return {
        "bytes": files_at(folder).bytes_below(f"{folder}/state"),
        "store": settings.get(_STORE, "").rpartition(".")[2],
        "partitions": int(settings[_PARTITIONS]) if _PARTITIONS in settings else None,
        "lanes": sum(formats.values()),
        "formats": sorted(formats),
        "readable_format": _words(MAGIC, STATE_LAYOUT),
    }


def _format(head: str) -> str:
    found = bytes.fromhex(head)
    return _words(found[:_MAGIC_BYTES], int.from_bytes(found[_MAGIC_BYTES:], "little"))


def _words(magic: bytes, layout: int) -> str:
    return f"{magic.decode('latin-1')} layout {layout}"
