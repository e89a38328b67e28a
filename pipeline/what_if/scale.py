"""A topic's scale: every entry that it has in the record gets a place, from 0; also entries of which only their number is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.record import Record, Row


@dataclass(frozen=True)
class Scale:
    """Ledgers by id, ascending (`ledgers`), where each begins (`firsts`), how many entries were there before the record (`earlier`).

    `entries`: how many there are in the end, of each ledger. `publishes`: the record's, by COLUMNS. `mean_bytes`: of entries of old.
    """

    topic_id: int
    ledgers: Array
    firsts: Array
    entries: Array
    earlier: Array
    publishes: dict[str, Array]
    mean_bytes: Array

    @property
    def total(self) -> int:
        """Entries of the whole scale."""
        return int(self.entries.sum())

    @property
    def is_whole(self) -> bool:
        """Whether the record has every publish of the entries that it names."""
        return len(self.publishes["ns"]) == self.total - int(self.earlier.sum())

    @cached_property
    def publish_places(self) -> Array:
        """Places of the publishes."""
        return self.places(self.publishes["ledger"], self.publishes["entry"])

    @cached_property
    def published_ns(self) -> Array:
        """When each entry was published; the earliest time there is, of those from before the record."""
        found = np.full(self.total, np.iinfo(np.int64).min, dtype=np.int64)
        found[self.publish_places] = self.publishes["ns"]
        return found

    def ledger_rows(self, ids: Array) -> Array:
        """Number of each ledger in `ledgers`; of one that is not there, where it would be."""
        return np.searchsorted(self.ledgers, ids)

    def places(self, ledgers: Array, entries: Array) -> Array:
        """Places of positions; entry −1 is the place before the first of its ledger. A ledger that is gone: the beginning of the next."""
        rows = self.ledger_rows(ledgers)
        inside = np.minimum(rows, len(self.ledgers) - 1)
        is_known = (rows < len(self.ledgers)) & (self.ledgers[inside] == ledgers)
        beginning = np.where(rows < len(self.ledgers), self.firsts[inside], self.total)
        return np.where(is_known, beginning + entries, beginning - 1)


def scale_of(record: Record, topic_id: int) -> Scale:
    """Of a topic: of its publishes, and of ledgers that were there before; from the ledger of the earliest mark on, if it has one."""
    publishes = record.where("publish", topic_id)
    closed, opened = record.of_topic("ledger_close", topic_id), record.of_topic("ledger_open", topic_id)
    known, cursors = record.stretch.marks, record.of_topic("cursor_open", topic_id)
    marked = np.array([known[row["sub_id"]] for row in cursors if row["sub_id"] in known], dtype=np.int64).reshape(-1, 2)
    ledgers = np.unique(np.concatenate([publishes["ledger"], _ids(closed), _ids(opened), marked[:, 0]]).astype(np.int64))
    if len(marked):
        ledgers = ledgers[ledgers >= marked[:, 0].min()]
        publishes = {name: values[publishes["ledger"] >= ledgers[0]] for name, values in publishes.items()}
    rows = np.searchsorted(ledgers, publishes["ledger"])
    first = np.full(len(ledgers), np.iinfo(np.int64).max)
    np.minimum.at(first, rows, publishes["entry"])
    last = np.zeros(len(ledgers), dtype=np.int64)
    np.maximum.at(last, rows, publishes["entry"] + 1)
    reached = np.zeros(len(ledgers), dtype=np.int64)
    np.maximum.at(reached, np.searchsorted(ledgers, marked[:, 0]), marked[:, 1] + 1)
    totals = {row["ledger"]: (row["entries"], row["bytes"]) for row in closed}
    earlier = np.where(first < np.iinfo(np.int64).max, first, 0)
    # Entries up to a mark are there, though the record does not have them.
    earlier = np.where(last == 0, np.maximum(earlier, reached), earlier)
    size = np.zeros(len(ledgers), dtype=np.int64)
    for k, ledger in enumerate(ledgers):
        entries, of_ledger = totals.get(int(ledger), (0, 0))
        if last[k] == 0:
            earlier[k] = max(earlier[k], entries)
        last[k] = max(last[k], entries, earlier[k])
        size[k] = of_ledger // entries if entries else 0
    firsts = np.concatenate([[0], np.cumsum(last)[:-1]]) if len(ledgers) else np.zeros(0, dtype=np.int64)
    return Scale(topic_id, ledgers, firsts.astype(np.int64), last, earlier.astype(np.int64), publishes, size)


def _ids(rows: Sequence[Row]) -> Array:
    return np.array([row["ledger"] for row in rows], dtype=np.int64)
