"""Bronze written by the tasks that parse it: each task writes Parquet by columns, and the driver commits all files in one transaction.

Spark would take every row of seventy columns into the JVM and write it value by value, which costs several times as much
(docs/performance.md). What a task wrote and nobody committed is no part of the table; VACUUM deletes it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql.types import StringType, StructField, StructType

from pipeline.faults import invariant
from pipeline.ingest.event_ids import EventIds, event_dates
from pipeline.packets.files import name_with_packets
from pipeline.packets.of_events import packet_columns
from pipeline.sinks.append import NewFile
from pipeline.sources.rows import EVENT, SUMMARY, SUMMARY_STRUCT, SUMMARY_TYPE
from pipeline.sources.source import Batches, InTask
from pipeline.store.new_files import begun_file, size_and_time
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import DISPATCH_EVENTS, LANE_LAYOUT, LANE_PACKET

#: Rows that a task buffers, and that Parquet compresses and skips together.
ROW_GROUP_ROWS = 65_536
#: The partition of a file is in its folder's name, so no column of it.
_FILE_SCHEMA = arrow_schema([f for f in DISPATCH_EVENTS.fields if f.name not in DISPATCH_EVENTS.partition_by])
#: Columns that a row group gets when it is whole.
_OF_ROW_GROUPS = (LANE_LAYOUT, LANE_PACKET)
_EVENT_SCHEMA = pa.schema([f for f in _FILE_SCHEMA if f.name not in _OF_ROW_GROUPS])
#: Names repeat, numbers mostly do not.
_DICTIONARIES = [f.name for f in _FILE_SCHEMA if pa.types.is_string(f.type)]
#: Neighbouring numbers are close: their differences take fewer bits, and less time to compress and to read.
_ENCODINGS = {f.name: "DELTA_BINARY_PACKED" for f in _FILE_SCHEMA if pa.types.is_integer(f.type) or pa.types.is_timestamp(f.type)}
#: Packets are compressed already.
_COMPRESSION = {f.name: "none" if f.name == LANE_PACKET else "zstd" for f in _FILE_SCHEMA}
#: Columns by whose bounds Delta skips files: what the table declares.
_BOUNDED = DISPATCH_EVENTS.properties["delta.dataSkippingStatsColumns"].split(",")
_EPOCH_DAY = date(1970, 1, 1)
#: What leaves a task: a file that it wrote, as JSON, or a summary.
_SPARK_SCHEMA = StructType([StructField("added", StringType()), StructField("summary", SUMMARY_STRUCT)])
_SCHEMA = pa.schema([("added", pa.string()), ("summary", SUMMARY_TYPE)])


def written_in_tasks(folder: str, ingest_batch: int, run_id: str) -> InTask:
    """Tasks that write the events they read below `folder`, that of dispatch_events, and give `added` (NewFile) and summaries.

    Rejected lines are left out. `run_id` is a part of the files' names: a driver of before that still runs must not write the same.
    """
    return InTask(partial(_written, folder, ingest_batch, run_id), _SPARK_SCHEMA)


def new_file(added: str) -> NewFile:
    """What a task reported as `added`."""
    return NewFile(**json.loads(added))


def _written(folder: str, ingest_batch: int, run_id: str, rows: Batches) -> Batches:
    task = TaskContext.get()
    attempt = f"{task.partitionId()}-{task.taskAttemptId()}" if task is not None else "0"
    files = TaskFiles(folder, ingest_batch, name_with_packets(f"{run_id}-{ingest_batch}-{attempt}"))
    for batch in rows:
        kind = batch["row_kind"][0].as_py() if batch.num_rows else None
        if kind == EVENT:
            files.add(batch)
        elif kind == SUMMARY:
            yield pa.RecordBatch.from_arrays([pa.nulls(batch.num_rows, pa.string()), batch["summary"]], schema=_SCHEMA)
    added = [json.dumps(file._asdict()) for file in files.close()]
    yield pa.RecordBatch.from_arrays([pa.array(added, pa.string()), pa.nulls(len(added), SUMMARY_TYPE)], schema=_SCHEMA)


@dataclass
class TaskFiles:
    """The files of one task, one per date (UTC) of the events that it meets, each called `name`."""

    folder: str
    ingest_batch: int
    name: str
    _ids: EventIds = field(default_factory=EventIds)
    _of_dates: dict[int, "_DateFile"] = field(default_factory=dict)

    def add(self, events: pa.RecordBatch) -> None:
        """Write events: the columns that the parser gives, and any others. Raises BrokenInvariant for a null where none may be."""
        beside = self._ids.beside(events) | {"ingest_batch": pa.array(np.full(events.num_rows, self.ingest_batch))}
        columns = [beside[name] if name in beside else events[name] for name in _EVENT_SCHEMA.names]
        for column, declared in zip(columns, _EVENT_SCHEMA, strict=True):
            invariant(declared.nullable or column.null_count == 0, f"dispatch_events.{declared.name} would be null in {self.name}")
        rows = pa.RecordBatch.from_arrays(columns, schema=_EVENT_SCHEMA)
        dates = event_dates(events)
        met = np.unique(dates).tolist()
        for day in met:
            self._of_date(day).add(rows if len(met) == 1 else rows.filter(pa.array(dates == day)))

    def close(self) -> Iterator[NewFile]:
        """End the files and report each."""
        for _, file in sorted(self._of_dates.items()):
            yield file.close()

    def _of_date(self, day: int) -> "_DateFile":
        if day not in self._of_dates:
            event_date = (_EPOCH_DAY + timedelta(days=day)).isoformat()
            self._of_dates[day] = _DateFile(self.folder, event_date, self.name)
        return self._of_dates[day]


class _DateFile:
    """One file of one date, and the bounds of its columns."""

    def __init__(self, folder: str, event_date: str, name: str) -> None:
        self._event_date = event_date
        self._path = f"event_date={event_date}/{name}"
        self._whole = f"{folder}/{self._path}"
        self._file = begun_file(self._whole)
        self._writer = pq.ParquetWriter(
            self._file,
            _FILE_SCHEMA,
            compression=_COMPRESSION,
            use_dictionary=_DICTIONARIES,
            column_encoding=_ENCODINGS,
            write_statistics=_BOUNDED,  # bounds of a row group, too: those of the other ninety columns exclude nothing, and take 8 % longer
        )
        self._waiting: list[pa.RecordBatch] = []
        self._rows_waiting = self._rows = 0
        self._least: dict[str, int] = {}
        self._most: dict[str, int] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        self._waiting.append(rows)
        self._rows_waiting += rows.num_rows
        for name in _BOUNDED:
            bounds: dict[str, Any] = pc.min_max(rows[name]).as_py()
            self._least[name] = min(self._least.get(name, bounds["min"]), bounds["min"])
            self._most[name] = max(self._most.get(name, bounds["max"]), bounds["max"])
        if self._rows_waiting >= ROW_GROUP_ROWS:
            self._write()

    def close(self) -> NewFile:
        if self._waiting:
            self._write()
        self._writer.close()
        self._file.close()
        size_bytes, modified_at_ms = size_and_time(self._whole)
        stats = {"numRecords": self._rows, "minValues": self._least, "maxValues": self._most, "nullCount": dict.fromkeys(_BOUNDED, 0)}
        return NewFile(self._path, size_bytes, modified_at_ms, {"event_date": self._event_date}, stats)

    def _write(self) -> None:
        (events,) = pa.Table.from_batches(self._waiting).combine_chunks().to_batches()
        beside = packet_columns(events)
        columns = [beside[name] if name in beside else events[name] for name in _FILE_SCHEMA.names]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=_FILE_SCHEMA), row_group_size=2 * ROW_GROUP_ROWS)
        self._rows += self._rows_waiting
        self._waiting, self._rows_waiting = [], 0
