"""Find a row by one or two int64 ids: open addressing over an int64 array of row numbers.

The index holds no data of its own: it is rebuilt from its rows whenever they are restored, compacted or outgrown.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled

EMPTY = -1


def new_index(capacity: int) -> Array:
    """An empty index for at most `capacity` rows: a power of two of slots, at most half full."""
    slots = 16
    while slots < 2 * capacity:
        slots *= 2
    return np.full(slots, EMPTY, dtype=np.int64)


@compiled
def _start(index: Array, first: int, second: int) -> int:
    # Ids are hashes already, ledger ids are not: fold both, then take the upper bits' mixture.
    mixed = first ^ (second << 17) ^ (second >> 9)
    mixed ^= mixed >> 31
    return (mixed ^ (mixed >> 15)) & (index.size - 1)


@compiled
def find(index: Array, rows: Array, first_column: int, second_column: int, first: int, second: int) -> int:
    """Row of `rows` whose two id columns are (`first`, `second`), or EMPTY."""
    mask = index.size - 1
    slot = _start(index, first, second)
    while index[slot] != EMPTY:
        row = index[slot]
        if rows[row, first_column] == first and rows[row, second_column] == second:
            return row
        slot = (slot + 1) & mask
    return EMPTY


@compiled
def insert(index: Array, first: int, second: int, row: int) -> None:
    """Enter `row` under (`first`, `second`), which must not be there yet."""
    mask = index.size - 1
    slot = _start(index, first, second)
    while index[slot] != EMPTY:
        slot = (slot + 1) & mask
    index[slot] = row


@compiled
def fill(index: Array, rows: Array, count: int, first_column: int, second_column: int) -> None:
    """Enter the first `count` of `rows`."""
    for row in range(count):
        insert(index, rows[row, first_column], rows[row, second_column], row)
