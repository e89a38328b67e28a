"""A Delta table of events: Spark follows its commits; the contract is checked as for lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.source import FirstListed, PlannedFiles, RowReader
from pipeline.sources.typed_rows import typed_rows


@dataclass(frozen=True)
class DeltaTableSource:
    """The Delta table in the folder `path`, at most `max_files` of its files in a micro-batch.

    Only what is appended is read: commits that rewrite or delete (OPTIMIZE, a repair by the owner) bring no event.
    """

    path: str
    max_files: int
    limits: ParseLimits

    def stream(self, spark: SparkSession) -> DataFrame:
        """Records."""
        reader = spark.readStream.format("delta").option("maxFilesPerTrigger", self.max_files).option("skipChangeCommits", "true")
        return reader.load(self.path)

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether Spark's Delta source wrote the offset."""
        return "reservoirVersion" in offset

    def reader(self, batch: DataFrame, _planned: PlannedFiles, _first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's records."""
        return partial(typed_rows, batch, self.limits)

    def listing(self) -> None:
        """None: a table's files never change."""
