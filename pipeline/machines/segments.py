"""Lists of rows inside one shared array: each owner has a segment, a ring-free stretch that moves when it outgrows its place.

An owner's row has four columns in a run, from `at`: where its segment begins, rows dropped at its front, rows in use, and its capacity.
Laws: rows keep their order. A row added at the end moves a constant number of rows, amortized over all rows added, whatever the number
of owners and rows: a segment doubles when it is full, an arena is laid out anew when it is full, and at least half of it was handed out
since it was laid out. `ends[MOVES]` counts the rows that were moved, so that a test can prove it.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled, compiled_part

#: Columns of an owner, from `at`.
BEGIN, DROPPED, USED, CAPACITY = range(4)
SEGMENT = 4
FIRST_CAPACITY = 4
#: `ends` of an arena: rows handed out, the largest capacity of any segment, and rows moved since the arena was first made.
HANDED_OUT, LARGEST, MOVES = range(3)


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
    ends[MOVES] += end - row
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
    ends[MOVES] += used
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
def _lay_out(owners: Array, count: int, at: int, arena: Array, target: Array, spare: bool) -> int:
    """Copy the used rows of the first `count` owners one after the other, each with room to grow or full; returns rows handed out."""
    end = 0
    for o in range(count):
        start, used = first_row(owners[o], at), owners[o, at + USED]
        for k in range(used):
            target[end + k] = arena[start + k]
        owners[o, at + BEGIN] = end
        owners[o, at + DROPPED] = 0
        owners[o, at + CAPACITY] = roomy(used) if spare else used
        end += owners[o, at + CAPACITY]
    return end


@compiled
def roomy(used: int) -> int:
    """Capacity of a segment of `used` rows that is laid out anew: half as much again, so that it can grow before it moves."""
    return used + (used + 1) // 2


def packed(owners: Array, count: int, at: int, arena: Array) -> Array:
    """The used rows of all owners, in their order: [n, width]. Changes the owners to lie in it, exactly full."""
    total = int(owners[:count, at + USED].sum())
    target = np.zeros((total, arena.shape[1]), dtype=np.int64)
    _lay_out(owners, count, at, arena, target, False)
    return target


def unpack(owners: Array, count: int, at: int) -> None:
    """Lay `count` owners, of whom only USED is known, one after the other: the inverse of what `packed` leaves."""
    used = owners[:count, at + USED]
    owners[:count, at + BEGIN] = np.cumsum(used) - used
    owners[:count, at + DROPPED] = 0
    owners[:count, at + CAPACITY] = used


def with_spare(owners: Array, count: int, at: int, arena: Array, moves: int = 0) -> tuple[Array, Array]:
    """(arena, ends) in which every segment has room to grow, and the arena for as many rows again and to double its largest segment.

    Takes back what segments left behind when they moved. `moves` were counted before. Rows without data cost no memory until they are used.
    """
    used = owners[:count, at + USED]
    total = int((used + (used + 1) // 2).sum())
    largest = max(FIRST_CAPACITY, int(roomy(int(used.max(initial=0)))))
    larger = np.zeros((2 * total + 4 * largest + 64, arena.shape[1]), dtype=np.int64)
    handed_out = _lay_out(owners, count, at, arena, larger, True)
    return larger, np.array([handed_out, largest, moves + int(used.sum())], dtype=np.int64)
