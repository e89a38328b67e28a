"""One micro-batch of ingest: bronze, then what was rejected, then the books, and the manifest last.

The ordinary micro-batch, without a rejected line, is parsed once. Only where lines were rejected their files are parsed a second time
for quarantine and tombstones: keeping parsed rows for a second use would cost every micro-batch more than that costs a damaged one.
So bronze becomes visible a moment before the tombstones of the same micro-batch. Lanes do not mistake their places for lost events in
that moment: a hole is given up only when a complete later ingest batch was seen, and the next one is not begun before this one is whole.
A crash in between is repaired when Spark runs the same micro-batch again: every write carries its transaction id, files give the same rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as F

from pipeline.faults import invariant
from pipeline.ingest.bronze_files import new_file, written_in_tasks
from pipeline.ingest.ids import broker_id, with_ids
from pipeline.ingest.names import Used, write_names
from pipeline.run_context import RunContext
from pipeline.sinks.append import app_id_of, append, append_files, append_once, append_rows, is_appended
from pipeline.sinks.manifest import write_manifest
from pipeline.sources.named import NAME_COLUMNS
from pipeline.sources.rows import EVENT, REJECT, SUMMARY
from pipeline.sources.source import AS_ROWS, RowReader
from pipeline.store.address import delta_url
from pipeline.store.arrow_places import arrow_place
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.tables.bookkeeping import INGEST_FILES, LANE_CONTROL
from schemas.tables.bronze import DISPATCH_EVENTS, PARSED_FIELDS, QUARANTINE

#: Where an event is in a log.
_PLACE = ("broker", "epoch", "seq")
_WIDE_WRITE = {
    # Writers that a task keeps open, one per date; with none Spark would sort every row by date before it is written.
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    # All columns of bronze in one generated method are more than the JVM's optimizing compiler digests: it spent as many CPU seconds
    # on that method as the tasks on a million rows, for each micro-batch anew (its number is a constant in the method).
    "spark.sql.codegen.wholeStage": "false",
}


@dataclass(frozen=True)
class MicroBatch:
    """What every write of a micro-batch needs to know."""

    spark: SparkSession
    warehouse: Warehouse
    run: RunContext
    query: str
    query_id: str
    batch_id: int

    def app_id(self, table: Table) -> str:
        """Delta's transaction id for the table."""
        return app_id_of(self.query_id, table.name)

    def written(self, table: Table) -> DataFrame:
        """The rows of this micro-batch in a table with ingest_batch, read back (Delta skips the files of other micro-batches)."""
        rows = self.spark.read.format("delta").load(self.warehouse.table(table.name))
        return rows.where(F.col("ingest_batch") == self.batch_id)


@dataclass
class FileCounts:
    """What the parser counted in one file, or in all of a table's rows."""

    bytes: int
    lines: int = 0
    rejects: int = 0
    truncated: bool = False


@dataclass(frozen=True)
class Bronze:
    """What the pass that wrote bronze saw: the tasks' summaries, and the greatest `ts` (µs; 0: no event, or written by an earlier run).

    `rows` counts what was written where it lies now.
    """

    summaries: Sequence[Row]
    newest_ts: int
    rows: Callable[[], int]


def ingest_micro_batch(micro: MicroBatch, read: RowReader) -> None:
    """Write the rows of `read` to every table of ingest, once, however often the micro-batch is run.

    Raises BrokenInvariant if lines in ≠ bronze + quarantine, by what the parser counted and what the tables hold.
    """
    written = _write_bronze(micro, read)
    summaries = written.summaries
    files = _add_up(summaries)
    if not files:
        return
    lines = sum(counts.lines for counts in files.values())
    quarantined, used = 0, used_names(micro, summaries)
    if any(counts.rejects for counts in files.values()):
        _write_quarantine(micro, read, [file for file, counts in files.items() if counts.rejects and file is not None])
        quarantined = micro.written(QUARANTINE).count()
        _write_tombstones(micro)
        used = [*used, *_brokers_of_rejected_lines(micro)]
    # Small writes wait more than they work: at the same time they take as long as the longest one.
    with ThreadPoolExecutor(3) as threads:
        count = threads.submit(written.rows)
        names = threads.submit(write_names, micro.spark, used, micro.warehouse, micro.query_id, micro.batch_id)
        books = threads.submit(_write_files, micro, files)
        bronze = count.result()
        names.result()
        books.result()
    invariant(
        lines == bronze + quarantined,
        f"ingest batch {micro.batch_id}: {lines} lines came in, but {bronze} are in dispatch_events and {quarantined} in quarantine; "
        "did one of its files change while it was read? Files must be written elsewhere and renamed in",
    )
    counts = {"rows_in": lines, "bronze": bronze, "quarantined": quarantined}
    write_manifest(micro.spark, micro.warehouse, micro.run, micro.query, micro.query_id, micro.batch_id, counts)
    micro.run.after_micro_batch(micro.query, micro.batch_id, {**counts, "newest_ts": written.newest_ts})


def _write_bronze(micro: MicroBatch, read: RowReader) -> Bronze:
    """Write the events and return what the pass saw; if the events are written already, only read the summaries."""
    app_id = micro.app_id(DISPATCH_EVENTS)
    if is_appended(micro.spark, micro.warehouse, DISPATCH_EVENTS.name, app_id, micro.batch_id):
        summaries = read(None, AS_ROWS).where(F.col("row_kind") == SUMMARY).select("summary.*").collect()
        return Bronze(summaries, 0, micro.written(DISPATCH_EVENTS).count)
    is_deltas = delta_url(micro.warehouse.table(DISPATCH_EVENTS.name)) is not None
    return _write_in_tasks(micro, read, app_id) if is_deltas else _write_by_spark(micro, read, app_id)


def _write_in_tasks(micro: MicroBatch, read: RowReader, app_id: str) -> Bronze:
    """By the tasks, into a folder that all of them can write."""
    uri = micro.warehouse.table(DISPATCH_EVENTS.name)
    rows = read(None, written_in_tasks(uri, micro.batch_id, micro.run.run_id)).collect()
    files = [new_file(row.added) for row in rows if row.added is not None]
    if files:
        append_files(uri, DISPATCH_EVENTS, files, (app_id, micro.batch_id))
    newest_ts = max((file.stats["maxValues"]["ts"] for file in files), default=0)

    def rows_in_files() -> int:
        folder, filesystem = arrow_place(uri)
        return sum(pq.read_metadata(f"{folder}/{file.path}", filesystem=filesystem).num_rows for file in files)

    return Bronze([row.summary for row in rows if row.summary is not None], newest_ts, rows_in_files)


def _write_by_spark(micro: MicroBatch, read: RowReader, app_id: str) -> Bronze:
    """By Spark's writer, to any file system that Hadoop knows."""
    rows = read(None, AS_ROWS)
    seen = Observation()
    observed = rows.observe(seen, F.collect_list("summary").alias("summaries"), F.max("ts").alias("newest_ts"))
    events = observed.where(F.col("row_kind") == EVENT).select(*(f.name for f in PARSED_FIELDS))
    with _settings_of_wide_write(micro.spark):
        append(with_ids(events, micro.batch_id), micro.warehouse, DISPATCH_EVENTS.name, app_id, micro.batch_id)
    return Bronze(seen.get["summaries"], seen.get["newest_ts"] or 0, micro.written(DISPATCH_EVENTS).count)


@contextmanager
def _settings_of_wide_write(spark: SparkSession) -> Iterator[None]:
    """Spark's settings for the write of bronze; they are the query's own, whose session is a copy."""
    for key, value in _WIDE_WRITE.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in _WIDE_WRITE:
            spark.conf.unset(key)


def used_names(micro: MicroBatch, summaries: Sequence[Row]) -> Used:
    """(broker, topic, sub) of the events: as the tasks met them, or read back from bronze where a task met too many to hand over."""
    if any(summary.names is None for summary in summaries):
        return [tuple(row) for row in micro.written(DISPATCH_EVENTS).select(*NAME_COLUMNS).distinct().collect()]
    return {tuple(name) for summary in summaries for name in summary.names}


def _brokers_of_rejected_lines(micro: MicroBatch) -> Used:
    """Brokers of rejected lines: a broker may have no other lines, and its lane shows them as quarantined."""
    return [(row.broker, None, None) for row in _readable(micro).select("broker").distinct().collect()]


def _add_up(summaries: Sequence[Row]) -> dict[str | None, FileCounts]:
    """Counts by file, in the order of their names; a large Parquet file has a summary per part of it, and a table has no file."""
    files: dict[str | None, FileCounts] = {}
    for summary in sorted(summaries, key=lambda s: s.file or ""):
        counts = files.setdefault(summary.file, FileCounts(summary.bytes))
        counts.lines += summary.lines
        counts.rejects += summary.rejects
        counts.truncated = counts.truncated or summary.truncated
    return files


def _write_quarantine(micro: MicroBatch, read: RowReader, files: Sequence[str]) -> None:
    app_id = micro.app_id(QUARANTINE)
    rejects = read(files or None, AS_ROWS).where(F.col("row_kind") == REJECT)
    beside = {"ingest_batch": F.lit(micro.batch_id).cast("long"), "quarantined_at": F.lit(micro.run.now())}
    rows = rejects.withColumns(beside).select(*QUARANTINE.names)
    append(rows, micro.warehouse, QUARANTINE.name, app_id, micro.batch_id)


def _readable(micro: MicroBatch) -> DataFrame:
    """Rejected lines of the micro-batch whose envelope could be read."""
    return micro.written(QUARANTINE).dropna(subset=[*_PLACE, "ts", "ns"])


def _write_tombstones(micro: MicroBatch) -> None:
    """One tombstone per place in a log, of the rejected lines whose envelope could be read."""
    # Of several rejected lines for one place one is taken, always the same.
    clocks = F.min(F.struct("ts", "ns"))
    tombstones = (
        _readable(micro)
        .groupBy(*_PLACE)
        .agg(clocks.alias("clocks"))
        .select(
            broker_id().alias("broker_id"),
            F.lit("tombstone").alias("kind"),
            "epoch",
            "seq",
            "clocks.ts",
            "clocks.ns",
            F.lit(micro.batch_id).cast("long").alias("ingest_batch"),
            F.lit(micro.run.now()).alias("issued_at"),
        )
        .coalesce(1)
    )
    append_once(tombstones, micro.warehouse, LANE_CONTROL.name, micro.app_id(LANE_CONTROL), micro.batch_id)


def _write_files(micro: MicroBatch, files: Mapping[str | None, FileCounts]) -> None:
    rows = [
        (file, counts.bytes, counts.lines, "truncated" if counts.truncated else "none", micro.batch_id)
        for file, counts in files.items()
        if file is not None
    ]
    if rows:
        entries = [dict(zip(INGEST_FILES.names, row, strict=True)) for row in rows]
        append_rows(micro.spark, micro.warehouse, INGEST_FILES, entries, (micro.app_id(INGEST_FILES), micro.batch_id))
