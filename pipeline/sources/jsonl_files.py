"""JSON lines in files, plain or compressed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, BinaryIO, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.parse.file import ParseLimits, parse_stream
from pipeline.sources.listed_files import Kind, ListedFile, files_of, listed_stream, local_path, opened_by_tasks, whole
from pipeline.sources.named import TaskNames
from pipeline.sources.place import Place, vanished
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, FirstListed, InTask, PlannedFiles, RowReader, task_of

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
#: Compressed logs grow about so many times.
_GROWTH = 12


@dataclass(frozen=True)
class JsonlFiles:
    """Files of JSON lines at `place`, at most `max_files` in a micro-batch.

    Where the files are not local, Spark reads each as a whole and hands its bytes over: a file must fit into memory some times, and
    must be below 2 GiB.
    """

    place: Place
    max_files: int
    limits: ParseLimits

    def stream(self, spark: SparkSession) -> DataFrame:
        """One row per file: path, length, and content where the files are not local."""
        columns = ("path", "length") if self.place.local else ("path", "length", "content")
        return listed_stream(spark, self.place, self.max_files, columns)

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether Spark's file source wrote the offset."""
        return "logOffset" in offset

    def reader(self, batch: DataFrame, planned: PlannedFiles, first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's files, each as long as it was when the micro-batch was run first."""
        files = files_of(batch, self.place, planned, first_listed)
        if not files:
            return None
        if not self.place.local:
            return partial(_handed_over, batch, files, self.limits)
        return opened_by_tasks(batch.sparkSession, files, KIND, self.limits)

    @property
    def kind(self) -> Kind:
        """How a local file is opened and shared out."""
        return KIND

    def listing(self, spark: SparkSession) -> DataFrame | None:
        """The wanted files that lie there now."""
        return self.place.listing(spark)


def _work_of(file: ListedFile) -> int:
    return file.length * (1 if file.path.endswith(".jsonl") else _GROWTH)


def _read(file: ListedFile, limits: ParseLimits, met: TaskNames) -> Batches:
    try:
        stream = open(local_path(file.path), "rb")  # noqa: SIM115  # closed below; only its opening may fail with this fault
    except FileNotFoundError as fault:
        raise vanished(file.path) from fault
    with stream:
        # What is appended meanwhile is not read: two passes over a growing file must agree.
        yield from file_rows(cast(BinaryIO, Prefix(stream, file.length)), file, limits, met)


KIND = Kind(_read, _work_of, whole, can_be_cut=False)


def _handed_over(batch: DataFrame, files: Sequence[ListedFile], limits: ParseLimits, in_task: InTask) -> DataFrame:
    """Rows of files whose content Spark has read."""
    lengths = {file.path: file.length for file in files}
    wanted = batch.where(F.col("path").isin(list(lengths)))
    return wanted.mapInArrow(task_of(partial(_read_contents, lengths, limits), in_task), in_task.schema)


def _read_contents(lengths: Mapping[str, int], limits: ParseLimits, batches: Batches) -> Batches:
    met = TaskNames()
    for batch in batches:
        for path, content in zip(batch.column("path").to_pylist(), batch.column("content"), strict=True):
            file = ListedFile(path, lengths[path])
            stream = Prefix(BytesIO(content.as_buffer()), file.length)
            yield from file_rows(cast(BinaryIO, stream), file, limits, met)


def file_rows(stream: BinaryIO, file: ListedFile, limits: ParseLimits, met: TaskNames) -> Batches:
    """Rows (ROW_SCHEMA) of one file's bytes, its summary last."""
    counted = Counted(file.path, file.length, met)
    for block in parse_stream(stream, file.path, limits):
        counted.add(block)
        yield from block_rows(block)
    yield summary_row(counted)


class Prefix:
    """The first `length` bytes of a stream."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self._stream = stream
        self._left = length

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes (all that are left if negative)."""
        piece = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(piece)
        return piece
