"""Lists of rows inside one shared array: each owner has a segment, a ring-free stretch that moves when it outgrows its place.

An owner's row has four columns in a run, from `at`: where its segment begins, rows dropped at its front, rows in use, and its capacity.
Laws: rows keep their order. A row added at either end moves a constant number of rows, amortized over all rows added, whatever the number
of owners and rows: a segment doubles when it is full, an arena is laid out anew when it is full, and at least half of it was handed out
since it was laid out. A row added between others moves those on the shorter side. `ends[MOVES]` counts them, so that a test can prove it.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled, compiled_part

#: Columns of an owner, from `at`.
BEGIN, DROPPED, USED, CAPACITY = range(4)
SEGMENT = 4
FIRST_CAPACITY = 4
#: `ends` of an arena: rows handed out, the largest capacity of any segment, and rows moved (or owners looked at).
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
    """Make room for one row before the `position`-th (USED: at the end); returns its number. The row is zero. The shorter side moves."""
    used = owner[at + USED]
    in_front = 2 * position < used
    if owner[at + DROPPED] == 0 if in_front else owner[at + DROPPED] + used == owner[at + CAPACITY]:
        _make_room(owner, at, arena, ends, in_front)
    row = first_row(owner, at) + position
    if in_front:
        row -= 1
        for k in range(row - position, row):
            arena[k] = arena[k + 1]
        owner[at + DROPPED] -= 1
        ends[MOVES] += position
    else:
        for k in range(row + used - position, row, -1):
            arena[k] = arena[k - 1]
        ends[MOVES] += used - position
    arena[row] = 0
    owner[at + USED] = used + 1
    return row


@compiled_part
def _make_room(owner: Array, at: int, arena: Array, ends: Array, in_front: bool) -> None:
    """Room behind the last row, or `in_front` of the first too: where the segment is, if half of it is free, or in one twice as large."""
    used, start, capacity = owner[at + USED], first_row(owner, at), owner[at + CAPACITY]
    if used == 0 or 2 * used > capacity:
        capacity = max(FIRST_CAPACITY, 2 * capacity)
        owner[at + BEGIN], owner[at + CAPACITY] = ends[HANDED_OUT], capacity
        ends[HANDED_OUT] += capacity
        ends[LARGEST] = max(ends[LARGEST], capacity)
    owner[at + DROPPED] = (capacity - used) // 2 if in_front else 0
    target = first_row(owner, at)
    ends[MOVES] += used
    if target <= start:
        for k in range(used):
            arena[target + k] = arena[start + k]
    else:
        for k in range(used - 1, -1, -1):
            arena[target + k] = arena[start + k]


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
        front, behind = room_of(used, owners[o, at + DROPPED]) if spare else (0, 0)
        for k in range(used):
            target[end + front + k] = arena[start + k]
        owners[o, at + BEGIN] = end
        owners[o, at + DROPPED] = front
        owners[o, at + CAPACITY] = front + used + behind
        end += front + used + behind
    return end


@compiled
def room_of(used: int, dropped: int) -> tuple[int, int]:
    """Rows that a segment gets before and behind its `used` ones: half as many, before them only where there was room before."""
    return (used + 1) // 2 if dropped > 0 else 0, (used + 1) // 2


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
    used, has_front = owners[:count, at + USED], owners[:count, at + DROPPED] > 0
    capacities = used + (used + 1) // 2 * np.where(has_front, 2, 1)
    largest = max(FIRST_CAPACITY, int(capacities.max(initial=0)))
    # As many more as owners: each of them is looked at when all is laid out anew, so that must pay for it.
    larger = np.zeros((2 * int(capacities.sum()) + 8 * largest + count + 64, arena.shape[1]), dtype=np.int64)
    handed_out = _lay_out(owners, count, at, arena, larger, True)
    return larger, np.array([handed_out, largest, moves + int(used.sum()) + count], dtype=np.int64)
