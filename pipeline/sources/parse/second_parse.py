"""Rejected lines, parsed again as records are: the rule is parse_line, as at first."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.outcome import EVENT_SCHEMA, REJECT_SCHEMA
from pipeline.sources.parse.records import parse_records

#: An event as one value, so that it may be null beside the line that is none.
EVENT_TYPE = pa.struct([field.with_nullable(True) for field in EVENT_SCHEMA])
#: What parse_again adds to a line.
PARSED_FIELDS = (
    pa.field("new_reason", pa.string()),
    pa.field("new_detail", pa.string()),
    pa.field("event", EVENT_TYPE),
)
#: A log may have blank lines, which nobody counts. The text that stands for a rejected line may not be blank.
_BLANK_REASON, _BLANK_DETAIL = "not_json", "the text is blank"


def parse_again(lines: pa.RecordBatch, limits: ParseLimits) -> pa.RecordBatch:
    """`lines` with PARSED_FIELDS behind: the event that `text` is, or the reason and detail why it is none; all null without a text.

    `lines` has the columns text, source_file and source_line; the event is of that file and line.
    """
    texts = [None if text is None else text.encode() for text in lines.column("text").to_pylist()]
    # source_line of an outcome is the place of its text among `lines`.
    blocks = list(parse_records(texts, np.arange(len(texts)), "", limits))
    events = pa.Table.from_batches([block.events for block in blocks], EVENT_SCHEMA)
    rejects = pa.Table.from_batches([block.rejects for block in blocks], REJECT_SCHEMA)
    of_line = _places(rejects, len(texts))
    blank = pa.array([text is not None and not text.strip() for text in texts], pa.bool_())
    parsed = [
        pc.if_else(blank, _BLANK_REASON, _in_places(rejects["reason"], of_line)),
        pc.if_else(blank, _BLANK_DETAIL, _in_places(rejects["detail"], of_line)),
        _in_places(_as_values(events, lines), _places(events, len(texts))),
    ]
    return pa.RecordBatch.from_arrays([*lines.columns, *parsed], schema=pa.schema([*lines.schema, *PARSED_FIELDS]))


def _as_values(events: pa.Table, lines: pa.RecordBatch) -> pa.StructArray:
    """Events as values of EVENT_TYPE, each of the file and line of its text."""
    columns = {name: _whole(column) for name, column in zip(events.schema.names, events.columns, strict=True)}
    own = {name: lines.column(name).take(columns["source_line"]) for name in ("source_file", "source_line")}
    return pa.StructArray.from_arrays([{**columns, **own}[field.name] for field in EVENT_TYPE], fields=list(EVENT_TYPE))


def _places(outcomes: pa.Table, count: int) -> pa.Array:
    """Of each of `count` texts the row of its outcome; null if it has none."""
    rows = np.full(count, -1)
    rows[outcomes["source_line"].to_numpy()] = np.arange(outcomes.num_rows)
    return pa.array(rows, mask=rows < 0)


def _in_places(column: pa.Array | pa.ChunkedArray, places: pa.Array) -> pa.Array:
    return _whole(column).take(places)


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
