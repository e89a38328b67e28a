"""Rejected lines, parsed again one by one: the rule is parse_line, as at first."""

import pyarrow as pa

from pipeline.sources.parse.line import ParsedEvent, ParseLimits, Reject, parse_line
from pipeline.sources.parse.outcome import EVENT_SCHEMA, event_table

#: An event as one value, so that it may be null beside the line that is none.
EVENT_TYPE = pa.struct([field.with_nullable(True) for field in EVENT_SCHEMA])
#: What parse_again adds to a line.
PARSED_FIELDS = (
    pa.field("new_reason", pa.string()),
    pa.field("new_detail", pa.string()),
    pa.field("event", EVENT_TYPE),
)


def parse_again(lines: pa.RecordBatch, limits: ParseLimits) -> pa.RecordBatch:
    """`lines` with PARSED_FIELDS behind: the event that `text` is, or the reason and detail why it is none; all null without a text.

    `lines` has the columns text, source_file and source_line; the event is of that file and line.
    """
    outcomes = [None if text is None else parse_line(text.encode(), limits) for text in lines.column("text").to_pylist()]
    rejects = [outcome if isinstance(outcome, Reject) else None for outcome in outcomes]
    verdicts = [
        pa.array([reject and reject.reason for reject in rejects], pa.string()),
        pa.array([reject and reject.detail for reject in rejects], pa.string()),
        _events(outcomes, lines),
    ]
    return pa.RecordBatch.from_arrays([*lines.columns, *verdicts], schema=pa.schema([*lines.schema, *PARSED_FIELDS]))


def _events(outcomes: list[ParsedEvent | Reject | None], lines: pa.RecordBatch) -> pa.StructArray:
    """The events of `outcomes`, null where there is none."""
    at = [place for place, outcome in enumerate(outcomes) if isinstance(outcome, ParsedEvent)]
    table = event_table([outcome for outcome in outcomes if isinstance(outcome, ParsedEvent)]).combine_chunks()
    columns = {name: column.combine_chunks() for name, column in zip(table.schema.names, table.columns, strict=True)}
    for name in ("source_file", "source_line"):
        columns[name] = lines.column(name).take(pa.array(at, pa.int64()))
    events = pa.StructArray.from_arrays([columns[field.name] for field in EVENT_TYPE], fields=list(EVENT_TYPE))
    number = {place: position for position, place in enumerate(at)}
    return events.take(pa.array([number.get(place) for place in range(len(outcomes))], pa.int64()))
