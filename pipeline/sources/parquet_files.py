"""Parquet files: tasks open them, or Spark reads them where they are not local; the contract is checked as for lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType, LongType, StructField, StructType

from pipeline.faults import BadWarehouse
from pipeline.parse.line import ParseLimits
from pipeline.parse.typed import parse_typed
from pipeline.sources.listed_files import NEVER_TOO_OLD, Kind, ListedFile, files_of, listed_stream, local_path, opened_by_tasks
from pipeline.sources.named import TaskNames
from pipeline.sources.place import Place, vanished
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, FirstListed, PlannedFiles, RowReader
from pipeline.sources.typed_rows import FILE_BYTES_COLUMN, FILE_COLUMN, of_file, typed_rows
from schemas.events import FIELDS
from schemas.render.spark import struct
from schemas.tables.bronze import PARSED_FIELDS

SUFFIXES = (".parquet",)
#: Records that are parsed at once: a row group of bronze, for which nothing need be joined then.
ROWS_AT_ONCE = 65_536
#: A larger file is cut for several tasks, as Spark would cut it.
_PART_BYTES = 128 << 20
#: JSON of the same events is about so many times as long: only to share work evenly.
_GROWTH = 12
#: No file yet, or files that contradict each other: then the contract's own types are read.
_NO_COMMON_SCHEMA = ("UNABLE_TO_INFER_SCHEMA", "CANNOT_MERGE_SCHEMAS", "PATH_NOT_FOUND")


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files at `place`, at most `max_files` in a micro-batch. Where they are not local, Spark reads them."""

    place: Place
    max_files: int
    limits: ParseLimits

    def stream(self, spark: SparkSession) -> DataFrame:
        """One row per file: path, length; or, where the files are not local, records, each with its file."""
        if self.place.local:
            return listed_stream(spark, self.place, self.max_files, ("path", "length"))
        records = (
            spark.readStream.schema(self._schema(spark))
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", self.max_files)
            .option("maxFileAge", NEVER_TOO_OLD)
            .parquet(self.place.load)
        )
        # Spark's metadata column is percent-encoded, the paths of its listings are not. A plus is a plus in a path.
        path = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
        path = F.regexp_replace(path, "^file:/+", "file:/")
        return (
            records.withColumn(FILE_COLUMN, path)
            .withColumn(FILE_BYTES_COLUMN, F.col("_metadata.file_size"))
            .where(F.col(FILE_COLUMN).rlike(self.place.wanted))
        )

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether Spark's file source wrote the offset."""
        return "logOffset" in offset

    def reader(self, batch: DataFrame, planned: PlannedFiles, first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's records."""
        if self.place.local:
            files = files_of(batch, self.place, planned, first_listed)
            return opened_by_tasks(batch.sparkSession, files, KIND, self.limits) if files else None
        self.place.refuse_vanished(batch.sparkSession, planned())
        return partial(typed_rows, batch, self.limits)

    @property
    def kind(self) -> Kind:
        """How a local file is opened and shared out."""
        return KIND

    def listing(self, spark: SparkSession) -> DataFrame | None:
        """The wanted files that lie there now."""
        return self.place.listing(spark)

    def _schema(self, spark: SparkSession) -> StructType:
        """Columns of the contract and of the files that lie there now, with the files' types: a wrong one is to be quarantined."""
        try:
            found = spark.read.option("mergeSchema", "true").option("recursiveFileLookup", "true").parquet(self.place.load).schema.fields
        except PySparkException as refused:
            if (refused.getCondition() or "").partition(".")[0] not in _NO_COMMON_SCHEMA:
                raise
            found = []
        # A later file may have wider integers than those of today.
        types = {f.name: LongType() if isinstance(f.dataType, IntegralType) else f.dataType for f in found}
        contract = {f.name: f.dataType for f in struct([f for f in PARSED_FIELDS if f.name in FIELDS])}
        return StructType([StructField(name, kind) for name, kind in {**contract, **types}.items()])


def _work_of(file: ListedFile) -> int:
    return file.length * _GROWTH // file.parts


def _parts_of(file: ListedFile) -> int:
    return 1 + file.length // _PART_BYTES


def _read(file: ListedFile, limits: ParseLimits, met: TaskNames) -> Batches:
    """Rows of a part of the file: its row groups, shared out among the parts in their order."""
    counted = Counted(file.path, file.length, met)
    try:
        with pq.ParquetFile(local_path(file.path)) as records:
            count = records.num_row_groups
            groups = [group for group in range(count) if group * file.parts // count == file.part]
            for batch in records.iter_batches(ROWS_AT_ONCE, row_groups=groups, use_threads=False):
                block = of_file(parse_typed(batch, limits), file.path)
                counted.add(block)
                yield from block_rows(block)
    except FileNotFoundError as fault:
        raise vanished(file.path) from fault
    except pa.ArrowException as fault:
        raise BadWarehouse(f"{file.path} cannot be read as Parquet: {fault}. Put a whole one in its place and start again") from fault
    yield summary_row(counted)


KIND = Kind(_read, _work_of, _parts_of, can_be_cut=True)
