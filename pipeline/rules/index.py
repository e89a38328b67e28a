"""Find a row by its `id` and its `owner` (0 where ids are enough): open addressing over an int64 array of row numbers.

The index holds no data of its own: it is rebuilt from its rows whenever they are restored, compacted or outgrown.
"""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Records

EMPTY = -1
_31_BITS = 2**31 - 1


def new_index(capacity: int) -> Array:
    """An empty index for at most `capacity` rows: a power of two of slots, at most half full."""
    slots = 16
    while slots < 2 * capacity:
        slots *= 2
    return np.full(slots, EMPTY, dtype=np.int64)


@compiled
def _start(index: Array, first: int, second: int) -> int:
    # Ids of topics are hashes, those of connections, producers and consumers count from 0: small ones must not crowd. No product overflows.
    a, b = (first ^ (first >> 31)) & _31_BITS, (second ^ (second >> 31)) & _31_BITS
    mixed = a * 0x2C1B3C6D + b * 0x297A2D39
    mixed ^= mixed >> 32
    mixed = (mixed & _31_BITS) * 0x165667B1
    return (mixed ^ (mixed >> 29)) & (index.size - 1)


@compiled
def find(index: Array, rows: Records, row_id: int, owner: int) -> int:
    """Row of `rows` with this id and owner, or EMPTY."""
    mask = index.size - 1
    slot = _start(index, row_id, owner)
    while index[slot] != EMPTY:
        row = index[slot]
        if rows[row].id == row_id and rows[row].owner == owner:
            return row
        slot = (slot + 1) & mask
    return EMPTY


@compiled
def insert(index: Array, row_id: int, owner: int, row: int) -> None:
    """Enter `row` under an id and owner that must not be there yet."""
    mask = index.size - 1
    slot = _start(index, row_id, owner)
    while index[slot] != EMPTY:
        slot = (slot + 1) & mask
    index[slot] = row


@compiled
def fill(index: Array, rows: Records, count: int) -> None:
    """Enter the first `count` of `rows`."""
    for row in range(count):
        insert(index, rows[row].id, rows[row].owner, row)
