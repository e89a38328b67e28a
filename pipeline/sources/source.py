"""What ingest knows of a source, and nothing more: a stream of work, and rows for a micro-batch of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pipeline.sources.listing import ListedFile

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class InTask:
    """What a task makes of the rows (ROW_SCHEMA of pipeline/sources/rows.py) that it has read, before anything leaves it.

    Between two stages of Python Spark would carry every row through the JVM.
    """

    made_of: Callable[[Batches], Batches]
    schema: StructType


def task_of(read: Callable[[Batches], Batches], in_task: InTask) -> Callable[[Batches], Batches]:
    """The function of a task for `mapInArrow`: reads rows, then makes of them what is to leave the task."""
    made_of = in_task.made_of

    def run(batches: Batches) -> Batches:
        return made_of(read(batches))

    return run


#: What tasks make of the rows of one micro-batch. Run again, the same files give the same rows, whatever is appended to them in between.
RowReader = Callable[[InTask], DataFrame]
#: Makes the text (one line) that says what a micro-batch reads, out of that of the micro-batch before (None: there is none). None: nothing.
Listing = Callable[[str | None], str | None]
#: Gives back what was made when the micro-batch was run first.
FirstListed = Callable[[Listing], str | None]
#: Paths of the files that Spark planned for a micro-batch. Only a source of files may ask: its log in the checkpoint is read for that.
PlannedFiles = Callable[[], Sequence[str]]


class Source(Protocol):
    """One kind of input. Its stream's rows are work (files to read, or records): Spark tracks in the checkpoint what was taken.

    A source of records, as Kafka is, streams them and parses them in `reader`.
    """

    def stream(self, spark: SparkSession) -> DataFrame:
        """The streaming frame of work."""
        ...

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether an offset of Spark's offset log is one of this kind of source."""
        ...

    def reader(self, batch: DataFrame, planned: PlannedFiles, first_listed: FirstListed) -> RowReader | None:
        """How to read the rows of a micro-batch of `stream`; None if it holds nothing to read.

        `planned` gives the files that Spark planned for it: BadWarehouse if one of them is gone, since Spark would go on without it and
        never report it. With `first_listed` a source whose files may grow keeps how far they are to be read, also when the micro-batch is
        run again.
        """
        ...

    def listing(self) -> Sequence[ListedFile] | None:
        """What lies there now, with the names that the rows have; None if the source has no files."""
        ...
