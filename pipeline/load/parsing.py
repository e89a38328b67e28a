"""One share of a log's files, read by one process, which writes its events to bronze and its rejected lines to quarantine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.ingest.bronze_files import written_rows
from pipeline.load.processes import EVENTS_READ, count
from pipeline.sources.listed_files import FileReader
from pipeline.sources.listing import ListedFile
from pipeline.sources.names_met import TaskNames
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.rows import EVENT
from pipeline.sources.source import Batches
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse

#: Names go to the process that began this one, whose memory holds them all anyway.
_ALL_NAMES = 1 << 40


@dataclass(frozen=True)
class Reading:
    """How files are read, and where to: `now` is when lines are rejected, no other load may use `run_id`."""

    read: FileReader
    limits: ParseLimits
    warehouse: Warehouse
    ingest_batch: int
    run_id: str
    now: datetime


@dataclass
class Parsed:
    """Files that were written, by table, and a summary (SUMMARY_TYPE) of each file of the log or part of one."""

    files: dict[str, list[NewFile]] = field(default_factory=dict)
    summaries: list[dict[str, Any]] = field(default_factory=list)


def parse_share(number: int, share: Sequence[ListedFile], how: Reading) -> Parsed:
    """Read the files of the share with this `number`. Raises BadWarehouse for one that cannot be read."""
    parsed = Parsed()
    name = f"{how.run_id}-{how.ingest_batch}-{number}"
    for batch in written_rows(how.warehouse, how.ingest_batch, name, how.now, _rows(share, how)):
        for row in batch.to_pylist():
            if row["added"] is not None:
                parsed.files.setdefault(row["table"], []).append(NewFile.from_json(row["added"]))
            if row["summary"] is not None:
                parsed.summaries.append(row["summary"])
    return parsed


def _rows(share: Sequence[ListedFile], how: Reading) -> Batches:
    met = TaskNames(_ALL_NAMES)
    for file in share:
        for rows in how.read(file, how.limits, met):
            yield rows
            if rows.num_rows and rows["row_kind"][0].as_py() == EVENT:
                count(EVENTS_READ, rows.num_rows)
