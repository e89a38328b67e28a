"""Events whose place in the log another event has taken: two logs claim one broker and epoch. They go to quarantine, and stay in bronze.

A lane sees that a place comes twice, not what it was the first time. So it reports the bounds of what it left out, and here the events of
those places are compared, as dispatch_events has them. The same event once more is a repeat, and nothing. Of several events the one counts
that arrived first: in the earlier micro-batch of ingest, in one micro-batch by schemas/arrival.py. The lane takes the same one.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.sources.parse.arrival import arrivals
from pipeline.sources.parse.content import CONTENT_COLUMNS, content_hashes
from pipeline.sources.parse.line import Envelope, ParseLimits, Reject
from pipeline.sources.parse.outcome import REJECT_SCHEMA, RejectedLine, reject_batch, rejected_line
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.outcomes import LANE_REPORT_REPEATS
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE, SEQ_TAKEN

#: Places that are looked at together: what is read of them is held.
_AT_ONCE = 1 << 18
_PLACE = ("source_file", "source_line", "ingest_batch", "raw_sha256")
_READ = (*CONTENT_COLUMNS, "source_file", "source_line", "ingest_batch")
Ints = npt.NDArray[np.int64]


class Repeats(NamedTuple):
    """Bounds of the events that a lane left out in one micro-batch."""

    broker_id: int
    first_epoch: int
    last_epoch: int
    first_seq: int
    last_seq: int


def repeats_of(reports: pa.Table) -> list[Repeats]:
    """Bounds of each lane that left out any, by the lanes' reports."""
    rows = (Repeats(*places) for places in zip(*(reports[name].to_pylist() for name in ("broker_id", *LANE_REPORT_REPEATS)), strict=True))
    return [row for row in rows if row.last_seq]


def quarantine_taken(warehouse: Warehouse, repeats: list[Repeats], now: datetime, limits: ParseLimits, once: tuple[str, int]) -> int:
    """Put what `repeats` bound and other events had taken into quarantine, unless it is there; returns how many rows were added."""
    rows = [row for bounds in repeats for row in _taken(warehouse, bounds, limits)]
    if not rows:
        return 0
    beside = {"ingest_batch": pa.array([batch for batch, _ in rows], pa.int64())}
    lines = pa.Table.from_batches([reject_batch([line for _, line in rows])], REJECT_SCHEMA)
    schema = arrow_schema(QUARANTINE.fields)
    beside["quarantined_at"] = pa.repeat(pa.scalar(now, schema.field("quarantined_at").type), len(rows))
    whole = pa.table([beside[name] if name in beside else lines[name] for name in schema.names], schema)
    fresh = _without_known(warehouse, whole)
    append_rows(warehouse, QUARANTINE, fresh, once)
    return int(fresh.num_rows)


def _taken(warehouse: Warehouse, bounds: Repeats, limits: ParseLimits) -> Iterator[tuple[int, RejectedLine]]:
    """(ingest batch, row of quarantine) of the events within `bounds` that are others than the one which arrived first."""
    uri, lane = warehouse.table(DISPATCH_EVENTS.name), {"broker_id": [bounds.broker_id]}
    epochs = {"epoch": (bounds.first_epoch, bounds.last_epoch)}
    for first in range(bounds.first_seq, bounds.last_seq + 1, _AT_ONCE):
        within = {**epochs, "seq": (first, min(first + _AT_ONCE - 1, bounds.last_seq))}
        places = arrow_rows(uri, ("epoch", "seq"), lane, within)
        times = places.group_by(["epoch", "seq"]).aggregate([([], "count_all")])
        repeated = times.filter(pc.greater(times["count_all"], 1))["seq"].unique()
        if len(repeated):
            yield from _others(arrow_rows(uri, _READ, {**lane, "seq": repeated}, within), limits)


def _others(events: pa.Table, limits: ParseLimits) -> Iterator[tuple[int, RejectedLine]]:
    events = events.combine_chunks()
    contents = content_hashes(events)
    epochs, seqs, batches = (events[name].to_numpy() for name in ("epoch", "seq", "ingest_batch"))
    arrived = arrivals(*(_one_chunk(events[name]) for name in ("source_file", "source_line")))
    order = np.lexsort((contents, arrived, batches, seqs, epochs))
    is_first = _differs(epochs[order]) | _differs(seqs[order])
    first_of = order[np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))]
    other = contents[order] != contents[first_of]
    for place, first in zip(order[other].tolist(), first_of[other].tolist(), strict=True):
        event, by = (events.slice(at, 1).to_pylist()[0] for at in (place, first))
        yield event["ingest_batch"], _row(event, by, limits)


def _row(event: Mapping[str, Any], by: Mapping[str, Any], limits: ParseLimits) -> RejectedLine:
    """The event as a row of quarantine; `by` has its place."""
    where = by["source_file"] or "a table"
    line = f"line {by['source_line']} of {where}" if by["source_line"] else where
    ns = event["ts"] * 1000 if event["ns"] is None else event["ns"]
    envelope = Envelope(event["broker"], event["epoch"], event["seq"], event["ts"], ns)
    detail = f"seq {event['seq']} is taken by another event ({by['type']}): {line}, micro-batch {by['ingest_batch']}"
    raw = _as_json(event).encode()
    return rejected_line(Reject(SEQ_TAKEN, detail, envelope), raw, event["source_file"], event["source_line"], limits)


def _as_json(event: Mapping[str, Any]) -> str:
    """The event as a line of a log. The line itself is not kept: its fields may have had another order."""
    fields = {name: event[name] for name in CONTENT_COLUMNS if event[name] is not None and name != "extra"}
    fields |= {name: dict(value) for name, value in fields.items() if name == "settings"}
    return json.dumps({**fields, **json.loads(event["extra"] or "{}")}, ensure_ascii=False, separators=(",", ":"))


def _without_known(warehouse: Warehouse, rows: pa.Table) -> pa.Table:
    """Rows that quarantine does not have yet: a `rebuild`, or a later repeat, finds the same once more."""
    known = arrow_rows(warehouse.table(QUARANTINE.name), _PLACE, {"reason": [SEQ_TAKEN], "ingest_batch": rows["ingest_batch"].unique()})
    there = set(zip(*(known[name].to_pylist() for name in _PLACE), strict=True))
    fresh = [key not in there for key in zip(*(rows[name].to_pylist() for name in _PLACE), strict=True)]
    return rows.filter(pa.array(fresh, pa.bool_()))


def _differs(values: Ints) -> npt.NDArray[np.bool_]:
    """Whether each value is another than the one before it."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
