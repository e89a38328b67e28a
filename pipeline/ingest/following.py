"""Whether ingest follows open files, and how a query that never did so begins to."""

from pyspark.sql import DataFrame, SparkSession

from pipeline.ingest.open_files_source import open_files_stream
from pipeline.ingest.source_log import OPEN_FILES
from pipeline.sources.jsonl_files import JsonlFiles
from pipeline.sources.open_files import look
from pipeline.sources.parquet_files import ParquetFiles
from pipeline.sources.source import Source
from pipeline.store.address import local_path
from pipeline.store.files import files_at
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import source_offsets, with_another_source


def followed_stream(spark: SparkSession, warehouse: Warehouse, query: str, source: Source, wanted: bool, once: bool) -> DataFrame:
    """The stream of `source`, and of the open files beside it where that is `wanted` and possible.

    `once`: the query ends with the events that are there now. Raises OSError if the files cannot be looked at.
    Spark keeps the number of sources of a query. So a query that followed once has the second source for ever, which then may stand still.
    """
    stream = source.stream(spark)
    if not isinstance(source, JsonlFiles | ParquetFiles):
        return stream
    wanted = wanted and isinstance(source, JsonlFiles) and source.place.local
    entries = _newest_entries(warehouse, query)
    follows = any(len(source_offsets(entry)) > OPEN_FILES for entry in entries.values())
    if not follows and not (wanted and (not once or look(source.place, {}, set))):
        return stream
    _add_source(warehouse, query, entries)
    return stream.union(open_files_stream(spark, warehouse, query, source.place, wanted))


def _newest_entries(warehouse: Warehouse, query: str) -> dict[int, str]:
    """Those entries of the offset log that Spark reads at a start, the older one first."""
    planned = read_checkpoint(warehouse, query).planned[-2:]
    return {batch: entry for batch in planned if (entry := offset_entry(warehouse, query, batch)) is not None}


def _add_source(warehouse: Warehouse, query: str, entries: dict[int, str]) -> None:
    """Give the entries a place for the second source: it had no offset then."""
    files, folder = files_at(warehouse.root), f"{warehouse.checkpoint(query)}/offsets"
    for batch, entry in entries.items():
        if len(source_offsets(entry)) > OPEN_FILES:
            continue
        # Hadoop's checksum of what was there goes first: without one it checks nothing.
        files.delete(f"{folder}/.{batch}.crc")
        text, local = with_another_source(entry), local_path(f"{folder}/{batch}")
        if local is None:
            files.write(f"{folder}/{batch}", text)
            continue
        whole = local.with_name(f".{batch}.whole")
        whole.write_text(text, "utf-8")
        whole.replace(local)
