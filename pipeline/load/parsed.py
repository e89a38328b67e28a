"""One share of a log's files, read and written to bronze by one process."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipeline.ingest.bronze_files import BronzeFiles
from pipeline.load.processes import count_events
from pipeline.parse.line import ParseLimits
from pipeline.parse.outcome import REJECT_SCHEMA
from pipeline.sinks.table_file import NewFile
from pipeline.sources.listed_files import FileReader, ListedFile
from pipeline.sources.named import TaskNames
from pipeline.sources.rows import EVENT, REJECT, SUMMARY

#: Names go to the process that began this one, whose memory holds them all anyway.
_ALL_NAMES = 1 << 40


@dataclass
class Parsed:
    """Files of bronze that were written, rejected lines (REJECT_SCHEMA), and a summary (SUMMARY_TYPE) of each file or part of one."""

    files: list[NewFile] = field(default_factory=list)
    rejects: list[pa.RecordBatch] = field(default_factory=list)
    summaries: list[dict[str, Any]] = field(default_factory=list)


def parse_share(
    number: int, share: Sequence[ListedFile], read: FileReader, limits: ParseLimits, folder: str, ingest_batch: int, run_id: str
) -> Parsed:
    """Write the events of `share` below `folder`, that of dispatch_events. Raises BadWarehouse for a file that cannot be read."""
    parsed, met = Parsed(), TaskNames(_ALL_NAMES)
    files = BronzeFiles(folder, ingest_batch, f"{run_id}-{ingest_batch}-{number}")
    for file in share:
        for rows in read(file, limits, met):
            kind = rows["row_kind"][0].as_py() if rows.num_rows else None
            if kind == EVENT:
                files.add(rows)
                count_events(rows.num_rows)
            elif kind == REJECT:
                parsed.rejects.append(pa.RecordBatch.from_arrays([rows[name] for name in REJECT_SCHEMA.names], schema=REJECT_SCHEMA))
            elif kind == SUMMARY:
                parsed.summaries += rows["summary"].to_pylist()
    parsed.files += files.close()
    return parsed
