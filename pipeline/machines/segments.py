"""Lists of rows inside one shared array (an arena): each owner has a segment, a ring-free stretch that moves when it outgrows its place.

A segment is four numbers in its owner's row: where it begins, rows dropped at its front, rows in use, and its capacity.
Laws: rows keep their order. A row added at the end moves a constant number of rows, amortized over all rows added, whatever the number
of owners and rows: a segment doubles when it is full, an arena is laid out anew when it is full, and at least half of it was handed out
since it was laid out. `ends[MOVES]` counts the rows that were moved, so that a test can prove it.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.records import Records, empty_rows

#: The numbers of a segment.
BEGIN, DROPPED, USED, CAPACITY = range(4)
SEGMENT = (4,)
FIRST_CAPACITY = 4
#: `ends` of an arena: rows handed out, the largest capacity of any segment, and rows moved since the arena was first made.
HANDED_OUT, LARGEST, MOVES = range(3)


@compiled_part
def first_row(segment: Array) -> int:
    """Number of the segment's first row."""
    return segment[BEGIN] + segment[DROPPED]


@compiled
def has_spare(capacity: int, ends: Array) -> bool:
    """Whether any one segment of an arena of `capacity` rows could still move to twice its size."""
    return ends[HANDED_OUT] + 2 * max(ends[LARGEST], FIRST_CAPACITY) <= capacity


@compiled_part
def insert_row(segment: Array, arena: Records, ends: Array, position: int) -> int:
    """Make room for one row before the `position`-th (USED: at the end); returns its number. It still holds what lay there before."""
    used = segment[USED]
    if segment[DROPPED] + used == segment[CAPACITY]:
        _make_room(segment, arena, ends)
    row = first_row(segment) + position
    end = first_row(segment) + used
    ends[MOVES] += end - row
    while end > row:
        arena[end] = arena[end - 1]
        end -= 1
    segment[USED] = used + 1
    return row


@compiled_part
def _make_room(segment: Array, arena: Records, ends: Array) -> None:
    used, start = segment[USED], first_row(segment)
    if 2 * segment[DROPPED] >= segment[CAPACITY] and segment[DROPPED] > 0:
        target = segment[BEGIN]  # half of it is free at the front: slide back
    else:
        target = ends[HANDED_OUT]
        segment[CAPACITY] = max(FIRST_CAPACITY, 2 * segment[CAPACITY])
        ends[HANDED_OUT] += segment[CAPACITY]
        ends[LARGEST] = max(ends[LARGEST], segment[CAPACITY])
    ends[MOVES] += used
    for k in range(used):
        arena[target + k] = arena[start + k]
    segment[BEGIN] = target
    segment[DROPPED] = 0


@compiled_part
def drop_first(segment: Array, count: int) -> None:
    """Take the first `count` rows away."""
    segment[DROPPED] += count
    segment[USED] -= count
    if segment[USED] == 0:
        segment[DROPPED] = 0


@compiled_part
def remove_row(segment: Array, arena: Records, position: int) -> None:
    """Take one row away; those after it move up."""
    if position == 0:
        drop_first(segment, 1)
        return
    row = first_row(segment) + position
    end = first_row(segment) + segment[USED] - 1
    while row < end:
        arena[row] = arena[row + 1]
        row += 1
    segment[USED] -= 1


@compiled
def clear(segment: Array) -> None:
    """Take all rows away; the place stays."""
    segment[DROPPED] = 0
    segment[USED] = 0


def roomy(used: Array) -> Array:
    """Capacities of segments of `used` rows that are laid out anew: half as much again, so that each can grow before it moves."""
    return used + (used + 1) // 2


def laid_out(segments: Array, arena: Records, capacities: Array, capacity: int) -> Records:
    """An arena of `capacity` rows in which the segments (int64 [n, 4], changed) lie one after the other with `capacities`."""
    used, starts = segments[:, USED].copy(), segments[:, BEGIN] + segments[:, DROPPED]
    ends = np.cumsum(capacities)
    segments[:, BEGIN] = ends - capacities
    segments[:, DROPPED] = 0
    segments[:, CAPACITY] = capacities
    target = empty_rows(arena.dtype, capacity)
    offsets = np.arange(int(used.sum())) - np.repeat(np.cumsum(used) - used, used)
    target[np.repeat(segments[:, BEGIN], used) + offsets] = arena[np.repeat(starts, used) + offsets]
    return target


def packed(segments: Array, arena: Records) -> Records:
    """The used rows of all segments, in their order; the segments (int64 [n, 4], changed) lie in it, exactly full."""
    used = segments[:, USED].copy()
    return laid_out(segments, arena, used, int(used.sum()))


def unpack(segments: Array) -> None:
    """Lay segments, of which only USED is known, one after the other: the inverse of what `packed` leaves."""
    used = segments[:, USED]
    segments[:, BEGIN] = np.cumsum(used) - used
    segments[:, DROPPED] = 0
    segments[:, CAPACITY] = used


def with_spare(segments: Array, arena: Records, moves: int = 0) -> tuple[Records, Array]:
    """(arena, ends) in which every segment has room to grow, and the arena for as many rows again and to double its largest segment.

    Takes back what segments left behind when they moved. `moves` were counted before. Rows without data cost no memory until they are used.
    """
    capacities = roomy(segments[:, USED])
    handed_out, largest = int(capacities.sum()), max(FIRST_CAPACITY, int(capacities.max(initial=0)))
    larger = laid_out(segments, arena, capacities, 2 * handed_out + 4 * largest + 64)
    return larger, np.array([handed_out, largest, moves + int(segments[:, USED].sum())], dtype=np.int64)
