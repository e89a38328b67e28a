"""What parsing a piece of input gives: columns of events, columns of rejected lines, and the count that both must add up to."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.faults import invariant
from pipeline.sources.parse.line import ParsedEvent, ParseLimits, Reject, parse_line
from pipeline.sources.parse.scatter import Part, scattered
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import PARSED_FIELDS, QUARANTINE

EVENT_SCHEMA = arrow_schema(PARSED_FIELDS)
#: quarantine without what only the ingest batch knows.
REJECT_SCHEMA = arrow_schema([f for f in QUARANTINE.fields if f.name not in ("ingest_batch", "quarantined_at")])
_KINDS = set(EVENT_SCHEMA.types)


@dataclass(frozen=True)
class ParsedBlock:
    """A piece of one input, in its order.

    `events` has EVENT_SCHEMA, `rejects` REJECT_SCHEMA, `lines` counts the lines that are not blank (a truncation counts as one).
    `truncated`: the input ended here inside its compressed stream.
    """

    events: pa.RecordBatch
    rejects: pa.RecordBatch
    lines: int
    truncated: bool = False

    def __post_init__(self) -> None:
        invariant(
            self.lines == self.events.num_rows + self.rejects.num_rows,
            f"{self.lines} lines gave {self.events.num_rows} events and {self.rejects.num_rows} rejects",
        )


@dataclass(frozen=True)
class RejectedLine:
    """One row of quarantine: `raw` is the line or its beginning, `raw_bytes` its whole length, `raw_sha256` over the whole."""

    reject: Reject
    raw: str
    raw_bytes: int
    raw_sha256: str
    source_file: str
    source_line: int


def rejected_line(reject: Reject, raw: bytes, source_file: str, source_line: int, limits: ParseLimits) -> RejectedLine:
    """The quarantine row of the whole line `raw`."""
    return RejectedLine(reject, cut_text(raw, limits.raw_bytes), len(raw), hashlib.sha256(raw).hexdigest(), source_file, source_line)


def cut_text(raw: bytes, limit: int) -> str:
    """At most `limit` bytes of `raw` as text, cut between characters; what is not UTF-8 becomes U+FFFD."""
    end = min(limit, len(raw))
    # A character has at most three bytes after its first; in bytes that are no UTF-8 any place is as good.
    for _ in range(3):
        if 0 < end < len(raw) and raw[end] & 0xC0 == 0x80:
            end -= 1
    return raw[:end].decode("utf-8", errors="replace")


def reject_batch(rejected: Sequence[RejectedLine]) -> pa.RecordBatch:
    """Rows of REJECT_SCHEMA, in the order given."""
    nothing = (None, None, None, None, None)
    envelopes = [line.reject.envelope or nothing for line in rejected]
    columns = {
        "reason": [line.reject.reason for line in rejected],
        "detail": [line.reject.detail for line in rejected],
        "raw": [line.raw for line in rejected],
        "raw_bytes": [line.raw_bytes for line in rejected],
        "raw_sha256": [line.raw_sha256 for line in rejected],
        **{name: [envelope[place] for envelope in envelopes] for place, name in enumerate(("broker", "epoch", "seq", "ts", "ns"))},
        "source_file": [line.source_file for line in rejected],
        "source_line": [line.source_line for line in rejected],
    }
    return pa.RecordBatch.from_pydict({name: columns[name] for name in REJECT_SCHEMA.names}, schema=REJECT_SCHEMA)


def event_table(events: Sequence[ParsedEvent]) -> pa.Table:
    """Rows of EVENT_SCHEMA, in the order given; source_file and source_line are left null for the caller to fill."""
    columns = []
    for field in EVENT_SCHEMA:
        values = [event.values.get(field.name) for event in events]
        if pa.types.is_map(field.type):
            values = [None if value is None else list(value.items()) for value in values]
        columns.append(pa.array(values, field.type))
    return pa.table(columns, names=EVENT_SCHEMA.names)


@dataclass(frozen=True)
class SlowRows:
    """The results of parse_line for single lines. `event_at` holds the position of each event of `events` in the input."""

    events: list[ParsedEvent]
    event_at: list[int]
    rejected: list[RejectedLine]


def parse_singly(
    raws: Sequence[bytes], positions: Sequence[int], line_numbers: Sequence[int], source_file: str, limits: ParseLimits
) -> SlowRows:
    """parse_line over each of `raws`; `positions` order them among the input's rows, `line_numbers` go into the rows."""
    slow = SlowRows([], [], [])
    for raw, position, line_number in zip(raws, positions, line_numbers, strict=True):
        outcome = parse_line(raw, limits)
        if isinstance(outcome, ParsedEvent):
            slow.events.append(outcome)
            slow.event_at.append(position)
        else:
            slow.rejected.append(rejected_line(outcome, raw, source_file, line_number, limits))
    return slow


def assemble(
    quick: Sequence[tuple[pa.Table, npt.NDArray[np.int64]]],
    slow: SlowRows,
    line_numbers: npt.NDArray[np.int64],
    source_file: str,
    lines: int,
) -> ParsedBlock:
    """Joins quick tables and single rows in the input's order.

    `quick`: tables with any of EVENT_SCHEMA's columns (type_code among them) and each row's position; `line_numbers`: by position.
    """
    pieces = [*quick]
    if slow.events:
        pieces.append((event_table(slow.events), np.array(slow.event_at, dtype=np.int64)))
    positions = np.concatenate([np.empty(0, np.int64), *(at for _, at in pieces)])
    rows = len(positions)
    is_event = np.zeros(len(line_numbers), dtype=np.bool_)
    is_event[positions] = True
    place_of = np.cumsum(is_event) - 1
    parts: dict[str, list[Part]] = {}
    for table, at in pieces:
        places = place_of[at]
        for name, column in zip(table.schema.names, table.columns, strict=True):
            parts.setdefault(name, []).append((_only_chunk(column), places))
    # Most columns belong to few types: what no piece has is null, and the nulls of a kind are made once.
    nulls = {kind: pa.nulls(rows, kind) for kind in _KINDS}
    columns = {
        field.name: scattered(parts[field.name], field.type, rows) if field.name in parts else nulls[field.type] for field in EVENT_SCHEMA
    }
    columns["source_file"] = pa.repeat(pa.scalar(source_file, pa.string()), rows)
    columns["source_line"] = pa.array(line_numbers[is_event], pa.int64())
    events = pa.RecordBatch.from_arrays(list(columns.values()), schema=EVENT_SCHEMA)
    return ParsedBlock(events, reject_batch(slow.rejected), lines)


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
