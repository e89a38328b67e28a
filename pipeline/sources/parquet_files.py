"""Parquet files: tasks open them; the contract is checked as for lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from pipeline.faults import BadWarehouse
from pipeline.sources.listed_files import Kind, files_of, listed_stream, opened_by_tasks
from pipeline.sources.listing import ListedFile, files_now
from pipeline.sources.names_met import TaskNames
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.outcome import ParsedBlock
from pipeline.sources.parse.typed_table import parse_typed
from pipeline.sources.place import Place, vanished
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, FirstListed, PlannedFiles, RowReader
from pipeline.store.arrow_places import opened_anywhere

SUFFIXES = (".parquet",)
#: Records that are parsed at once: a row group of bronze, for which nothing need be joined then.
ROWS_AT_ONCE = 65_536
#: A larger file is cut for several tasks, as Spark would cut it.
_PART_BYTES = 128 << 20
#: JSON of the same events is about so many times as long: only to share work evenly.
_GROWTH = 12


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files at `place`, at most `max_files` in a micro-batch."""

    place: Place
    max_files: int
    limits: ParseLimits

    def stream(self, spark: SparkSession) -> DataFrame:
        """One row per file: path, length."""
        return listed_stream(spark, self.place, self.max_files)

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether Spark's file source wrote the offset."""
        return "logOffset" in offset

    def reader(self, batch: DataFrame, planned: PlannedFiles, first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's files."""
        files = files_of(batch, self.place, planned, first_listed)
        return opened_by_tasks(batch.sparkSession, files, KIND, self.limits) if files else None

    @property
    def kind(self) -> Kind:
        """How a file is opened and shared out."""
        return KIND

    def listing(self) -> list[ListedFile]:
        """The wanted files that lie there now."""
        return files_now(self.place)


def _work_of(file: ListedFile) -> int:
    return file.length * _GROWTH // file.parts


def _read(file: ListedFile, limits: ParseLimits, met: TaskNames) -> Batches:
    """Rows of a part of the file: its row groups, shared out among the parts in their order."""
    counted = Counted(file.path, file.length, met)
    try:
        with opened_anywhere(file.path) as whole, pq.ParquetFile(whole) as records:
            count = records.num_row_groups
            groups = [group for group in range(count) if group * file.parts // count == file.part]
            for batch in records.iter_batches(ROWS_AT_ONCE, row_groups=groups, use_threads=False):
                block = _of_file(parse_typed(batch, limits), file.path)
                counted.add(block)
                yield from block_rows(block)
    except FileNotFoundError as fault:
        raise vanished(file.path) from fault
    except pa.ArrowException as fault:
        raise BadWarehouse(f"{file.path} cannot be read as Parquet: {fault}. Put a whole one in its place and start again") from fault
    yield summary_row(counted)


def _of_file(block: ParsedBlock, file: str) -> ParsedBlock:
    """The block with `file` as the file of every row."""
    named = []
    for rows in (block.events, block.rejects):
        place = rows.schema.get_field_index("source_file")
        named.append(rows.set_column(place, rows.schema.field(place), pa.repeat(pa.scalar(file, pa.string()), rows.num_rows)))
    return ParsedBlock(named[0], named[1], block.lines, block.truncated)


KIND = Kind(_read, _work_of, _PART_BYTES)
