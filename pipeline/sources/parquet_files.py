"""Parquet files: Spark lists, remembers and reads them; the contract is checked as for lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType, LongType, StructField, StructType

from pipeline.parse.line import ParseLimits
from pipeline.sources.jsonl_files import NEVER_TOO_OLD
from pipeline.sources.place import Place
from pipeline.sources.source import FirstListed, RowReader
from pipeline.sources.typed_rows import FILE_BYTES_COLUMN, FILE_COLUMN, typed_rows
from schemas.events import FIELDS
from schemas.render.spark import struct
from schemas.tables.bronze import PARSED_FIELDS

SUFFIXES = (".parquet",)
#: No file yet, or files that contradict each other: then the contract's own types are read.
_NO_COMMON_SCHEMA = ("UNABLE_TO_INFER_SCHEMA", "CANNOT_MERGE_SCHEMAS", "PATH_NOT_FOUND")


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files at `place`, at most `max_files` in a micro-batch."""

    place: Place
    max_files: int
    limits: ParseLimits

    def stream(self, spark: SparkSession) -> DataFrame:
        """Records, each with its file."""
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

    def reader(self, batch: DataFrame, planned: Sequence[str], _first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's records."""
        self.place.refuse_vanished(batch.sparkSession, planned)
        return partial(typed_rows, batch, self.limits)

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
