"""Records that come as columns (Parquet, Delta): the Python stage that checks them against the contract."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from pipeline.parse.line import ParseLimits
from pipeline.parse.outcome import ParsedBlock
from pipeline.parse.typed import parse_typed
from pipeline.sources.named import TaskNames
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, InTask, task_of

#: Columns that a source of files adds to its records; no field of anybody's log is called so.
FILE_COLUMN = "__ingest_file"
FILE_BYTES_COLUMN = "__ingest_file_bytes"


def typed_rows(records: DataFrame, limits: ParseLimits, in_task: InTask) -> DataFrame:
    """What a task makes of the rows (ROW_SCHEMA) of records.

    With FILE_COLUMN and FILE_BYTES_COLUMN in the records rows and summaries carry the name of their file.
    """
    return records.mapInArrow(task_of(_reader(limits), in_task), in_task.schema)


def _reader(limits: ParseLimits) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        met = TaskNames()
        for batch in batches:
            for part in _by_file(batch):
                yield from part_rows(part, limits, met)

    return read


def part_rows(part: pa.RecordBatch, limits: ParseLimits, met: TaskNames) -> Batches:
    """Rows of records of one file, or of a table, their summary last. Several summaries of one file add up."""
    counted = Counted(None, 0, met)
    if FILE_COLUMN in part.schema.names:
        counted = Counted(part.column(FILE_COLUMN)[0].as_py(), part.column(FILE_BYTES_COLUMN)[0].as_py(), met)
        part = part.drop_columns([FILE_COLUMN, FILE_BYTES_COLUMN])
    block = parse_typed(part, limits)
    counted.add(block)
    yield from block_rows(block if counted.file is None else of_file(block, counted.file))
    yield summary_row(counted)


def _by_file(batch: pa.RecordBatch) -> Batches:
    """The batch cut where its file changes: Spark packs small files into one task."""
    if batch.num_rows == 0:
        return
    if FILE_COLUMN not in batch.schema.names:
        yield batch
        return
    starts = pc.run_end_encode(batch.column(FILE_COLUMN)).run_ends.to_pylist()
    for start, end in zip([0, *starts], starts, strict=False):
        yield batch.slice(start, end - start)


def of_file(block: ParsedBlock, file: str) -> ParsedBlock:
    """The block with `file` as the file of every row."""
    named = []
    for rows in (block.events, block.rejects):
        place = rows.schema.get_field_index("source_file")
        named.append(rows.set_column(place, rows.schema.field(place), pa.repeat(pa.scalar(file, pa.string()), rows.num_rows)))
    return ParsedBlock(named[0], named[1], block.lines, block.truncated)
