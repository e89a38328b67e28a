"""Parquet files of a table, written by columns where no commit names them yet: `append_files` (append.py) makes them rows of the table.

Spark would take every row into the JVM and write it value by value, which costs several times as much (docs/design/performance.md). A file
that nobody commits is no part of the table; VACUUM deletes it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.faults import invariant
from pipeline.store.arrow_places import opened_anywhere
from pipeline.store.new_files import begun_file, size_and_time
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.render.ddl import properties

#: Rows that are buffered, and that Parquet compresses and skips together; fewer where they are long (rejected lines, states).
ROW_GROUP_ROWS, ROW_GROUP_BYTES = 65_536, 64 << 20
#: What all files of a table buffer together: a log of many days has a file for each.
_WAITING_BYTES = 256 << 20
#: Columns that a row group gets when it is whole, of its other columns.
Completed = Callable[[pa.RecordBatch], Mapping[str, pa.Array]]


class NewFile(NamedTuple):
    """A Parquet file below a table's folder that no commit names yet.

    `path` from that folder on, `modified_at_ms` since 1970, `partition`: value of each partition column, `stats` as in Delta's log.
    """

    path: str
    size_bytes: int
    modified_at_ms: int
    partition: dict[str, str]
    stats: dict[str, Any]

    @property
    def rows(self) -> int:
        """Rows in it."""
        return int(self.stats["numRecords"])

    def to_json(self) -> str:
        """As a task reports it."""
        return json.dumps(self._asdict())

    @classmethod
    def from_json(cls, text: str) -> "NewFile":
        """What a task reported."""
        return cls(**json.loads(text))


def rows_in(folder: str, file: NewFile) -> int:
    """Rows of the file, counted where it lies now."""
    with opened_anywhere(f"{folder}/{file.path}") as opened:
        return int(pq.read_metadata(opened).num_rows)


def _completes_nothing(_rows: pa.RecordBatch) -> Mapping[str, pa.Array]:
    return {}


@dataclass
class TableFiles:
    """Files of `table` below `folder`, one for each value of its partition column that comes, each called `name`.

    `completed` gives the columns `later`, which rows do not have when they are added, for each row group.
    """

    folder: str
    table: Table
    name: str
    completed: Completed = _completes_nothing
    later: tuple[str, ...] = ()
    _files: dict[str, "_TableFile"] = field(default_factory=dict)

    def add(self, rows: pa.RecordBatch) -> None:
        """Write rows: by name all columns of the table but `later`. Raises BrokenInvariant for a null where none may be."""
        for declared in arrow_schema(self.table.fields):
            if not declared.nullable and declared.name not in self.later:
                nulls = rows[declared.name].null_count
                invariant(nulls == 0, f"{self.table.name}.{declared.name} would be null in {nulls} rows of {self.name}")
        if not self.table.partition_by:
            self._of({}).add(rows)
            return
        (column,) = self.table.partition_by
        met = pc.unique(rows[column])
        for value in met:
            own = rows if len(met) == 1 else rows.filter(pc.equal(rows[column], value))
            self._of({column: str(value.as_py())}).add(own)
        if sum(file.bytes_waiting for file in self._files.values()) > _WAITING_BYTES:
            max(self._files.values(), key=lambda file: file.bytes_waiting).write()

    def close(self) -> Iterator[NewFile]:
        """End the files and report each."""
        for _, file in sorted(self._files.items()):
            yield file.close()

    def _of(self, partition: dict[str, str]) -> "_TableFile":
        below = "".join(f"{column}={value}/" for column, value in partition.items())
        if below not in self._files:
            self._files[below] = _TableFile(self, f"{below}{self.name}", partition)
        return self._files[below]


class _TableFile:
    """One file, and the bounds of the columns by which Delta skips files; `bytes_waiting` are buffered."""

    def __init__(self, files: TableFiles, path: str, partition: dict[str, str]) -> None:
        table = files.table
        self._path, self._partition, self._completed = path, partition, files.completed
        self._schema = arrow_schema([f for f in table.fields if f.name not in partition])  # the partition is in the folder's name
        self._added = [name for name in self._schema.names if name not in files.later]
        self._bounded = [name for name in properties(table)["delta.dataSkippingStatsColumns"].split(",") if name]
        self._whole = f"{files.folder}/{path}"
        self._file = begun_file(self._whole)
        self._writer = _parquet_writer(self._file, self._schema, self._bounded)
        self._waiting: list[pa.RecordBatch] = []
        self._rows_waiting = self.bytes_waiting = self._rows = 0
        self._least: dict[str, Any] = {}
        self._most: dict[str, Any] = {}
        self._nulls = dict.fromkeys(self._bounded, 0)

    def add(self, rows: pa.RecordBatch) -> None:
        """Take rows; they are written when they are enough."""
        self._waiting.append(rows.select(self._added))
        self._rows_waiting += rows.num_rows
        self.bytes_waiting += rows.nbytes
        for name in self._bounded:
            self._nulls[name] += rows[name].null_count
            bounds: dict[str, Any] = pc.min_max(rows[name]).as_py()
            if bounds["min"] is not None:
                self._least[name] = min(self._least.get(name, bounds["min"]), bounds["min"])
                self._most[name] = max(self._most.get(name, bounds["max"]), bounds["max"])
        if self._rows_waiting >= ROW_GROUP_ROWS or self.bytes_waiting >= ROW_GROUP_BYTES:
            self.write()

    def close(self) -> NewFile:
        """End the file."""
        if self._waiting:
            self.write()
        self._writer.close()
        self._file.close()
        size_bytes, modified_at_ms = size_and_time(self._whole)
        least, most = ({name: _in_json(value) for name, value in bounds.items()} for bounds in (self._least, self._most))
        stats = {"numRecords": self._rows, "minValues": least, "maxValues": most, "nullCount": self._nulls}
        return NewFile(self._path, size_bytes, modified_at_ms, self._partition, stats)

    def write(self) -> None:
        """End the row group that is buffered."""
        (rows,) = pa.Table.from_batches(self._waiting).combine_chunks().to_batches()
        beside = self._completed(rows)
        columns = [beside[name] if name in beside else rows[name] for name in self._schema.names]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), row_group_size=2 * ROW_GROUP_ROWS)
        self._rows += self._rows_waiting
        self._waiting, self._rows_waiting, self.bytes_waiting = [], 0, 0


def _parquet_writer(file: pa.NativeFile, schema: pa.Schema, bounded: list[str]) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        file,
        schema,
        # Packets and states are compressed already.
        compression={f.name: "none" if pa.types.is_binary(f.type) else "zstd" for f in schema},
        # Names repeat, numbers mostly do not.
        use_dictionary=[f.name for f in schema if pa.types.is_string(f.type)],
        # Neighbouring numbers are close: their differences take fewer bits, and less time to compress and to read.
        column_encoding={f.name: "DELTA_BINARY_PACKED" for f in schema if pa.types.is_integer(f.type) or pa.types.is_timestamp(f.type)},
        # Bounds of a row group, too: those of the other columns exclude nothing, and take 8 % longer.
        write_statistics=bounded,
    )


def _in_json(value: Any) -> Any:
    """A bound as Delta's log has it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else value
