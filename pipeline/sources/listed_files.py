"""Files that Spark lists and remembers, and that Python workers open and read: Spark reads no byte of a local file.

Of JSON it would read line by line in the JVM, lose where a line stood, and fail on a truncated gzip; of Parquet it would take every
value of sixty columns into a row and out again.
"""

import heapq
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.parse.line import ParseLimits
from pipeline.sources.named import TaskNames
from pipeline.sources.place import LISTED, MAY_BE_GONE, Place, paths_here
from pipeline.sources.source import Batches, FirstListed, InTask, PlannedFiles, RowReader, task_of

#: Spark's file source ignores files that are older than this against the newest one seen; an archive's files are months apart.
NEVER_TOO_OLD = "36500d"
#: A task below this is not worth a file of its own in the table; one above is split off if there are files enough.
_SMALL_TASK_BYTES = 8 << 20
_LARGE_TASK_BYTES = 256 << 20


@dataclass(frozen=True, order=True)
class ListedFile:
    """A file as it was listed: `path` as Spark writes it (`file:/a b/c`, not percent-encoded), `length` in bytes.

    Of a file that several tasks read each reads part `part` of `parts`.
    """

    path: str
    length: int
    part: int = 0
    parts: int = 1


#: Opens a local file and gives its rows (ROW_SCHEMA), its summary last; the task's names are what it met in any file.
FileReader = Callable[[ListedFile, ParseLimits, TaskNames], Batches]


@dataclass(frozen=True)
class Kind:
    """What the files of a source are: `work_of` estimates a file in bytes of JSON, to share work evenly; `parts_of` cuts a large one.

    `can_be_cut`: `read` knows how to read one of any number of parts.
    """

    read: FileReader
    work_of: Callable[[ListedFile], int]
    parts_of: Callable[[ListedFile], int]
    can_be_cut: bool


def whole(_file: ListedFile) -> int:
    """One part: the file."""
    return 1


def listed_stream(spark: SparkSession, place: Place, max_files: int, columns: Sequence[str]) -> DataFrame:
    """One row per file at `place`, at most `max_files` in a micro-batch: `columns` of path, length, content."""
    files = (
        spark.readStream.format("binaryFile")
        .schema(LISTED)
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", max_files)
        .option("maxFileAge", NEVER_TOO_OLD)
        .options(**MAY_BE_GONE)  # of the wanted ones `files_of` notices
        .load(place.load)
    )
    return files.where(F.col("path").rlike(place.wanted)).select(*columns)


def files_here(place: Place) -> Iterator[ListedFile]:
    """The wanted files of a local place that lie there now, in the order of their paths. Empty files are left out, as Spark leaves them."""
    for path in sorted(paths_here(place)):
        if length := os.stat(path).st_size:
            yield ListedFile(f"file:{path}", length)


def files_of(batch: DataFrame, place: Place, planned: PlannedFiles, first_listed: FirstListed) -> list[ListedFile]:
    """Files of a micro-batch of `listed_stream`, each as long as it was when the micro-batch was run first.

    Raises BadWarehouse if one of `planned` is gone.
    """
    listed = sorted((row.path, row.length) for row in batch.select("path", "length").collect())
    place.refuse_vanished(batch.sparkSession, set(planned()) - {path for path, _ in listed})
    return files_in(first_listed(json.dumps(listed)))


def files_in(listing: str) -> list[ListedFile]:
    """The files of a listing that `files_of` has kept."""
    return [ListedFile(path, length) for path, length in json.loads(listing)]


def opened_by_tasks(spark: SparkSession, files: Sequence[ListedFile], kind: Kind, limits: ParseLimits) -> RowReader:
    """Rows of local files, which each task opens by itself."""
    return partial(_opened, spark, files, kind, limits)


def share_out(files: Sequence[ListedFile], cores: int, work_of: Callable[[ListedFile], int]) -> list[list[ListedFile]]:
    """Files to tasks of about equal work: as many as cores if that is worth it, some times as many if they would be large.

    The same files give the same tasks, in whatever order they come.
    """
    work = {file: work_of(file) for file in files}
    total = sum(work.values())
    # Not one more than a multiple: all cores but one would wait for it.
    rounds = max(1, -(-total // (cores * _LARGE_TASK_BYTES)))
    tasks = max(1, min(rounds * cores, -(-total // _SMALL_TASK_BYTES)))
    shares: list[list[ListedFile]] = [[] for _ in range(min(tasks, len(files)))]
    loads = [(0, position) for position in range(len(shares))]
    for file in sorted(files, key=lambda f: (-work[f], f.path, f.part)):
        load, position = heapq.heappop(loads)
        shares[position].append(file)
        heapq.heappush(loads, (load + work[file], position))
    return [sorted(share) for share in shares]


def _opened(spark: SparkSession, files: Sequence[ListedFile], kind: Kind, limits: ParseLimits, in_task: InTask) -> DataFrame:
    """Task k reads the k-th share."""
    wanted = [part for file in files for part in parts(file, kind.parts_of(file))]
    shares = share_out(wanted, spark.sparkContext.defaultParallelism, kind.work_of)
    tasks = spark.range(0, len(shares), 1, len(shares))
    return tasks.mapInArrow(task_of(partial(_read_shares, shares, kind.read, limits), in_task), in_task.schema)


def parts(file: ListedFile, count: int) -> Iterator[ListedFile]:
    """The file in so many parts."""
    return (ListedFile(file.path, file.length, part, count) for part in range(count))


def _read_shares(shares: Sequence[Sequence[ListedFile]], read: FileReader, limits: ParseLimits, batches: Batches) -> Batches:
    met = TaskNames()
    for batch in batches:
        for task in batch.column("id").to_pylist():
            for file in shares[task]:
                yield from read(file, limits, met)


def local_path(uri: str) -> str:
    """`file:/a b/c%20` as a path of the local file system: Spark's paths are not percent-encoded, so nothing is decoded."""
    path = uri.removeprefix("file:")
    return "/" + path.lstrip("/") if path.startswith("/") else path
