"""Whether ingest follows open files, and what wakes it for them.

Spark's file source takes a file once, by its name, when it is finished. For open files the query has a second source: a counter of Spark's
own, without rows, which makes a micro-batch at each trigger. The micro-batch looks by itself at open files. It keeps in its listing how
far it reads them (pipeline/sources/listed_files.py). One that finds nothing writes nothing.

A source of Python could wake the query only when there is something. But Spark gives its process ten seconds to start, and not one more:
on a busy machine the job would not start.
"""

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from pipeline.ingest.source_log import FILES
from pipeline.sources.jsonl_files import JsonlFiles
from pipeline.sources.open_files import has_open_files
from pipeline.sources.source import Source
from pipeline.store.address import local_path, object_address
from pipeline.store.files import files_at
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import source_offsets, with_another_source

_COUNTER = "rate-micro-batch"


def followed(source: Source, warehouse: Warehouse, mode: str) -> Source:
    """The source, which follows open files if `mode` (ingest.follow_open_files) is for it, and they are on this machine's file system."""
    wanted = mode == "always" or (mode == "auto" and object_address(warehouse.root) is None)
    return replace(source, follows=True) if wanted and isinstance(source, JsonlFiles) and source.place.local else source


def woken_stream(spark: SparkSession, warehouse: Warehouse, query: str, source: Source, waits: bool) -> DataFrame:
    """The stream of `source`, with the counter beside it if there are open files to follow, or if the query ever had it.

    `waits`: also if there are none yet. Raises OSError if open files cannot be looked at.
    """
    stream = source.stream(spark)
    entries = _newest_entries(warehouse, query)
    has_counter = any(len(source_offsets(entry)) > FILES + 1 for entry in entries.values())
    if not has_counter and not _needs_counter(source, waits):
        return stream
    _add_source(warehouse, query, entries)
    counter = spark.readStream.format(_COUNTER).option("rowsPerBatch", 1).option("numPartitions", 1).load()
    return stream.union(counter.selectExpr("CAST(NULL AS string) AS path", "value AS length").where("false"))


def _needs_counter(source: Source, waits: bool) -> bool:
    """Not where nobody writes: with the counter the number of a micro-batch depends on the time, without it on the files alone."""
    return isinstance(source, JsonlFiles) and source.follows and (waits or has_open_files(source.place))


def _newest_entries(warehouse: Warehouse, query: str) -> dict[int, str]:
    """Those entries of the offset log that Spark reads at a start, the older one first."""
    planned = read_checkpoint(warehouse, query).planned[-2:]
    return {batch: entry for batch in planned if (entry := offset_entry(warehouse, query, batch)) is not None}


def _add_source(warehouse: Warehouse, query: str, entries: dict[int, str]) -> None:
    """Give the entries a place for the second source: it had no offset then. Spark keeps the number of a query's sources."""
    files, folder = files_at(warehouse.root), f"{warehouse.checkpoint(query)}/offsets"
    for batch, entry in entries.items():
        if len(source_offsets(entry)) > FILES + 1:
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
