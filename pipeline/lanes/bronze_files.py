"""Bronze to packets of lane rows, file by file: each task reads the columns that lanes need of its Parquet files by itself.

Spark follows the table's commits and hands out its files; it decodes no column of them. Its rows of nineteen columns, through a
projection, a shuffle, a sort and Arrow, cost five times what everything here costs (docs/performance.md).
"""

from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.lanes.bronze_columns import columns_read, lane_columns_of
from pipeline.lanes.packet import PACKET, packed_rows
from pipeline.machines.array import Array
from pipeline.warehouse.local_tables import local_folder, opened
from schemas.lane_columns import COLUMN, LANE_KEY

#: Events that are read at once, and packed at once at most: what is packed should stay in the processor's cache.
READ_ROWS, PACKET_ROWS = 65_536, 16_384
#: A packet with its lane, and the epoch and `seq` of its first row.
PACKET_TYPE = f"{LANE_KEY} bigint, epoch bigint, seq bigint, {PACKET} binary"
_PACKET_SCHEMA = pa.schema([(LANE_KEY, pa.int64()), ("epoch", pa.int64()), ("seq", pa.int64()), (PACKET, pa.binary())])
#: Where one of these is on, a file of the table holds something else than its rows under its columns' names.
_REWRITTEN_ON_READ = {"delta.enableDeletionVectors": ("true",), "delta.columnMapping.mode": ("name", "id")}

Batches = Iterator[pa.RecordBatch]


def has_plain_files(table: str) -> bool:
    """Whether tasks can open the files of the Delta table at this URI by themselves, and find its rows in them."""
    folder = local_folder(table)
    if folder is None:
        return False
    settings = opened(folder).metadata().configuration
    return not any(settings.get(key) in values for key, values in _REWRITTEN_ON_READ.items())


def packets(bronze: DataFrame) -> DataFrame:
    """The rows of `bronze`, a table with plain files, as packets (PACKET_TYPE)."""
    # A file that was cut for two tasks is read whole by the one that has its beginning.
    files = bronze.select(F.input_file_name().alias("file"), F.input_file_block_start().alias("start")).where("start = 0")
    return files.select("file").mapInArrow(_packets_of_files, PACKET_TYPE)


def _packets_of_files(batches: Batches) -> Batches:
    """`batches` name the file of each row: a file as often as it has rows."""
    read: set[str] = set()
    for batch in batches:
        for uri in pc.unique(batch.column("file")).to_pylist():
            if uri not in read:
                read.add(uri)
                yield from packets_of_file("/" + unquote(uri).removeprefix("file:").lstrip("/"))


def packets_of_file(path: str) -> Batches:
    """The events of one Parquet file of dispatch_events, in its order, as packets."""
    with pq.ParquetFile(path) as file:
        present = set(file.schema_arrow.names)
        columns = [name for name in columns_read() if name in present]
        for events in file.iter_batches(READ_ROWS, columns=columns, use_threads=False):
            yield packed_events(events)


def packed_events(events: pa.RecordBatch) -> pa.RecordBatch:
    """One packet per lane and epoch of the events, which keep their order."""
    lanes, rows = events.column("broker_id").to_numpy(zero_copy_only=False), lane_columns_of(events)
    epochs = rows[COLUMN["epoch"]]
    if not (_is_one(lanes) and _is_one(epochs)):
        order = np.lexsort((epochs, lanes))
        lanes, rows = lanes[order], rows[:, order]
        epochs = rows[COLUMN["epoch"]]
    borders = np.flatnonzero((np.diff(lanes) != 0) | (np.diff(epochs) != 0)) + 1
    runs = pairwise([0, *borders.tolist(), len(lanes)])
    parts = [(first, min(first + PACKET_ROWS, stop)) for start, stop in runs for first in range(start, stop, PACKET_ROWS)]
    starts = [start for start, _ in parts]
    columns = [lanes[starts], epochs[starts], rows[COLUMN["seq"], starts], [packed_rows(rows[:, start:stop]) for start, stop in parts]]
    return pa.RecordBatch.from_arrays([pa.array(c, t) for c, t in zip(columns, _PACKET_SCHEMA.types, strict=True)], schema=_PACKET_SCHEMA)


def _is_one(values: Array) -> bool:
    return len(values) > 0 and bool((values == values[0]).all())
