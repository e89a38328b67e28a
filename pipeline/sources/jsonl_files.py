"""JSON lines in files: Spark lists and remembers the files, Python workers open and parse them.

Spark reads no byte of a local file: it would read it line by line in the JVM, lose where a line stood, and fail on a truncated gzip.
"""

import heapq
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import BinaryIO, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.parse.file import ParseLimits, parse_stream
from pipeline.sources.named import TaskNames
from pipeline.sources.place import LISTED, Place, vanished
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, FirstListed, InTask, RowReader, task_of

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
#: Spark's file source ignores files that are older than this against the newest one seen; an archive's files are months apart.
NEVER_TOO_OLD = "36500d"
#: Compressed logs grow about so many times: only to share work evenly.
_GROWTH = 12
#: A task below this is not worth a file of its own in the table; one above is split off if there are files enough.
_SMALL_TASK_BYTES = 8 << 20
_LARGE_TASK_BYTES = 256 << 20


@dataclass(frozen=True, order=True)
class ListedFile:
    """A file as it was listed: `path` as Spark writes it (`file:/a b/c`, not percent-encoded), `length` in bytes."""

    path: str
    length: int


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
        files = (
            spark.readStream.format("binaryFile")
            .schema(LISTED)
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", self.max_files)
            .option("maxFileAge", NEVER_TOO_OLD)
            .load(self.place.load)
        )
        columns = ("path", "length") if self.place.local else ("path", "length", "content")
        return files.where(F.col("path").rlike(self.place.wanted)).select(*columns)

    def reader(self, batch: DataFrame, planned: Sequence[str], first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's files, each as long as it was when the micro-batch was run first."""
        listed = sorted((row.path, row.length) for row in batch.select("path", "length").collect())
        self.place.refuse_vanished(batch.sparkSession, set(planned) - {path for path, _ in listed})
        files = [ListedFile(path, length) for path, length in json.loads(first_listed(json.dumps(listed)))]
        if not files:
            return None
        if not self.place.local:
            return partial(_handed_over, batch, files, self.limits)
        return partial(_opened, batch.sparkSession, files, self.limits)

    def listing(self, spark: SparkSession) -> DataFrame | None:
        """The wanted files that lie there now."""
        return self.place.listing(spark)


def share_out(files: Sequence[ListedFile], cores: int) -> list[list[ListedFile]]:
    """Files to tasks of about equal work: as many as cores if that is worth it, some times as many if they would be large.

    The same files give the same tasks, in whatever order they come.
    """
    work = {file: file.length * (1 if file.path.endswith(".jsonl") else _GROWTH) for file in files}
    total = sum(work.values())
    # Not one more than a multiple: all cores but one would wait for it.
    rounds = max(1, -(-total // (cores * _LARGE_TASK_BYTES)))
    tasks = max(1, min(rounds * cores, -(-total // _SMALL_TASK_BYTES)))
    shares: list[list[ListedFile]] = [[] for _ in range(min(tasks, len(files)))]
    loads = [(0, position) for position in range(len(shares))]
    for file in sorted(files, key=lambda f: (-work[f], f.path)):
        load, position = heapq.heappop(loads)
        shares[position].append(file)
        heapq.heappush(loads, (load + work[file], position))
    return [sorted(share, key=lambda f: f.path) for share in shares]


def _opened(
    spark: SparkSession, files: Sequence[ListedFile], limits: ParseLimits, only: Collection[str] | None, in_task: InTask
) -> DataFrame:
    """Rows of the files, which each task opens by itself; task k reads the k-th share."""
    shares = share_out([file for file in files if only is None or file.path in only], spark.sparkContext.defaultParallelism)
    tasks = spark.range(0, len(shares), 1, len(shares))
    return tasks.mapInArrow(task_of(partial(_read_shares, shares, limits), in_task), in_task.schema)


def _handed_over(
    batch: DataFrame, files: Sequence[ListedFile], limits: ParseLimits, only: Collection[str] | None, in_task: InTask
) -> DataFrame:
    """Rows of files whose content Spark has read."""
    lengths = {file.path: file.length for file in files if only is None or file.path in only}
    wanted = batch.where(F.col("path").isin(list(lengths)))
    return wanted.mapInArrow(task_of(partial(_read_contents, lengths, limits), in_task), in_task.schema)


def _read_shares(shares: Sequence[Sequence[ListedFile]], limits: ParseLimits, batches: Batches) -> Batches:
    met = TaskNames()
    for batch in batches:
        for task in batch.column("id").to_pylist():
            for file in shares[task]:
                with _open(file.path) as stream:
                    # What is appended meanwhile is not read: two passes over a growing file must agree.
                    yield from file_rows(cast(BinaryIO, Prefix(stream, file.length)), file, limits, met)


def _open(path: str) -> BinaryIO:
    try:
        return open(local_path(path), "rb")
    except FileNotFoundError as fault:
        raise vanished(path) from fault


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


def local_path(uri: str) -> str:
    """`file:/a b/c%20` as a path of the local file system: Spark's paths are not percent-encoded, so nothing is decoded."""
    path = uri.removeprefix("file:")
    return "/" + path.lstrip("/") if path.startswith("/") else path


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
