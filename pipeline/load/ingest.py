"""The files of a log into bronze, quarantine and the books, as one micro-batch of ingest."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from pipeline.faults import invariant
from pipeline.ingest.rejected_lines import Tombstone, brokers_of, control_rows, rejected_in, tombstones
from pipeline.load.parsing import Parsed, Reading, parse_share
from pipeline.load.processes import Processes
from pipeline.run_context import RunContext
from pipeline.sources.listed_files import Kind, share_out
from pipeline.sources.listing import ListedFile, files_now
from pipeline.sources.names_met import NAME_COLUMNS
from pipeline.sources.place import Place
from pipeline.warehouse.append import app_id_of, append_files, append_rows
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import INGEST, Warehouse
from pipeline.warehouse.manifest import append_manifest
from pipeline.warehouse.names import Text, name_rows, texts_of_ids
from pipeline.warehouse.offsets import files_entry
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.tables.bookkeeping import INGEST_FILES, LANE_CONTROL, NAMES
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE

#: The only micro-batch of a load, of both queries.
BATCH = 0


@dataclass(frozen=True)
class Ingested:
    """What the processes made of a log's files; `rejects` are the places (PLACED) of rejected lines."""

    parsed: Sequence[Parsed]
    rejects: pa.Table

    def files_of(self, table: Table) -> list[NewFile]:
        """Files of bronze, or of quarantine."""
        return [file for share in self.parsed for file in share.files.get(table.name, ())]

    @cached_property
    def tombstones(self) -> list[Tombstone]:
        """Places of rejected lines, sorted by broker and place."""
        return tombstones(self.rejects)

    @cached_property
    def names(self) -> dict[int, Text]:
        """What to name: what events have, and brokers of which there are rejected lines only."""
        summaries = [summary for share in self.parsed for summary in share.summaries]
        met = {tuple(name[column] for column in NAME_COLUMNS) for summary in summaries for name in summary["names"]}
        return texts_of_ids([*met, *((broker, None, None) for broker in brokers_of(self.rejects))])


def begin_parsing(processes: Processes, files: Sequence[ListedFile], kind: Kind, how: Reading) -> list[Future[Parsed]]:
    """Let the processes share the files."""
    return [processes.submit(parse_share, number, share, how) for number, share in enumerate(share_out(files, processes.count, kind))]


def ingested(warehouse: Warehouse, parsed: Sequence[Parsed]) -> Ingested:
    """All that the processes have made."""
    rejected = [file for share in parsed for file in share.files.get(QUARANTINE.name, ())]
    return Ingested(parsed, rejected_in(warehouse.table(QUARANTINE.name), rejected))


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
    for table in (DISPATCH_EVENTS, QUARANTINE):
        append_files(warehouse.table(table.name), table, ingested.files_of(table), (app_id_of(query_id, table.name), BATCH))
    _append(warehouse, LANE_CONTROL, control_rows(ingested.tombstones, BATCH, run.now()), query_id)
    _append(warehouse, NAMES, name_rows(ingested.names), query_id)
    books = _file_rows(ingested, listed, grown)
    _append(warehouse, INGEST_FILES, pa.Table.from_pylist(books, arrow_schema(INGEST_FILES.fields)), query_id)
    lines = sum(row["lines"] for row in books)
    bronze, quarantined = (sum(file.rows for file in ingested.files_of(table)) for table in (DISPATCH_EVENTS, QUARANTINE))
    invariant(lines == bronze + quarantined, f"{lines} lines came in, but {bronze} are in dispatch_events and {quarantined} in quarantine")
    counts = {"rows_in": lines, "bronze": bronze, "quarantined": quarantined}
    append_manifest(warehouse, run, INGEST, query_id, BATCH, counts, files_entry)
    return counts


def grown_files(place: Place, listed: Sequence[ListedFile]) -> list[ListedFile]:
    """Those that are longer now than they were read, with the length that they have now."""
    lengths = {file.path: file.length for file in listed}
    return [file for file in files_now(place) if file.length > lengths.get(file.path, file.length)]


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
