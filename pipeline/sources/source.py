"""What ingest knows of a source, and nothing more: a stream of work, and rows for a micro-batch of it."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

#: Rows of one micro-batch (ROW_SCHEMA of pipeline/sources/rows.py). May be called again, with the names of files to which it may
#: (not must) restrict itself: the same files give the same rows each time, whatever is appended to them in between.
RowReader = Callable[[Collection[str] | None], DataFrame]
#: Gives back the text (one line) that it was given when the micro-batch was run first.
FirstListed = Callable[[str], str]


class Source(Protocol):
    """One kind of input. Its stream's rows are work (files to read, or records): Spark tracks in the checkpoint what was taken.

    A source of records, as Kafka is, streams them and parses them in `reader`.
    """

    def stream(self, spark: SparkSession) -> DataFrame:
        """The streaming frame of work."""
        ...

    def reader(self, batch: DataFrame, planned: Sequence[str], first_listed: FirstListed) -> RowReader | None:
        """How to read the rows of a micro-batch of `stream`; None if it holds nothing to read.

        `planned` are the files that Spark planned for it: BadWarehouse if one of them is gone, since Spark would go on without it and
        never report it. With `first_listed` a source whose files may grow keeps how far they are to be read, also when the micro-batch is
        run again.
        """
        ...

    def listing(self, spark: SparkSession) -> DataFrame | None:
        """What lies there now: (file string, bytes long), with the names that the rows have; None if the source has no files."""
        ...
