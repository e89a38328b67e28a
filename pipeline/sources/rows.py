"""The one schema in which every source hands its rows to ingest: events, rejected lines and file summaries, multiplexed.

A Python stage has one output schema; three kinds of rows in one pass cost less than three passes over the files.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from pipeline.sources.names_met import NAME_COLUMNS, NAME_TYPE, Name, TaskNames
from pipeline.sources.parse.outcome import EVENT_SCHEMA, REJECT_SCHEMA, ParsedBlock
from schemas.field import Field
from schemas.render.arrow import arrow_schema
from schemas.render.spark import struct
from schemas.tables.bronze import PARSED_FIELDS, QUARANTINE

EVENT, REJECT, SUMMARY = 0, 1, 2
#: A task of Spark holds a few such batches at once.
MOST_ROWS = 50_000

#: What the parser counted in one file, or in a part of a table (then `file` is null).
SUMMARY_FIELDS = (
    Field("file", "string", "URI of the file; null for tables", nullable=True),
    Field("bytes", "long", "its length when it was listed", "bytes"),
    Field("lines", "long", "lines that are not blank, and one for a truncation"),
    Field("rejects", "long", "of these, how many are not events"),
    Field("truncated", "boolean", "the file ends inside its compressed stream"),
)
_EVENT_NAMES = {f.name for f in PARSED_FIELDS}
#: Columns of a reject that no event has; the others (broker, seq, source_line …) are shared.
_REJECT_ONLY = tuple(f for f in QUARANTINE.fields if f.name in REJECT_SCHEMA.names and f.name not in _EVENT_NAMES)
#: Beside the counts: (broker, topic, sub) that the task met first here; null when it met more than it hands over.
SUMMARY_TYPE = pa.struct([*arrow_schema(SUMMARY_FIELDS), pa.field("names", pa.list_(NAME_TYPE))])
#: A name as Spark sees it.
NAME_STRUCT = StructType([StructField(name, StringType()) for name in NAME_COLUMNS])
SUMMARY_STRUCT = StructType(
    [*(StructField(f.name, f.dataType) for f in struct(SUMMARY_FIELDS)), StructField("names", ArrayType(NAME_STRUCT))]
)

#: row_kind decides which columns of a row count; all others are null.
ROW_SCHEMA = pa.schema(
    [
        pa.field("row_kind", pa.int32()),
        *(pa.field(f.name, f.type, nullable=True) for f in (*EVENT_SCHEMA, *arrow_schema(_REJECT_ONLY))),
        pa.field("summary", SUMMARY_TYPE),
    ]
)
SPARK_SCHEMA = StructType(
    [
        StructField("row_kind", IntegerType()),
        *(StructField(f.name, f.dataType) for f in struct((*PARSED_FIELDS, *_REJECT_ONLY))),
        StructField("summary", SUMMARY_STRUCT),
    ]
)


@dataclass
class Counted:
    """Running summary of one file while its blocks go by; `met` is what its task has met, in this file and in others."""

    file: str | None
    bytes: int
    met: TaskNames
    lines: int = 0
    rejects: int = 0
    truncated: bool = False
    names: list[Name] | None = field(default_factory=list)

    def add(self, block: ParsedBlock) -> None:
        """Count the block in."""
        self.lines += block.lines
        self.rejects += block.rejects.num_rows
        self.truncated = self.truncated or block.truncated
        new = self.met.new_in(block.events)
        self.names = None if new is None or self.names is None else self.names + new


def block_rows(block: ParsedBlock) -> Iterator[pa.RecordBatch]:
    """The block's events, then its rejects, as batches of ROW_SCHEMA with at most MOST_ROWS rows."""
    for kind, rows in ((EVENT, block.events), (REJECT, block.rejects)):
        for start in range(0, rows.num_rows, MOST_ROWS):
            yield _widened(kind, rows.slice(start, MOST_ROWS))


def summary_row(counted: Counted) -> pa.RecordBatch:
    """One row of kind SUMMARY."""
    summary = {name: value for name, value in vars(counted).items() if name != "met"}
    return _widened(SUMMARY, pa.RecordBatch.from_pylist([{"summary": summary}], schema=pa.schema([("summary", SUMMARY_TYPE)])))


def _widened(kind: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    """`rows` with row_kind, and nulls in every column that they do not have."""
    count = rows.num_rows
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns["row_kind"] = pa.repeat(pa.scalar(kind, pa.int32()), count)
    return pa.RecordBatch.from_arrays(
        [columns[f.name] if f.name in columns else pa.nulls(count, f.type) for f in ROW_SCHEMA],
        schema=ROW_SCHEMA,
    )
