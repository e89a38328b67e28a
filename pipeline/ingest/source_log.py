"""Which files Spark's file source took up, by its log in the checkpoint. Spark does not report a file that is gone before it is read.

Read here, not by a Spark job: for some lines that would cost each micro-batch some tenths of a second.
"""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

from pipeline.faults import invariant
from pipeline.store.files import files_at
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import source_offsets

#: Ends the name of a log file that holds everything before it, too; each so many files Spark writes one.
COMPACTED = ".compact"
_KEYS = {"batchId", "path"}
NOTHING = -1
#: Place of the file source among the sources of ingest. The second one wakes the query (following.py).
FILES = 0


def planned_files(warehouse: Warehouse, query: str, batch_id: int) -> list[str]:
    """Paths as Spark lists them (`file:/a b/c`) of what was planned for a micro-batch of a file source.

    Raises BrokenInvariant if the log does not name them: nobody would notice one that is gone.
    """
    with ThreadPoolExecutor(2) as threads:
        entries_of = threads.map(lambda batch: offset_entry(warehouse, query, batch), (batch_id - 1, batch_id))
        before, last = map(_last_number, entries_of)
    numbers = range(before + 1, last + 1)
    if not numbers:
        return []
    log = {number: name for number, name in _log_files(warehouse, query).items() if number in numbers}
    entries = [(number, file) for number, file in _entries(warehouse, query, log.values()) if number in numbers]
    unnamed = set(numbers) - {number for number, _ in entries}
    invariant(not unnamed, f"{query}: the file source's log in the checkpoint names no file under {sorted(unnamed)}")
    return [file for _, file in entries]


def finished_until(warehouse: Warehouse, query: str) -> int:
    """Number of the newest file of the log whose files are of finished micro-batches: Spark will not take them up again. −1: of none."""
    return _last_number(offset_entry(warehouse, query, read_checkpoint(warehouse, query).last_committed))


def files_until(warehouse: Warehouse, query: str, last: int) -> set[str]:
    """Paths as Spark lists them of everything that was taken up until file `last` of the log."""
    log = {number: name for number, name in _log_files(warehouse, query).items() if number <= last}
    # No older ones: Spark may delete them while they are read.
    first = max((number for number, name in log.items() if name.endswith(COMPACTED)), default=0)
    return {file for _, file in _entries(warehouse, query, [name for number, name in log.items() if number >= first])}


def _last_number(entry: str | None) -> int:
    """Newest file of the log that the file source was to read by an entry of the offset log. −1: none."""
    offset = source_offsets(entry)[FILES] if entry else None
    return NOTHING if offset is None else int(offset["logOffset"])


def log_folder(warehouse: Warehouse, query: str) -> str:
    """Where Spark keeps the log."""
    return f"{warehouse.checkpoint(query)}/sources/0"


def _log_files(warehouse: Warehouse, query: str) -> dict[int, str]:
    """Names of the log's files by their numbers."""
    names = files_at(warehouse.root).names(log_folder(warehouse, query))
    return {int(number): name for name in names if (number := name.removesuffix(COMPACTED)).isdigit()}


def _entries(warehouse: Warehouse, query: str, names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """(number, path) of what the log's files `names` hold."""
    for name in names:
        # The first line is the version of the format.
        for line in (files_at(warehouse.root).read(f"{log_folder(warehouse, query)}/{name}") or "").splitlines()[1:]:
            if (entry := log_entry(line)) is not None:
                yield entry


def log_entry(line: str) -> tuple[int, str] | None:
    """(number of the log's file, path as Spark lists it) of a line; None if it has not the keys that Spark writes."""
    entry = json.loads(line)
    return (entry["batchId"], _as_listed(entry["path"])) if entry.keys() >= _KEYS else None


def _as_listed(path: str) -> str:
    """The log's paths are percent-encoded URIs, those of listings are not."""
    path = unquote(path)
    return "file:/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path
