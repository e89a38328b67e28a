"""Bronze and quarantine written by those who parse a log (tasks, processes of a load): Parquet by columns, which the driver commits."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import StringType, StructField, StructType

from pipeline.ingest.event_ids import EventIds, event_dates
from pipeline.ingest.rejected_lines import quarantine_rows
from pipeline.lanes.packets.files import name_with_packets
from pipeline.lanes.packets.of_events import packet_columns
from pipeline.sources.rows import EVENT, REJECT, SUMMARY, SUMMARY_STRUCT, SUMMARY_TYPE
from pipeline.sources.source import Batches, InTask
from pipeline.warehouse.data_files import NewFile, TableFiles
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bronze import DISPATCH_EVENTS, LANE_LAYOUT, LANE_PACKET, QUARANTINE

#: Columns that a row group gets when it is whole.
_OF_ROW_GROUPS = (LANE_LAYOUT, LANE_PACKET)
_ADDED = [name for name in DISPATCH_EVENTS.names if name not in _OF_ROW_GROUPS]
#: What a task reports: a file that it wrote for a table, as JSON, or a summary.
_SPARK_SCHEMA = StructType([StructField("table", StringType()), StructField("added", StringType()), StructField("summary", SUMMARY_STRUCT)])
_SCHEMA = pa.schema([("table", pa.string()), ("added", pa.string()), ("summary", SUMMARY_TYPE)])


def written_in_tasks(warehouse: Warehouse, ingest_batch: int, run_id: str, now: datetime) -> InTask:
    """Tasks that write the events and the rejected lines which they read, and give (`table`, `added`: NewFile) and summaries.

    `run_id` is a part of the files' names: a driver of before that still runs must not write the same. `now` is when lines are rejected.
    """
    return InTask(partial(_written, warehouse, ingest_batch, run_id, now), _SPARK_SCHEMA)


def _written(warehouse: Warehouse, ingest_batch: int, run_id: str, now: datetime, rows: Batches) -> Batches:
    task = TaskContext.get()
    assert task is not None
    return written_rows(warehouse, ingest_batch, f"{run_id}-{ingest_batch}-{task.partitionId()}-{task.taskAttemptId()}", now, rows)


def written_rows(warehouse: Warehouse, ingest_batch: int, name: str, now: datetime, rows: Batches) -> Batches:
    """Write the events and the rejected lines among `rows` (ROW_SCHEMA); gives the files (`table`, `added`: NewFile) and the summaries.

    The files' names begin with `name`: nobody else may use it.
    """
    events = BronzeFiles(warehouse.table(DISPATCH_EVENTS.name), ingest_batch, name)
    rejected = TableFiles(warehouse.table(QUARANTINE.name), QUARANTINE, f"{name}.zstd.parquet")
    for batch in rows:
        kind = batch["row_kind"][0].as_py() if batch.num_rows else None
        if kind == EVENT:
            events.add(batch)
        elif kind == REJECT:
            rejected.add(quarantine_rows(batch, ingest_batch, now))
        elif kind == SUMMARY:
            nothing = pa.nulls(batch.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([nothing, nothing, batch["summary"]], schema=_SCHEMA)
    files = [(DISPATCH_EVENTS.name, file) for file in events.close()] + [(QUARANTINE.name, file) for file in rejected.close()]
    tables, added = [table for table, _ in files], [file.to_json() for _, file in files]
    columns = [pa.array(tables, pa.string()), pa.array(added, pa.string()), pa.nulls(len(added), SUMMARY_TYPE)]
    yield pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


class BronzeFiles:
    """Files of dispatch_events with packets, one per date (UTC) of the events that come, below `folder`, that of the table."""

    def __init__(self, folder: str, ingest_batch: int, name: str) -> None:
        self._ingest_batch = ingest_batch
        self._ids = EventIds()
        self._files = TableFiles(folder, DISPATCH_EVENTS, name_with_packets(name), packet_columns, _OF_ROW_GROUPS)

    def add(self, events: pa.RecordBatch) -> None:
        """Write events: the columns that the parser gives, and any others. Raises BrokenInvariant for a null where none may be."""
        beside = self._ids.beside(events) | {
            "ingest_batch": pa.array(np.full(events.num_rows, self._ingest_batch)),
            "event_date": pa.array(event_dates(events).astype(np.int32)).cast(pa.date32()),
        }
        columns = [beside[name] if name in beside else events[name] for name in _ADDED]
        self._files.add(pa.RecordBatch.from_arrays(columns, names=_ADDED))

    def close(self) -> Iterator[NewFile]:
        """End the files and report each."""
        return self._files.close()
