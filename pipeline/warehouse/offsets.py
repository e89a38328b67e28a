"""What lies in a query's checkpoint folder: who the query is, how far it planned and committed, where its sources stand. Reads only."""

import json
from dataclasses import dataclass
from typing import Any

from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.layout import Warehouse

#: An offset log entry begins with a version line and a line of metadata; a line per source follows.
_LINES_BEFORE_SOURCES = 2
_NO_OFFSET = "-"
#: What lanes stream from, in the order of their sources.
STREAMED = ("dispatch_events", "lane_control")


@dataclass(frozen=True)
class Checkpoint:
    """`query_id` is None where there is no metadata, or where it is `damaged`; micro-batches ascend, Spark keeps the newest only."""

    query_id: str | None
    damaged: bool
    planned: tuple[int, ...]
    committed: tuple[int, ...]

    @property
    def last_planned(self) -> int | None:
        """Newest micro-batch that was planned; None: none was."""
        return self.planned[-1] if self.planned else None

    @property
    def last_committed(self) -> int | None:
        """Newest micro-batch that was finished; None: none was."""
        return self.committed[-1] if self.committed else None


@dataclass(frozen=True)
class DeltaOffset:
    """How far a stream over a Delta table has read: everything before `version`, and of it the files up to `index` (< 0: none).

    While `initial`, the stream reads the table as it stood at `version`, which it found when it began.
    """

    version: int
    index: int
    initial: bool

    @property
    def whole(self) -> int:
        """Newest version of which everything was read; −1: none."""
        return -1 if self.initial else self.version - 1


def checkpoint_in(files: SmallFiles, warehouse: Warehouse, query: str) -> Checkpoint:
    """The checkpoint of `query`; empty where there is none."""
    folder = warehouse.checkpoint(query)
    metadata = files.read(f"{folder}/metadata")
    query_id, damaged = None, False
    if metadata is not None:
        try:
            query_id = str(json.loads(metadata)["id"])
        except (ValueError, KeyError, TypeError):
            damaged = True
    return Checkpoint(query_id, damaged, _batches(files.names(f"{folder}/offsets")), _batches(files.names(f"{folder}/commits")))


def entry_in(files: SmallFiles, warehouse: Warehouse, query: str, batch_id: int | None) -> str | None:
    """Spark's offset log entry of a micro-batch, whole; None if Spark has none of it, or keeps it no more (of None: no micro-batch)."""
    return None if batch_id is None else files.read(f"{warehouse.checkpoint(query)}/offsets/{batch_id}")


def source_offsets(entry: str) -> list[dict[str, Any] | None]:
    """The offsets of an entry, one per source in the query's order; None for a source that had none yet."""
    lines = [line for line in entry.splitlines()[_LINES_BEFORE_SOURCES:] if line]
    return [None if line == _NO_OFFSET else dict(json.loads(line)) for line in lines]


def is_same_input(entry: str, other: str) -> bool:
    """Whether two entries say the same. A source that was added to the query later, and had no offset yet, makes no difference."""
    return _without_empty_sources(entry) == _without_empty_sources(other)


def _without_empty_sources(entry: str) -> list[str]:
    lines = entry.strip().splitlines()
    while len(lines) > _LINES_BEFORE_SOURCES + 1 and lines[-1] == _NO_OFFSET:
        lines.pop()
    return lines


def with_another_source(entry: str) -> str:
    """The entry of a query that has one more source, which had no offset yet."""
    return f"{entry.rstrip()}\n{_NO_OFFSET}"


def entry_settings(entry: str) -> dict[str, str]:
    """Spark's settings that the micro-batch, and so every later one, was run with."""
    return dict(json.loads(entry.splitlines()[1]).get("conf", {}))


def delta_offsets(entry: str) -> list[DeltaOffset | None]:
    """The offsets of an entry whose sources are all Delta tables, as those of lanes (STREAMED)."""
    return [None if offset is None else _delta_offset(offset) for offset in source_offsets(entry)]


def files_entry() -> str:
    """An entry of an offset log whose source is files, all of which are read."""
    return _entry([{"logOffset": 0}])


def read_whole_entry(*versions: int) -> str:
    """An entry whose sources are Delta tables that are read up to and with these versions."""
    of_stream = {"sourceVersion": 1, "index": -1, "isStartingVersion": False}
    return _entry([{**of_stream, "reservoirVersion": version + 1} for version in versions])


def _entry(offsets: list[dict[str, Any]]) -> str:
    return "\n".join(["v1", "{}", *map(json.dumps, offsets)])


def _delta_offset(offset: dict[str, Any]) -> DeltaOffset:
    return DeltaOffset(int(offset["reservoirVersion"]), int(offset["index"]), bool(offset["isStartingVersion"]))


def _batches(names: list[str]) -> tuple[int, ...]:
    """Numbers of micro-batches, ascending; other files (checksums, temporary ones) are none."""
    return tuple(sorted(int(name) for name in names if name.isdigit()))
