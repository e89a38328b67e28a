"""A subscription at the instant at which a replay begins: all of it is read off the record."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.frequent import ABSENT, Events
from pipeline.what_if.record import Record
from pipeline.what_if.scale import Scale

#: A client: its connection, and its number on it.
Client = tuple[int, int]


class Start(NamedTuple):
    """`mark`: all entries before it are acknowledged; `acked`: places behind it that are, too; `read`: the first place that nobody got yet.
    `held`: places that consumers have, and `slots`: of each the consumer.
    """

    mark: int
    acked: Array
    read: int
    held: Array
    slots: Array


def start_of(record: Record, scale: Scale, sub_id: int, at_ns: int, clients: Sequence[tuple[Client, int]]) -> Start:
    """Of a subscription with a mark. `clients`: consumers that are there at the instant, and their slots.

    Entries that were delivered to somebody who has left, or to nobody knows whom, are held by those who are there, in turn.
    """
    mark = int(_places(scale, *([part] for part in record.stretch.marks[sub_id]))[0]) + 1
    acks, handed = (_before(record.where(event_type, sub_id), at_ns) for event_type in ("ack", "dispatch"))
    acked = _acked(scale, acks, mark)
    owners = _owners(scale, handed, mark, dict(clients))
    held = np.setdiff1d(mark + np.arange(len(owners)), acked) if clients else np.zeros(0, dtype=np.int64)
    slots = owners[held - mark]
    slots[slots < 0] = np.resize([slot for _, slot in clients] or [0], len(held))[slots < 0]
    return Start(mark, acked, mark + len(owners) if clients else mark, held, slots)


def _places(scale: Scale, ledgers: Sequence[int], entries: Sequence[int]) -> Array:
    return scale.places(np.array(ledgers, dtype=np.int64), np.array(entries, dtype=np.int64))


def _before(events: Events, at_ns: int) -> Events:
    return {name: values[events["ns"] < at_ns] for name, values in events.items()}


def _acked(scale: Scale, acks: Events, mark: int) -> Array:
    """Places behind the mark that were acknowledged one by one; a cumulative acknowledgement moves the mark itself."""
    places = scale.places(acks["ledger"], acks["entry"])
    single = (acks["batch_index"] == ABSENT) & (acks["cumulative"] == 0) & (places >= mark) & (places < scale.total)
    return np.unique(places[single])


def _owners(scale: Scale, handed: Events, mark: int, slots: dict[Client, int]) -> Array:
    """Of each place from the mark on that was delivered, the slot of the consumer who got it last; −1: it is not known."""
    firsts, lasts = (scale.places(handed[f"{end}_ledger"], handed[f"{end}_entry"]) for end in ("first", "last"))
    behind = np.flatnonzero((lasts >= mark) & (lasts < scale.total) & (handed["last_ledger"] != ABSENT))
    owners = np.full(int(lasts[behind].max(initial=mark - 1)) + 1 - mark, -1, dtype=np.int64)
    for k in behind:
        owners[max(0, int(firsts[k]) - mark) : int(lasts[k]) + 1 - mark] = slots.get(
            (int(handed["conn"][k]), int(handed["consumer"][k])), -1
        )
    return owners
