"""Lists of rows inside one shared array: each owner has a segment, a ring-free stretch that moves when it outgrows its place.

An owner's row has four columns in a run, from `at`: where its segment begins, rows dropped at its front, rows in use, and its capacity.
Laws: rows keep their order; growing costs amortized constant time; what moving leaves behind is taken back by `packed`.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled, compiled_part

#: Columns of an owner, from `at`.
BEGIN, DROPPED, USED, CAPACITY = range(4)
SEGMENT = 4
FIRST_CAPACITY = 4
#: `ends` of an arena: rows handed out, and the largest capacity of any segment.
HANDED_OUT, LARGEST = 0, 1


@compiled_part
def first_row(owner: Array, at: int) -> int:
    """Number of the segment's first row."""
    return owner[at + BEGIN] + owner[at + DROPPED]


@compiled
def has_spare(capacity: int, ends: Array) -> bool:
    """Whether any one segment of an arena of `capacity` rows could still move to twice its size."""
    return ends[HANDED_OUT] + 2 * max(ends[LARGEST], FIRST_CAPACITY) <= capacity


@compiled_part
def insert_row(owner: Array, at: int, arena: Array, ends: Array, position: int) -> int:
    """Make room for one row before the `position`-th (USED: at the end); returns its number. The row is zero."""
    used = owner[at + USED]
    if owner[at + DROPPED] + used == owner[at + CAPACITY]:
        _make_room(owner, at, arena, ends)
    row = first_row(owner, at) + position
    end = first_row(owner, at) + used
    while end > row:
        arena[end] = arena[end - 1]
        end -= 1
    arena[row] = 0
    owner[at + USED] = used + 1
    return row


@compiled_part
def _make_room(owner: Array, at: int, arena: Array, ends: Array) -> None:
    used, start = owner[at + USED], first_row(owner, at)
    if 2 * owner[at + DROPPED] >= owner[at + CAPACITY] and owner[at + DROPPED] > 0:
        target = owner[at + BEGIN]  # half of it is free at the front: slide back
    else:
        target = ends[HANDED_OUT]
        owner[at + CAPACITY] = max(FIRST_CAPACITY, 2 * owner[at + CAPACITY])
        ends[HANDED_OUT] += owner[at + CAPACITY]
        ends[LARGEST] = max(ends[LARGEST], owner[at + CAPACITY])
    for k in range(used):
        arena[target + k] = arena[start + k]
    owner[at + BEGIN] = target
    owner[at + DROPPED] = 0


@compiled_part
def drop_first(owner: Array, at: int, count: int) -> None:
    """Take the first `count` rows away."""
    owner[at + DROPPED] += count
    owner[at + USED] -= count
    if owner[at + USED] == 0:
        owner[at + DROPPED] = 0


@compiled_part
def remove_row(owner: Array, at: int, arena: Array, position: int) -> None:
    """Take one row away; those after it move up."""
    if position == 0:
        drop_first(owner, at, 1)
        return
    row = first_row(owner, at) + position
    end = first_row(owner, at) + owner[at + USED] - 1
    while row < end:
        arena[row] = arena[row + 1]
        row += 1
    owner[at + USED] -= 1


@compiled
def clear(owner: Array, at: int) -> None:
    """Take all rows away; the place stays."""
    owner[at + DROPPED] = 0
    owner[at + USED] = 0


@compiled
def _pack(owners: Array, count: int, at: int, arena: Array, target: Array) -> int:
    """Copy the used rows of the first `count` owners one after the other; their segments are then exactly full."""
    end = 0
    for o in range(count):
        start, used = first_row(owners[o], at), owners[o, at + USED]
        for k in range(used):
            target[end + k] = arena[start + k]
        owners[o, at + BEGIN] = end
        owners[o, at + DROPPED] = 0
        owners[o, at + CAPACITY] = used
        end += used
    return end


def packed(owners: Array, count: int, at: int, arena: Array) -> Array:
    """The used rows of all owners, in their order: [n, width]. Changes the owners to lie in it."""
    total = int(owners[:count, at + USED].sum())
    target = np.zeros((total, arena.shape[1]), dtype=np.int64)
    _pack(owners, count, at, arena, target)
    return target


def unpack(owners: Array, count: int, at: int) -> None:
    """Lay `count` owners, of whom only USED is known, one after the other: the inverse of what `packed` leaves."""
    used = owners[:count, at + USED]
    owners[:count, at + BEGIN] = np.cumsum(used) - used
    owners[:count, at + DROPPED] = 0
    owners[:count, at + CAPACITY] = used


def with_spare(owners: Array, count: int, at: int, rows: Array) -> tuple[Array, Array]:
    """(arena, ends) that hold the packed `rows` and leave room to grow: as much again, and twice the largest segment four times."""
    largest = max(FIRST_CAPACITY, int(owners[:count, at + CAPACITY].max(initial=0)))
    arena = np.zeros((2 * len(rows) + 8 * largest + 64, rows.shape[1]), dtype=np.int64)
    arena[: len(rows)] = rows
    return arena, np.array([len(rows), largest], dtype=np.int64)
