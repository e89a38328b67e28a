"""Events of which a busy broker writes many, as arrays: of each type only the columns that a replay takes of it."""

from collections.abc import Iterable, Mapping

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
    "dispatch": ("topic_id", "entries", "msgs", "bytes", "conn", "consumer", "first_ledger", "first_entry", "last_ledger", "last_entry"),
    "ack": ("ledger", "entry", "batch_index", "cumulative"),
    "mark_delete": ("ledger", "entry", "sought"),
    "flow": ("conn", "consumer", "permits"),
    "redeliver": ("entries", "asked_again"),
}
#: Of an acknowledgement, of a move of the mark, and of entries that were given back though their consumer stayed.
FLAGS = {"cumulative": "ack_type = 'cumulative'", "sought": "`reset`", "asked_again": "cause <> 'consumer_closed'"}
#: Only these rows: a mark that moves in memory; that of the file follows it.
_ONLY = {"mark_delete": "NOT persisted"}
#: What is absent from an event; −1 is an entry, and an index of a batch.
ABSENT = -2
#: A balance that the log does not have: balances may be below 0.
NO_TOKENS = -(2**62)

Events = dict[str, Array]
_NONE = np.zeros(0, dtype=np.int64)


def owner_of(event_type: str) -> str:
    """The id by which events of a type are kept together."""
    return "topic_id" if event_type == "publish" else "sub_id"


def columns_of(event_type: str) -> tuple[str, ...]:
    """Columns of the events of a type."""
    return "seq", "ns", owner_of(event_type), *COLUMNS[event_type]


def frequent_of(look: ReadingRoom, where: str, only: Mapping[str, str]) -> dict[str, Events]:
    """Rows of bronze that `where` chooses; of a type that is in `only` those that its condition chooses, too.

    Of each type int64 arrays by its columns, by owner, of each in the order of the log. All types are read in one pass: most of the time
    goes into unpacking columns, and types share them.
    """
    conditions = [f"(NOT {_of_types([event_type])} OR {of_it})" for event_type, of_it in {**_ONLY, **only}.items()]
    chosen = " AND ".join([where, _of_types(COLUMNS), *conditions])
    names = dict.fromkeys(name for event_type in COLUMNS for name in columns_of(event_type))
    parts: dict[str, dict[str, list[Array]]] = {event_type: {name: [] for name in columns_of(event_type)} for event_type in COLUMNS}
    for batch in look.batches(f"SELECT type_code, {', '.join(map(_column, names))} FROM dispatch_events WHERE {chosen}"):
        codes = batch["type_code"].to_numpy()
        for event_type, columns in parts.items():
            rows = np.flatnonzero(codes == CODES[event_type])
            of_type = batch.select([*columns]).take(pa.array(rows))
            for name, found in columns.items() if len(rows) else ():
                found.append(of_type[name].fill_null(_absent(name)).to_numpy())
    return {event_type: _events(event_type, columns) for event_type, columns in parts.items()}


def _of_types(event_types: Iterable[str]) -> str:
    """Condition of rows of these types."""
    return f"type_code IN ({', '.join(str(CODES[event_type]) for event_type in event_types)})"


def _events(event_type: str, columns: dict[str, list[Array]]) -> Events:
    arrays = {name: np.concatenate(found or [_NONE], dtype=np.int64, casting="unsafe") for name, found in columns.items()}
    rows = _order(arrays["seq"], arrays[owner_of(event_type)])
    return {name: np.take(values, rows) for name, values in arrays.items()}


def _absent(name: str) -> int:
    """What stands for a number that an event does not have."""
    return NO_TOKENS if name in TOKENS else ABSENT


def _column(name: str) -> str:
    return f"CASE WHEN {FLAGS[name]} THEN 1 ELSE 0 END AS `{name}`" if name in FLAGS else f"`{name}`"


def _order(seq: Array, owners: Array) -> Array:
    """Rows by owner, then in the order of the log, each once: a repeat is the same event, delivered twice."""
    rows = np.arange(len(seq)) if bool((np.diff(seq) >= 0).all()) else np.argsort(seq, kind="stable")
    in_order = seq[rows]
    rows = rows[np.diff(in_order, prepend=in_order[:1] - 1) != 0]
    encoded = pa.array(owners[rows]).dictionary_encode()
    ids = encoded.dictionary.to_numpy()
    # Small numbers are sorted by their digits: of many rows that is much quicker.
    numbers = np.argsort(np.argsort(ids)).astype(np.uint16 if len(ids) < 2**16 else np.int64)
    found: Array = rows[np.argsort(numbers[encoded.indices.to_numpy()], kind="stable")]
    return found
