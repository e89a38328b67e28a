"""A broker's state with one topic, as rows that a test writes down: no rule made them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import (
    BITS,
    CURSOR_ROW,
    HEAP_ROW,
    LEDGER_ROW,
    MARK_ROW,
    NEW_SUBSCRIPTION,
    NEW_TOPIC,
    NO_CURSOR,
    NONE,
    WORD_ROW,
)
from pipeline.rules.model import LAYOUT
from pipeline.rules.package import Beside, Family
from pipeline.rules.records import Records, as_numbers, as_records, empty_rows
from pipeline.rules.segments import USED
from pipeline.rules.state import BrokerState

Position = tuple[int, int]


@dataclass
class Ledger:
    """`close_ms` 0: it is open."""

    id: int
    entries: int
    bytes: int = 0
    close_ms: int = 0


@dataclass
class Cursor:
    """A subscription's; number k of them has the id 100 + k. `persisted`: where that is not its position in memory."""

    at: Position
    deleted: Sequence[Position] = ()
    deleted_unknown: int = 0
    persisted: Position | None = None
    durable: bool = True
    kind: int = 0  # CURSOR_KINDS

    @property
    def heap_key(self) -> Position:
        """What orders the heap."""
        return self.persisted or self.at


@dataclass
class Mark:
    """Entries of one ledger, published along a line."""

    ledger: int
    entry: int
    first_ms: int
    entries: int = 1
    last_ms: int = -1
    msgs: int = 1
    within_ms: int = 0


def with_one_topic(
    ledgers: Sequence[Ledger],
    cursors: Sequence[Cursor],
    marks: Sequence[Mark] = (),
    settings: dict[str, int] | None = None,
    trimmed: tuple[int, int] = (0, 0),
    **of_topic: int,
) -> BrokerState:
    """The state. `trimmed`: entries and bytes of ledgers that are gone; `settings` of the broker and other fields `of_topic`."""
    kept = BrokerState(LAYOUT).saved()
    for store in LAYOUT.stores.values():
        if isinstance(store, Family | Beside):
            count = {"topics": 1, "subscriptions": len(cursors)}.get(LAYOUT.family_of(store.name), 0)
            kept[store.name] = as_numbers(empty_rows(store.kind, count))
    counts = as_records(kept["counts"], LAYOUT.counts_row)
    counts["topics"], counts["subscriptions"] = 1, len(cursors)
    for name, value in (settings or {}).items():
        as_records(kept["settings"], LAYOUT.stores["settings"].kind)[name] = value
    durable = [c for c in sorted(range(len(cursors)), key=lambda c: cursors[c].heap_key) if cursors[c].durable]  # in order, it is a heap
    topics = _topic(ledgers, len(cursors), trimmed, of_topic)
    topics["heap"][0, USED], topics["marks"][0, USED], topics["mark_count"] = len(durable), len(marks), len(marks)
    kept["topics"], kept["ledgers"] = as_numbers(topics), as_numbers(_ledgers(ledgers, trimmed))
    kept["heap"] = as_numbers(_rows(HEAP_ROW, [{"cursor": c} for c in durable]))
    filled = [{**vars(mark), "last_ms": mark.last_ms if mark.entries > 1 else mark.first_ms} for mark in marks]
    kept["marks"] = as_numbers(_rows(MARK_ROW, filled))
    kept["subscriptions"], kept["cursors"], kept["words"] = _cursors(cursors, durable)
    return BrokerState(LAYOUT, kept)


def _rows(kind: np.dtype, rows: Sequence[dict[str, int]]) -> Records:
    made = empty_rows(kind, len(rows))
    for number, row in enumerate(rows):
        for name, value in row.items():
            made[name][number] = value
    return made


def _topic(ledgers: Sequence[Ledger], cursors: int, trimmed: tuple[int, int], of_topic: dict[str, int]) -> Records:
    topics = NEW_TOPIC.copy()
    topics["id"], topics["alive"], topics["loaded"], topics["began_complete"] = 11, 1, 1, 1
    topics["first_subscription"] = topics["first_cursor"] = 0 if cursors else NONE
    topics["subscriptions"] = topics["cursors"] = cursors
    topics["end_entries"] = trimmed[0] + sum(ledger.entries for ledger in ledgers)
    topics["end_bytes"] = trimmed[1] + sum(ledger.bytes for ledger in ledgers)
    topics["confirmed_ledger"] = max((ledger.id for ledger in ledgers if ledger.entries), default=0)
    topics["ledgers"][0, USED] = len(ledgers)
    for name, value in of_topic.items():
        topics[name] = value
    return topics


def _ledgers(ledgers: Sequence[Ledger], trimmed: tuple[int, int]) -> Records:
    rows = _rows(LEDGER_ROW, [{"ledger": each.id, "entries": each.entries, "bytes": each.bytes} for each in ledgers])
    rows["close_ms"] = [each.close_ms for each in ledgers]
    rows["closed"] = rows["close_ms"] > 0
    rows["entries_before"] = trimmed[0] + np.cumsum(rows["entries"]) - rows["entries"]
    rows["bytes_before"] = trimmed[1] + np.cumsum(rows["bytes"]) - rows["bytes"]
    return rows


def _cursors(cursors: Sequence[Cursor], durable: list[int]) -> tuple[Array, Array, Array]:
    """Subscriptions, cursors, and words of all their deleted entries."""
    subscriptions = empty_rows(NEW_SUBSCRIPTION.dtype, len(cursors))
    subscriptions[:] = NEW_SUBSCRIPTION[0]
    rows, words = empty_rows(CURSOR_ROW, len(cursors)), []
    rows[:] = NO_CURSOR[0]
    for c, cursor in enumerate(cursors):
        subscriptions["id"][c], subscriptions["owner"][c] = 100 + c, 11
        following = c + 1 if c + 1 < len(cursors) else NONE
        subscriptions["next_of_topic"][c] = rows["next_of_topic"][c] = following
        rows["previous_of_topic"][c] = c - 1
        rows["open"][c], rows["durable"][c], rows["cursor_kind"][c] = 1, cursor.durable, cursor.kind
        rows["ledger"][c], rows["entry"][c] = cursor.at
        rows["persisted_ledger"][c], rows["persisted_entry"][c] = cursor.heap_key
        rows["heap_position"][c] = durable.index(c) if c in durable else NONE
        rows["deleted"][c], rows["deleted_unknown"][c] = len(set(cursor.deleted)), cursor.deleted_unknown
        rows["cumulative_ledger"][c], rows["cumulative_entry"][c] = NONE, NONE
        bits: dict[Position, int] = {}
        for ledger, entry in set(cursor.deleted):
            first = entry - entry % BITS
            bits[ledger, first] = bits.get((ledger, first), 0) | 1 << entry - first
        rows["words"][c, USED] = len(bits)
        words += [{"ledger": ledger, "entry": entry, "bits": bits[ledger, entry]} for ledger, entry in sorted(bits)]
    return as_numbers(subscriptions), as_numbers(rows), as_numbers(_rows(WORD_ROW, words))
