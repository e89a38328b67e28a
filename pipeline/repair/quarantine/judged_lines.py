"""Rejected lines as the current parser judges them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.faults import BadConfig
from pipeline.query.refusal import refusals
from pipeline.query.room import ReadingRoom
from pipeline.query.statement import check_condition
from pipeline.query.views.catalog import all_names
from pipeline.repair.quarantine.repaired_lines import RepairedLine
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.second_parse import parse_again
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import QUARANTINE, SEQ_TAKEN

#: Which row of quarantine; rows that were rejected twice alike (of tables, which have no line numbers) share it.
LINE_KEY = ("source_file", "source_line", "raw_sha256")
#: What becomes of a line: it is an event now; it is none; its text is not whole, so nobody knows; its micro-batch is not finished.
EVENT, REJECTED, CUT, UNFINISHED = "event", "rejected", "cut", "unfinished"
#: These lines are whole as text, perhaps; what was wrong was their file.
_FILE_ENDED = "truncated_file"

#: What a replay needs to know of a line.
_COLUMNS = (*LINE_KEY, "reason", "detail", "raw", "broker", "epoch", "seq", "ingest_batch")
_SCHEMA = pa.schema([field.with_nullable(True) for field in arrow_schema([QUARANTINE.field(name) for name in _COLUMNS])])
Key = tuple[str, int, str]


@dataclass(frozen=True)
class JudgedLines:
    """Rows of quarantine, as `room` has them, that keep `where` (SQL on its columns).

    Not those of the reason seq_taken, which are in dispatch_events as well. With `repaired` only the lines that it names, with the text
    that it gives; a line without one is parsed as quarantine has it, if it has all of it. Micro-batches of ingest beyond `newest_whole`
    are not finished.
    """

    room: ReadingRoom
    limits: ParseLimits
    where: str | None
    repaired: Sequence[RepairedLine] | None
    newest_whole: int

    def batches(self) -> Iterator[pa.RecordBatch]:
        """_COLUMNS of the rows, repaired_text, text, new_reason, new_detail, event and `state`; a batch at a time is held.

        Raises BadConfig for a `where` that is none.
        """
        texts = None if self.repaired is None else {_key_of(line): line.text for line in self.repaired}
        for batch in self._rows():
            lines = _with_texts(batch.cast(_SCHEMA), texts)
            if lines.num_rows:
                judged = parse_again(lines, self.limits)
                yield judged.append_column("state", _states(judged, self.newest_whole))

    def _rows(self) -> Iterator[pa.RecordBatch]:
        query = f"SELECT {', '.join(_COLUMNS)} FROM quarantine WHERE reason <> '{SEQ_TAKEN}'"
        if self.where is not None:
            with self._faults_of_where():
                check_condition(self.where, all_names())
                # The line's end: a condition may end in a comment.
                query = f"{query} AND ({self.where}\n)"
                self.room.ask(f"EXPLAIN {query}")
        rows = self.room.batches(query)
        while True:
            with self._faults_of_where():
                batch = next(rows, None)
            if batch is None:
                return
            yield batch

    @contextmanager
    def _faults_of_where(self) -> Iterator[None]:
        try:
            with refusals() if self.where is not None else nullcontext():
                yield
        except BadConfig as refused:
            raise BadConfig(f"--where {self.where}: {str(refused).removeprefix('SQL: ')}") from refused


def _key_of(line: RepairedLine) -> Key:
    return line.source_file, line.source_line, line.raw_sha256


def keys_of(lines: pa.RecordBatch) -> list[Key]:
    """Which line each row is: its file ('' for tables), its number there, and the SHA-256 of it as it was rejected."""
    files, numbers, hashes = (lines.column(name).to_pylist() for name in LINE_KEY)
    return [(file or "", number, sha) for file, number, sha in zip(files, numbers, hashes, strict=True)]


def _with_texts(lines: pa.RecordBatch, texts: Mapping[Key, str] | None) -> pa.RecordBatch:
    """The lines that are to be judged, with repaired_text and `text`, which is null where quarantine does not have all of it."""
    if texts is not None:
        keys = keys_of(lines)
        lines = lines.filter(pa.array([key in texts for key in keys], pa.bool_()))
        repaired = pa.array([texts[key] for key in keys if key in texts], pa.string())
    else:
        repaired = pa.nulls(lines.num_rows, pa.string())
    text = pc.coalesce(repaired, _own_text(lines))
    return lines.append_column("repaired_text", repaired).append_column("text", text)


def _own_text(lines: pa.RecordBatch) -> pa.Array:
    """The line as it was rejected; null if quarantine has only its beginning, or bytes of it as U+FFFD, or its file ended in it."""
    columns = (lines.column(name).to_pylist() for name in ("raw", "raw_sha256", "reason"))
    own = [
        raw if reason != _FILE_ENDED and hashlib.sha256(raw.encode()).hexdigest() == sha else None
        for raw, sha, reason in zip(*columns, strict=True)
    ]
    return pa.array(own, pa.string())


def _states(judged: pa.RecordBatch, newest_whole: int) -> pa.Array:
    unfinished = pc.greater(judged["ingest_batch"], newest_whole)
    cut, is_event = pc.is_null(judged["text"]), pc.is_valid(judged["event"])
    return pc.if_else(unfinished, UNFINISHED, pc.if_else(cut, CUT, pc.if_else(is_event, EVENT, REJECTED)))
