"""The files of a log into bronze, quarantine and the books, as one micro-batch of ingest."""

import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from pipeline.faults import invariant
from pipeline.ingest.names import Used, write_names
from pipeline.ingest.rejected import Tombstone, brokers_of, control_rows, quarantine_rows, tombstones
from pipeline.load.parsed import Parsed, parse_share
from pipeline.load.processes import Processes
from pipeline.parse.line import ParseLimits
from pipeline.parse.outcome import REJECT_SCHEMA
from pipeline.run_context import RunContext
from pipeline.sinks.append import app_id_of, append_files, append_rows
from pipeline.sinks.manifest import append_manifest
from pipeline.sinks.table_file import NewFile
from pipeline.sources.listed_files import Kind, ListedFile, local_path, parts, share_out
from pipeline.sources.named import NAME_COLUMNS
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import files_entry
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.tables.bookkeeping import INGEST_FILES, LANE_CONTROL
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE

QUERY = "ingest"
#: The only micro-batch of a load, of both queries.
BATCH = 0


@dataclass(frozen=True)
class Ingested:
    """What the processes made of a log's files."""

    parsed: Sequence[Parsed]

    @cached_property
    def files(self) -> list[NewFile]:
        """Files of bronze."""
        return [file for share in self.parsed for file in share.files]

    @cached_property
    def rejects(self) -> pa.Table:
        """Rejected lines, REJECT_SCHEMA."""
        return pa.Table.from_batches([batch for share in self.parsed for batch in share.rejects], REJECT_SCHEMA)

    @cached_property
    def tombstones(self) -> list[Tombstone]:
        """Places of rejected lines."""
        return tombstones(self.rejects)

    @property
    def names(self) -> Used:
        """What to name: what events have, and brokers of which there are rejected lines only."""
        summaries = [summary for share in self.parsed for summary in share.summaries]
        met = {tuple(name[column] for column in NAME_COLUMNS) for summary in summaries for name in summary["names"]}
        return [*met, *((broker, None, None) for broker in brokers_of(self.rejects))]


def begin_parsing(
    processes: Processes, count: int, files: Sequence[ListedFile], kind: Kind, limits: ParseLimits, folder: str, run_id: str
) -> list[Future[Parsed]]:
    """Let `count` processes share the files, and write their events below `folder`, that of dispatch_events."""
    # Few files keep all processes busy only if they can be cut.
    least = count if kind.can_be_cut and len(files) < count else 1
    cut = [part for file in files for part in parts(file, max(least, kind.parts_of(file)))]
    shares = share_out(cut, count, kind.work_of)
    return [processes.submit(parse_share, number, share, kind.read, limits, folder, BATCH, run_id) for number, share in enumerate(shares)]


def write_ingested(
    warehouse: Warehouse,
    ingested: Ingested,
    listed: Sequence[ListedFile],
    grown: Sequence[ListedFile],
    run: RunContext,
    query_id: str,
) -> dict[str, int]:
    """Commit what the processes wrote, and write everything else that ingest writes; returns the counts of batch_manifest.

    `listed` are the log's files as they were read, `grown` those of them that are longer now.
    Raises BrokenInvariant if lines in ≠ bronze + quarantine.
    """
    if ingested.files:
        append_files(
            warehouse.table(DISPATCH_EVENTS.name), DISPATCH_EVENTS, ingested.files, (app_id_of(query_id, DISPATCH_EVENTS.name), BATCH)
        )
    now = run.now()
    _append(warehouse, QUARANTINE, quarantine_rows(ingested.rejects, BATCH, now), query_id)
    _append(warehouse, LANE_CONTROL, control_rows(ingested.tombstones, BATCH, now), query_id)
    write_names(ingested.names, warehouse, query_id, BATCH)
    books = _file_rows(ingested, listed, grown)
    _append(warehouse, INGEST_FILES, pa.Table.from_pylist(books, arrow_schema(INGEST_FILES.fields)), query_id)
    lines = sum(row["lines"] for row in books)
    bronze, quarantined = sum(file.rows for file in ingested.files), ingested.rejects.num_rows
    invariant(lines == bronze + quarantined, f"{lines} lines came in, but {bronze} are in dispatch_events and {quarantined} in quarantine")
    counts = {"rows_in": lines, "bronze": bronze, "quarantined": quarantined}
    append_manifest(warehouse, run, QUERY, query_id, BATCH, counts, files_entry())
    return counts


def grown_files(listed: Sequence[ListedFile]) -> list[ListedFile]:
    """Those that are longer now than they were read, with the length that they have now."""
    found = []
    for file in listed:
        try:
            length = os.stat(local_path(file.path)).st_size
        except FileNotFoundError:
            continue
        if length > file.length:
            found.append(ListedFile(file.path, length))
    return found


def _append(warehouse: Warehouse, table: Table, rows: pa.Table, query_id: str) -> None:
    append_rows(warehouse, table, rows, (app_id_of(query_id, table.name), BATCH))


def _file_rows(ingested: Ingested, listed: Sequence[ListedFile], grown: Sequence[ListedFile]) -> list[dict[str, Any]]:
    """Rows of ingest_files: each file once, however many processes read it, and once more if it has grown since."""
    rows: dict[str, dict[str, Any]] = {}
    for file in listed:
        rows[file.path] = {"source_file": file.path, "bytes": file.length, "lines": 0, "fault": "none", "ingest_batch": BATCH}
    for share in ingested.parsed:
        for summary in share.summaries:
            row = rows[summary["file"]]
            row["lines"] += summary["lines"]
            if summary["truncated"]:
                row["fault"] = "truncated"
    again = [rows[file.path] | {"bytes": file.length, "lines": 0, "fault": "grew"} for file in grown]
    return [*rows.values(), *again]
