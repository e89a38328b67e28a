"""Bronze to packets of lane rows, file by file: each task reads the columns that lanes need of its Parquet files by itself.

Spark follows the table's commits and hands out its files; it decodes no column of them. Its rows of nineteen columns, through a
projection, a shuffle, a sort and Arrow, cost five times what everything here costs (docs/performance.md).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.faults import invariant
from pipeline.lanes.bronze_columns import columns_read, lane_columns_of
from pipeline.lanes.packet import PACKET, packed_rows
from pipeline.machines.array import Array
from pipeline.warehouse.local_tables import local_folder, opened
from schemas.lane_columns import COLUMN, LANE_KEY

#: Events that are read at once, and packed at once at most: what is packed should stay in the processor's cache.
READ_ROWS, PACKET_ROWS = 32_768, 16_384
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
    of_row = (F.input_file_name(), F.input_file_block_start(), F.input_file_block_length())
    split = bronze.select(*(value.alias(name) for value, name in zip(of_row, Split._fields, strict=True)))
    return split.mapInArrow(_packets_of_splits, PACKET_TYPE)


class Split(NamedTuple):
    """A stretch of a Parquet file, as Spark gives it to one task: `start` and `length` in bytes."""

    uri: str
    start: int
    length: int

    @property
    def path(self) -> str:
        """In the local file system."""
        return "/" + unquote(self.uri).removeprefix("file:").lstrip("/")


def _packets_of_splits(batches: Batches) -> Batches:
    """`batches` name the split of each row: a split as often as it has rows."""
    rows_of_spark: Counter[Split] = Counter()
    rows_read: dict[Split, int] = {}
    for batch in batches:
        for split, rows in _splits_of(batch):
            rows_of_spark[split] += rows
            if split not in rows_read:
                groups = row_groups_of(split)
                rows_read[split] = groups.rows
                yield from packets_of_file(split.path, groups.numbers)
    # A row group belongs to one split, by a rule of the Parquet library. If we had another rule, events would be lost, or come twice.
    different = [split for split, rows in rows_of_spark.items() if rows_read[split] != rows]
    invariant(not different, f"tasks and Spark disagree about the row groups of {different[:1]}")


def _splits_of(batch: pa.RecordBatch) -> Iterator[tuple[Split, int]]:
    """Each split of a batch with its number of rows, which follow each other."""
    files, starts, lengths = (batch.column(name) for name in Split._fields)
    numbers = files.dictionary_encode()
    of_row = np.stack([numbers.indices.to_numpy(), starts.to_numpy(), lengths.to_numpy()])
    borders = np.flatnonzero((np.diff(of_row) != 0).any(axis=0)) + 1
    for first, stop in pairwise([0, *borders.tolist(), batch.num_rows]):
        if stop > first:
            yield Split(files[first].as_py(), starts[first].as_py(), lengths[first].as_py()), stop - first


class RowGroups(NamedTuple):
    """Row groups of a file, by their numbers, and the rows in them."""

    numbers: list[int]
    rows: int


def row_groups_of(split: Split) -> RowGroups:
    """The row groups whose middle lies in the split: so parquet-java gives them to Spark's tasks (`filterFileMetaDataByMidpoint`)."""
    file = pq.read_metadata(split.path)
    groups = [file.row_group(number) for number in range(file.num_row_groups)]
    numbers = [number for number, group in enumerate(groups) if split.start <= _middle_of(group) < split.start + split.length]
    return RowGroups(numbers, sum(groups[number].num_rows for number in numbers))


def _middle_of(group: pq.RowGroupMetaData) -> int:
    columns = [group.column(number) for number in range(group.num_columns)]
    begin = columns[0].data_page_offset
    if columns[0].has_dictionary_page:
        begin = min(begin, columns[0].dictionary_page_offset)
    return int(begin + sum(column.total_compressed_size for column in columns) // 2)


def packets_of_file(path: str, row_groups: list[int] | None = None) -> Batches:
    """The events of (`row_groups` of) one Parquet file of dispatch_events, in its order, as packets."""
    with pq.ParquetFile(path) as file:
        present = set(file.schema_arrow.names)
        columns = [name for name in columns_read() if name in present]
        for events in file.iter_batches(READ_ROWS, row_groups=row_groups, columns=columns, use_threads=False):
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
