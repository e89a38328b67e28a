"""Events of which a busy broker writes many, as arrays: of each type only the columns that a replay takes of it."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from schemas.events import CODES

#: Balances of limiters after their answers to a read.
TOKENS = tuple(f"{level}_{dimension}_tokens" for level in ("broker", "topic", "sub") for dimension in ("msgs", "bytes"))
#: By type: columns, and flags (FLAGS), of each event. All have `seq`, `ns` and the id of their owner.
COLUMNS = {
    "publish": ("ledger", "entry", "msgs", "bytes", "publish_ts"),
    "read": ("permits", "left_msgs", *TOKENS),
    "read_done": ("entries", "duration_us"),
    "dispatch": ("entries", "msgs", "bytes", "conn", "consumer", "first_ledger", "first_entry", "last_ledger", "last_entry"),
    "ack": ("ledger", "entry", "batch_index", "cumulative"),
    "mark_delete": ("ledger", "entry", "sought"),
    "flow": ("conn", "consumer", "permits"),
    "redeliver": ("entries", "asked_again"),
}
#: Of an acknowledgement, of a move of the mark, and of entries that were given back though their consumer stayed.
FLAGS = {"cumulative": "ack_type = 'cumulative'", "sought": "`reset`", "asked_again": "cause <> 'consumer_closed'"}
#: Only these rows: a mark that moves in memory; that of the file follows it.
_ONLY = {"mark_delete": " AND NOT persisted"}
#: What is absent from an event; −1 is an entry, and an index of a batch.
ABSENT = -2
#: A balance that the log does not have: balances may be below 0.
NO_TOKENS = -(2**62)

Events = dict[str, Array]


def owner_of(event_type: str) -> str:
    """The id by which events of a type are kept together."""
    return "topic_id" if event_type == "publish" else "sub_id"


def columns_of(event_type: str) -> tuple[str, ...]:
    """Columns of the events of a type."""
    return "seq", "ns", owner_of(event_type), *COLUMNS[event_type]


def frequent_of(look: ReadingRoom, where: Mapping[str, str]) -> dict[str, Events]:
    """Of each type, rows of bronze that its condition chooses: int64 arrays by its columns, by owner, of each in the order of the log."""
    return {event_type: _events(look, event_type, condition) for event_type, condition in where.items()}


def _events(look: ReadingRoom, event_type: str, where: str) -> Events:
    names = columns_of(event_type)
    chosen = f"type_code = {CODES[event_type]} AND {where}{_ONLY.get(event_type, '')}"
    batches = list(look.batches(f"SELECT {', '.join(map(_column, names))} FROM dispatch_events WHERE {chosen}"))
    if not batches:
        return {name: np.zeros(0, dtype=np.int64) for name in names}
    table = pa.Table.from_batches(batches)
    arrays = {name: table[name].to_numpy().astype(np.int64, copy=False) for name in names}
    rows = _order(arrays["seq"], arrays[owner_of(event_type)])
    return {name: values[rows] for name, values in arrays.items()}


def _column(name: str) -> str:
    return (
        f"CASE WHEN {FLAGS[name]} THEN 1 ELSE 0 END AS `{name}`"
        if name in FLAGS
        else f"coalesce(`{name}`, {NO_TOKENS if name in TOKENS else ABSENT}) AS `{name}`"
    )


def _order(seq: Array, owners: Array) -> Array:
    """Rows by owner, then in the order of the log, each once: a repeat is the same event, delivered twice."""
    rows = np.arange(len(seq)) if bool((np.diff(seq) >= 0).all()) else np.argsort(seq, kind="stable")
    first = np.concatenate([[True], np.diff(seq[rows]) != 0])
    rows = rows[first]
    ids, numbers = np.unique(owners[rows], return_inverse=True)
    # Small numbers are sorted by their digits: of many rows that is much quicker.
    small = numbers.astype(np.uint16) if len(ids) < 2**16 else numbers
    found: Array = rows[np.argsort(small, kind="stable")]
    return found
