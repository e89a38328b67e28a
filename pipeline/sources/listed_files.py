"""Files that Spark lists and remembers, and that Python workers open and read: Spark reads no byte of them.

Of JSON it would read line by line in the JVM, lose where a line stood, and fail on a truncated gzip; of Parquet it would take every
value of sixty columns into a row and out again.
"""

import heapq
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.sources.growing import Part
from pipeline.sources.listing import ListedFile
from pipeline.sources.names_met import TaskNames
from pipeline.sources.open_files import Parts, look
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.place import Place
from pipeline.sources.source import Batches, FirstListed, InTask, PlannedFiles, RowReader, task_of

#: `binaryFile` lists files in any folder below, with their length; `content` is read only if a query asks for it.
_LISTED = "path string, modificationTime timestamp, length bigint, content binary"
#: A listed file may be gone when Spark looks at it: moved to the archive, deleted, or renamed as it is whole now.
_MAY_BE_GONE = {"ignoreMissingFiles": "true"}
#: Spark's file source ignores files that are older than this against the newest one seen; an archive's files are months apart.
NEVER_TOO_OLD = "36500d"
#: A task below this is not worth a file of its own in the table; one above is split off if there are files enough.
_SMALL_TASK_BYTES = 8 << 20
_LARGE_TASK_BYTES = 256 << 20


#: Opens a file and gives the rows (ROW_SCHEMA) of its part, a summary last; the task's names are what it met in any file.
FileReader = Callable[[ListedFile, ParseLimits, TaskNames], Batches]


@dataclass(frozen=True)
class Kind:
    """What the files of a source are: `work_of` estimates a file, or a part of one, in bytes of JSON, to share work evenly.

    `read` reads any part of any number of them. No part should be longer than `part_bytes` (None: no matter).
    """

    read: FileReader
    work_of: Callable[[ListedFile], int]
    part_bytes: int | None = None


def listed_stream(spark: SparkSession, place: Place, max_files: int) -> DataFrame:
    """One row per file at `place`, at most `max_files` in a micro-batch: path, length."""
    files = (
        spark.readStream.format("binaryFile")
        .schema(_LISTED)
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", max_files)
        .option("maxFileAge", NEVER_TOO_OLD)
        .options(**_MAY_BE_GONE)  # of the wanted ones `files_of` notices
        .load(place.load)
    )
    return files.where(F.col("path").rlike(place.wanted)).select("path", "length")


def files_of(batch: DataFrame, place: Place, planned: PlannedFiles, first_listed: FirstListed, follows: bool = False) -> list[ListedFile]:
    """Files of a micro-batch of `listed_stream`, each as long as it was when the micro-batch was run first; with `follows` also open ones.

    Raises BadWarehouse if one of `planned` is gone.
    """

    def listing(before: str | None) -> str | None:
        listed = _listed(batch, place, planned, spares=follows)
        parts = _parts_in(before)
        now = look(place, parts) if follows else parts
        files = [*_finished(listed, parts), *_open(listed, parts, now)]
        left = {path: part for path, part in now.items() if path not in listed}
        if not files and left == parts:
            return None
        # Without open files as earlier versions wrote it.
        return json.dumps({"files": sorted(files), "open": left} if left or parts else sorted(files))

    kept = first_listed(listing)
    return [] if kept is None else files_in(kept)


def _listed(batch: DataFrame, place: Place, planned: PlannedFiles, spares: bool) -> dict[str, int]:
    """Path → length of the files that Spark planned. `spares`: there are mostly none, and then Spark need not be asked."""
    if spares and not planned():
        return {}
    with ThreadPoolExecutor(1) as thread:  # a store takes some ten milliseconds for each of its requests
        asked = thread.submit(planned)
        listed = {row.path: row.length for row in batch.select("path", "length").collect()}
        place.refuse_vanished(set(asked.result()) - listed.keys())
    return listed


def files_in(listing: str) -> list[ListedFile]:
    """The files of a listing that `files_of` has kept."""
    kept = json.loads(listing)
    files = kept["files"] if isinstance(kept, dict) else kept
    return [ListedFile(path, length, 0, 1, *of_growth) for path, length, *of_growth in files]


def _parts_in(listing: str | None) -> dict[str, Part]:
    """How far open files were read, by the listing of the micro-batch before."""
    kept = json.loads(listing) if listing else []
    return {path: Part(*part) for path, part in kept["open"].items()} if isinstance(kept, dict) else {}


def _finished(listed: Mapping[str, int], parts: Parts) -> Iterator[tuple[object, ...]]:
    """Fields of whole files, without what was read of them while they grew."""
    for path, length in listed.items():
        part = parts.get(path)
        yield (path, length) if part is None else (path, length, min(part.bytes, length), part.lines, False)


def _open(listed: Mapping[str, int], parts: Parts, now: Parts) -> Iterator[tuple[object, ...]]:
    """Fields of what open files have more than before. One that was finished meanwhile and is listed, too, is read as that."""
    for path, part in now.items():
        before = parts.get(path, Part())
        if part.bytes > before.bytes and path not in listed:
            yield path, part.bytes, before.bytes, before.lines, True


def opened_by_tasks(spark: SparkSession, files: Sequence[ListedFile], kind: Kind, limits: ParseLimits) -> RowReader:
    """Rows of files, which each task opens by itself."""
    return partial(_opened, spark, files, kind, limits)


def share_out(files: Sequence[ListedFile], cores: int, kind: Kind) -> list[list[ListedFile]]:
    """Files to tasks of about equal work: as many as cores if that is worth it, some times as many if they would be large.

    A file that is more than a task's fair share comes in parts. The same files give the same tasks, in whatever order they come.
    """
    fair = max(_SMALL_TASK_BYTES, -(-sum(map(kind.work_of, files)) // cores))
    work = {part: kind.work_of(part) for file in files for part in _parts(file, fair, kind)}
    total = sum(work.values())
    # Not one more than a multiple: all cores but one would wait for it.
    rounds = max(1, -(-total // (cores * _LARGE_TASK_BYTES)))
    tasks = max(1, min(rounds * cores, -(-total // _SMALL_TASK_BYTES)))
    shares: list[list[ListedFile]] = [[] for _ in range(min(tasks, len(work)))]
    loads = [(0, position) for position in range(len(shares))]
    for file in sorted(work, key=lambda f: (-work[f], f.path, f.part)):
        load, position = heapq.heappop(loads)
        shares[position].append(file)
        heapq.heappush(loads, (load + work[file], position))
    return [sorted(share) for share in shares]


def _parts(file: ListedFile, fair_bytes: int, kind: Kind) -> list[ListedFile]:
    """The file in parts of `fair_bytes` of work at most. What follows a part that was read before is one part."""
    if file.begin or file.is_open:
        return [file]
    of_part = kind.part_bytes or file.length or 1
    count = max(1, -(-kind.work_of(file) // fair_bytes), -(-file.length // of_part))
    return [replace(file, part=part, parts=count) for part in range(count)]


def _opened(spark: SparkSession, files: Sequence[ListedFile], kind: Kind, limits: ParseLimits, in_task: InTask) -> DataFrame:
    """Task k reads the k-th share."""
    shares = share_out(files, spark.sparkContext.defaultParallelism, kind)
    tasks = spark.range(0, len(shares), 1, len(shares))
    return tasks.mapInArrow(task_of(partial(_read_shares, shares, kind.read, limits), in_task), in_task.schema)


def _read_shares(shares: Sequence[Sequence[ListedFile]], read: FileReader, limits: ParseLimits, batches: Batches) -> Batches:
    met = TaskNames()
    for batch in batches:
        for task in batch.column("id").to_pylist():
            for file in shares[task]:
                yield from read(file, limits, met)
