"""One micro-batch of ingest: bronze, then what was rejected, then the books, and the manifest last.

The tasks that parse the log write the files of bronze and of quarantine; here they are committed. Bronze becomes visible a moment before
the tombstones of the same micro-batch. Lanes do not mistake their places for lost events in that moment: a gap is given up only when a
complete later ingest batch was seen, and the next one is not begun before this one is whole.
A crash in between is repaired when Spark runs the same micro-batch again: the files of the log give the same rows, they are written once
more, and of each table only what is not committed yet is committed. VACUUM deletes the rest.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow.compute as pc
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from pipeline.faults import invariant
from pipeline.ingest.bronze_files import written_in_tasks
from pipeline.ingest.rejected_lines import brokers_of, control_rows, rejected_in, tombstones
from pipeline.run_context import RunContext
from pipeline.sources.names_met import NAME_COLUMNS
from pipeline.sources.source import RowReader
from pipeline.store.arrow_reader import dataset_at, text_field
from pipeline.warehouse.append import app_id_of, append_files, append_rows
from pipeline.warehouse.data_files import NewFile, rows_in
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.manifest import write_manifest
from pipeline.warehouse.names import Used, write_names
from schemas.field import Table
from schemas.tables.bookkeeping import INGEST_FILES, LANE_CONTROL
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE, SEQ_TAKEN


@dataclass(frozen=True)
class MicroBatch:
    """What every write of a micro-batch needs to know."""

    spark: SparkSession
    warehouse: Warehouse
    run: RunContext
    query: str
    query_id: str
    batch_id: int

    def once(self, table: Table) -> tuple[str, int]:
        """Delta's transaction id for the table, and the version."""
        return app_id_of(self.query_id, table.name), self.batch_id

    def events(self) -> DataFrame:
        """The rows of this micro-batch in bronze, read back (Delta skips the files of other micro-batches)."""
        rows = self.spark.read.format("delta").load(self.warehouse.table(DISPATCH_EVENTS.name))
        return rows.where(F.col("ingest_batch") == self.batch_id)

    def count(self, table: Table) -> int:
        """How many rows the table has that ingest wrote in this micro-batch."""
        own = pc.field("ingest_batch") == self.batch_id
        # Lanes put events of the same micro-batch into quarantine, too: those are in bronze.
        own = own & (text_field("reason") != SEQ_TAKEN) if table is QUARANTINE else own
        return int(dataset_at(self.warehouse.table(table.name)).count_rows(filter=own))


@dataclass
class FileCounts:
    """What the parser counted in one file, or in all of a table's rows."""

    bytes: int
    lines: int = 0
    rejects: int = 0
    truncated: bool = False


@dataclass(frozen=True)
class Written:
    """What the tasks wrote, by the name of the table, and the summaries of what they read."""

    files: Mapping[str, Sequence[NewFile]]
    summaries: Sequence[Row]

    @property
    def newest_ts(self) -> int:
        """The greatest `ts` of an event (µs; 0: none)."""
        return max((file.stats["maxValues"]["ts"] for file in self.files[DISPATCH_EVENTS.name]), default=0)


def ingest_micro_batch(micro: MicroBatch, read: RowReader) -> None:
    """Write the rows of `read` to every table of ingest, once, however often the micro-batch is run.

    Raises BrokenInvariant if lines in ≠ bronze + quarantine, by what the parser counted and what the tables hold.
    """
    written = _written(micro, read)
    files = _add_up(written.summaries)
    if not files:
        return
    is_new = _commit(micro, DISPATCH_EVENTS, written)
    lines, rejected = sum(counts.lines for counts in files.values()), any(counts.rejects for counts in files.values())
    used = used_names(micro, written.summaries)
    if rejected:
        used = [*used, *((broker, None, None) for broker in _write_rejected(micro, written))]
    # Small writes wait more than they work: at the same time they take as long as the longest one.
    with ThreadPoolExecutor(3) as threads:
        count = threads.submit(_rows_in_files, micro, written) if is_new else threads.submit(micro.count, DISPATCH_EVENTS)
        names = threads.submit(write_names, used, micro.warehouse, micro.query_id, micro.batch_id)
        books = threads.submit(_write_files, micro, files)
        bronze, quarantined = count.result(), micro.count(QUARANTINE) if rejected else 0
        names.result()
        books.result()
    invariant(
        lines == bronze + quarantined,
        f"ingest batch {micro.batch_id}: {lines} lines came in, but {bronze} are in dispatch_events and {quarantined} in quarantine; "
        "did one of its files change while it was read? Files must be written elsewhere and renamed in",
    )
    counts = {"rows_in": lines, "bronze": bronze, "quarantined": quarantined}
    write_manifest(micro.warehouse, micro.run, micro.query, micro.query_id, micro.batch_id, counts)
    newest_ts = written.newest_ts if is_new else 0
    micro.run.after_micro_batch(micro.query, micro.batch_id, {**counts, "newest_ts": newest_ts})


def _written(micro: MicroBatch, read: RowReader) -> Written:
    rows = read(written_in_tasks(micro.warehouse, micro.batch_id, micro.run.run_id, micro.run.now())).collect()
    files: dict[str, list[NewFile]] = {DISPATCH_EVENTS.name: [], QUARANTINE.name: []}
    for row in rows:
        if row.added is not None:
            files[row.table].append(NewFile.from_json(row.added))
    return Written(files, [row.summary for row in rows if row.summary is not None])


def _commit(micro: MicroBatch, table: Table, written: Written) -> bool:
    """Commit the files of the table; False if an earlier run of the micro-batch did."""
    return append_files(micro.warehouse.table(table.name), table, written.files[table.name], micro.once(table))


def _rows_in_files(micro: MicroBatch, written: Written) -> int:
    """Rows of bronze, counted where they lie now."""
    return sum(rows_in(micro.warehouse.table(DISPATCH_EVENTS.name), file) for file in written.files[DISPATCH_EVENTS.name])


def _write_rejected(micro: MicroBatch, written: Written) -> list[str]:
    """Quarantine, then a tombstone for each place of its lines; returns the lines' brokers."""
    _commit(micro, QUARANTINE, written)
    rejects = rejected_in(micro.warehouse.table(QUARANTINE.name), written.files[QUARANTINE.name])
    rows = control_rows(tombstones(rejects), micro.batch_id, micro.run.now())
    append_rows(micro.warehouse, LANE_CONTROL, rows, micro.once(LANE_CONTROL))
    return brokers_of(rejects)


def used_names(micro: MicroBatch, summaries: Sequence[Row]) -> Used:
    """(broker, topic, sub) of the events: as the tasks met them, or read back from bronze where a task met too many to hand over."""
    if any(summary.names is None for summary in summaries):
        return [tuple(row) for row in micro.events().select(*NAME_COLUMNS).distinct().collect()]
    return {tuple(name) for summary in summaries for name in summary.names}


def _add_up(summaries: Sequence[Row]) -> dict[str | None, FileCounts]:
    """Counts by file, in the order of their names; a large Parquet file has a summary per part of it, and a table has no file."""
    files: dict[str | None, FileCounts] = {}
    for summary in sorted(summaries, key=lambda s: s.file or ""):
        counts = files.setdefault(summary.file, FileCounts(summary.bytes))
        counts.lines += summary.lines
        counts.rejects += summary.rejects
        counts.truncated = counts.truncated or summary.truncated
    return files


def _write_files(micro: MicroBatch, files: Mapping[str | None, FileCounts]) -> None:
    rows = [
        (file, counts.bytes, counts.lines, "truncated" if counts.truncated else "none", micro.batch_id)
        for file, counts in files.items()
        if file is not None
    ]
    if rows:
        entries = [dict(zip(INGEST_FILES.names, row, strict=True)) for row in rows]
        append_rows(micro.warehouse, INGEST_FILES, entries, micro.once(INGEST_FILES))
