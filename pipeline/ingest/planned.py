"""Which files Spark's file source planned for a micro-batch: of those that are gone when it runs, Spark says nothing."""

import json
from urllib.parse import unquote

from pyspark.sql import SparkSession

from pipeline.warehouse.checkpoint import NO_OFFSET, offset_entry, source_lines
from pipeline.warehouse.files import WarehouseFiles
from pipeline.warehouse.layout import Warehouse


def planned_files(spark: SparkSession, warehouse: Warehouse, query: str, batch_id: int) -> list[str]:
    """Paths as Spark lists them (`file:/a b/c`), from the file source's log in the checkpoint; none if the source has no such log."""
    files = WarehouseFiles(spark)
    before, last = (_log_offset(offset_entry(spark, warehouse, query, number)) for number in (batch_id - 1, batch_id))
    paths = []
    for number in range(before + 1, last + 1):
        log = f"{warehouse.checkpoint(query)}/sources/0/{number}"
        entries = (files.read(log) or files.read(f"{log}.compact") or "").splitlines()[1:]
        # A compacted one holds every file ever read.
        paths += [json.loads(entry)["path"] for entry in entries if f'"batchId":{number}}}' in entry]
    return [_as_listed(path) for path in paths]


def _log_offset(entry: str | None) -> int:
    """Up to which entry of its log the file source was to be read; −1: none."""
    (offset,) = source_lines(entry) if entry else [NO_OFFSET]
    return int(json.loads(offset).get("logOffset", -1)) if offset != NO_OFFSET else -1


def _as_listed(path: str) -> str:
    """The log's paths are percent-encoded URIs, those of listings are not."""
    path = unquote(path)
    return "file:/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path
