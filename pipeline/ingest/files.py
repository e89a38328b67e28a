"""Files that changed after they were read: Spark never looks at a file twice, so this job reports them."""

import logging
from typing import NamedTuple

import pyarrow as pa

from pipeline.ingest.source_log import NOTHING, files_until, finished_until
from pipeline.run_context import RunContext
from pipeline.settings import Settings
from pipeline.sources.kind import open_source
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import INGEST, Warehouse
from schemas.tables.bookkeeping import INGEST_FILES

_LOG = logging.getLogger(__name__)
#: Of a file that was empty when it was listed there is no row: no micro-batch read it.
_NO_BATCH = -1


class Grown(NamedTuple):
    """A file that is longer than when it was read."""

    file: str
    bytes: int
    bytes_read: int
    ingest_batch: int


def report_grown_files(warehouse: Warehouse, events: str, settings: Settings, run: RunContext) -> int:
    """Report each file at `events` that is longer than when it was read, once: a WARN line and a row of ingest_files with fault 'grew'.

    Its `bytes` are the length now, its `lines` 0; what was appended is in no table. May run beside the ingest query. Returns how many
    files were reported now.
    """
    listed = open_source(events, settings).listing()
    if listed is None:
        return 0
    # Before the books: what was committed before they are read is in them.
    finished = finished_until(warehouse, INGEST)
    books = arrow_rows(warehouse.table(INGEST_FILES.name), among={"source_file": [file.path for file in listed]})
    reported, read = _reported_and_read(books)
    now = [file for file in listed if file.path not in reported]
    grown = [Grown(file.path, file.length, *read[file.path]) for file in now if file.path in read and file.length > read[file.path][0]]
    unread = [file for file in now if file.path not in read]
    # Of a file that was empty only Spark's log knows that it was seen: no query was handed it.
    if finished != NOTHING and unread:
        seen = files_until(warehouse, INGEST, finished)
        grown += [Grown(file.path, file.length, 0, _NO_BATCH) for file in unread if file.path in seen]
    for file in grown:
        _LOG.warning(
            "%s grew after it was read: %d bytes then, %d now; what was appended is not read", file.file, file.bytes_read, file.bytes
        )
    rows = [(file.file, file.bytes, 0, "grew", file.ingest_batch) for file in grown]
    append_rows(warehouse, INGEST_FILES, [dict(zip(INGEST_FILES.names, row, strict=True)) for row in rows])
    return len(grown)


def _reported_and_read(books: pa.Table) -> tuple[set[str], dict[str, tuple[int, int]]]:
    """Files of which it is known that they grew; and of the others the greatest length (bytes) and micro-batch with which one was read."""
    reported: set[str] = set()
    read: dict[str, tuple[int, int]] = {}
    for file, fault, size, batch in zip(
        *(books[name].to_pylist() for name in ("source_file", "fault", "bytes", "ingest_batch")), strict=True
    ):
        if fault == "grew":
            reported.add(file)
        else:
            known = read.get(file, (size, batch))
            read[file] = (max(known[0], size), max(known[1], batch))
    return reported, read
