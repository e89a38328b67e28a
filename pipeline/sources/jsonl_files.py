"""JSON lines in files, plain or compressed."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from pyspark.sql import DataFrame, SparkSession

from pipeline.faults import BadWarehouse
from pipeline.sources.listed_files import Kind, files_of, listed_stream, opened_by_tasks
from pipeline.sources.listing import ListedFile, files_now
from pipeline.sources.names_met import TaskNames
from pipeline.sources.open_files import unfinished_path
from pipeline.sources.parse.file import ParseLimits, blocks_of, parse_block
from pipeline.sources.place import Place, vanished
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, FirstListed, PlannedFiles, RowReader
from pipeline.store.arrow_places import opened_anywhere, opened_to_read

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
#: Compressed logs grow about so many times.
_GROWTH = 12


@dataclass(frozen=True)
class JsonlFiles:
    """Files of JSON lines at `place`, at most `max_files` in a micro-batch; with `follows` also what is whole of open ones."""

    place: Place
    max_files: int
    limits: ParseLimits
    follows: bool = False

    def stream(self, spark: SparkSession) -> DataFrame:
        """One row per file: path, length."""
        return listed_stream(spark, self.place, self.max_files)

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether Spark's file source wrote the offset."""
        return "logOffset" in offset

    def reader(self, batch: DataFrame, planned: PlannedFiles, first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's files, each as long as it was when the micro-batch was run first."""
        files = files_of(batch, self.place, planned, first_listed, self.follows)
        return opened_by_tasks(batch.sparkSession, files, KIND, self.limits) if files else None

    @property
    def kind(self) -> Kind:
        """How a file is opened and shared out."""
        return KIND

    def listing(self) -> list[ListedFile]:
        """The wanted files that lie there now."""
        return files_now(self.place)


def _work_of(file: ListedFile) -> int:
    return (file.length - file.begin) * (1 if file.path.endswith(".jsonl") else _GROWTH) // file.parts


def _read(file: ListedFile, limits: ParseLimits, met: TaskNames) -> Batches:
    """Rows of a part of the file: of the blocks of lines that end in it.

    Lines are counted from the file's beginning, and most compressed files can be read from there only. So whatever lies before the part is
    read, too, but not parsed, which takes a tenth of the time.
    """
    counted = Counted(*_in_books(file), met)
    with _opened(file) as stream:
        # What is appended meanwhile is not read: two passes over a growing file must agree.
        prefix = Prefix(cast(BinaryIO, stream), file.length, file.begin)
        for text in blocks_of(cast(BinaryIO, prefix), file.path, limits, file.lines_before):
            part = min(prefix.done * file.parts // file.length, file.parts - 1)
            if part > file.part:
                break
            if part == file.part:
                block = parse_block(text, file.path, limits)
                counted.add(block)
                yield from block_rows(block)
        _refuse_shorter(file, prefix)
    yield summary_row(counted)


def _refuse_shorter(file: ListedFile, read: "Prefix") -> None:
    """Raise BadWarehouse if an open file is shorter than the driver saw it. One that is finished may have lost bytes in a crash."""
    if file.is_open and read.done < file.length and unfinished_path(file.path).exists():
        raise BadWarehouse(
            f"{unfinished_path(file.path)} has {read.done:,} bytes, and had {file.length:,} when it was listed. On a cluster all hosts "
            "must see the same files at once; else set ingest.follow_open_files=never"
        )


def _in_books(file: ListedFile) -> tuple[str, int]:
    """Name and bytes for ingest_files. A file that grows has a row for each part that is read, and one when it is finished."""
    return (f"{file.path}?bytes={file.begin}-{file.length}", file.length - file.begin) if file.is_open else (file.path, file.length)


def _opened(file: ListedFile) -> Any:
    """The file from `begin` on. A file that grows gets its finished name at some time: perhaps between two looks."""
    places = [f"file:{unfinished_path(file.path)}", file.path] if file.is_open else [file.path]
    for place in places:
        with suppress(FileNotFoundError):
            if not file.begin:
                return opened_to_read(place)
            stream = opened_anywhere(place)
            stream.seek(file.begin)
            return stream
    raise vanished(file.path)


KIND = Kind(_read, _work_of)


class Prefix:
    """The first `length` bytes of a stream; `done` of them are read: at first as many as the stream stands behind."""

    def __init__(self, stream: BinaryIO, length: int, done: int = 0) -> None:
        self._stream = stream
        self._length = length
        self.done = done

    def read(self, size: int = -1) -> bytes:
        """`size` bytes, or all that are left if these are fewer, or if it is negative."""
        left = self._length - self.done
        wanted = left if size < 0 else min(size, left)
        pieces: list[bytes] = []
        # All of them, though a stream may give fewer: where blocks of lines end depends on it, and all parts must agree on that.
        while wanted and (piece := self._stream.read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
            self.done += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
