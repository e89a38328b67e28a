"""Lists of rows inside one shared array (an arena): each owner has a segment, a ring-free stretch that moves when it outgrows its place.

A segment is four numbers in its owner's row: where it begins, rows dropped at its front, rows in use, and its capacity.
Invariants: rows keep their order. A row added at either end moves a constant number of rows, amortized over all rows added, whatever the
number of owners and rows: a segment doubles when it is full; an arena is laid out anew when it is full, and since the last time it handed
out as many rows as it has owners and rows. A row added between others moves those on the shorter side. `ends[MOVES]` counts them, so that a
test can prove it.
"""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled, compiled_part
from pipeline.rules.records import Records, empty_rows, put_rows

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
    """Make room for one row before the `position`-th (USED: at the end); returns its number. It still holds what lay there before.

    The shorter side moves.
    """
    used = segment[USED]
    in_front = 2 * position < used
    if segment[DROPPED] == 0 if in_front else segment[DROPPED] + used == segment[CAPACITY]:
        _make_room(segment, arena, ends, in_front)
    row = first_row(segment) + position
    if in_front:
        row -= 1
        for k in range(row - position, row):
            arena[k] = arena[k + 1]
        segment[DROPPED] -= 1
        ends[MOVES] += position
    else:
        for k in range(row + used - position, row, -1):
            arena[k] = arena[k - 1]
        ends[MOVES] += used - position
    segment[USED] = used + 1
    return row


@compiled_part
def _make_room(segment: Array, arena: Records, ends: Array, in_front: bool) -> None:
    """Room behind the last row, or `in_front` of the first too: where the segment is, if half of it is free, or in one twice as large.

    Room on both sides takes two free rows at least.
    """
    used, start, capacity = segment[USED], first_row(segment), segment[CAPACITY]
    if used == 0 or 2 * used > capacity or capacity - used < 2:
        capacity = max(FIRST_CAPACITY, 2 * capacity)
        segment[BEGIN], segment[CAPACITY] = ends[HANDED_OUT], capacity
        ends[HANDED_OUT] += capacity
        ends[LARGEST] = max(ends[LARGEST], capacity)
    segment[DROPPED] = (capacity - used) // 2 if in_front else 0
    target = first_row(segment)
    ends[MOVES] += used
    if target <= start:
        for k in range(used):
            arena[target + k] = arena[start + k]
    else:
        for k in range(used - 1, -1, -1):
            arena[target + k] = arena[start + k]


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


def places_of(starts: Array, lengths: Array) -> Array:
    """Numbers of all rows of runs that begin at `starts` and are `lengths` long, one run after the other."""
    ends = np.cumsum(lengths)
    places: Array = np.repeat(starts - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    return places


def laid_out(segments: Array, arena: Records, fronts: Array, capacities: Array, capacity: int) -> Records:
    """An arena of `capacity` rows in which the segments (int64 [n, 4], changed) lie one after the other, `fronts` rows free before each."""
    used, starts = segments[:, USED].copy(), segments[:, BEGIN] + segments[:, DROPPED]
    segments[:, BEGIN] = np.cumsum(capacities) - capacities
    segments[:, DROPPED] = fronts
    segments[:, CAPACITY] = capacities
    target = empty_rows(arena.dtype, capacity)
    put_rows(target, places_of(segments[:, BEGIN] + fronts, used), arena.take(places_of(starts, used)))
    return target


def packed(segments: Array, arena: Records) -> Records:
    """The used rows of all segments, in their order; the segments (int64 [n, 4], changed) lie in it, exactly full."""
    used = segments[:, USED].copy()
    return laid_out(segments, arena, np.zeros_like(used), used, int(used.sum()))


def unpack(segments: Array) -> None:
    """Lay segments, of which only USED is known, one after the other: the inverse of what `packed` leaves."""
    used = segments[:, USED]
    segments[:, BEGIN] = np.cumsum(used) - used
    segments[:, DROPPED] = 0
    segments[:, CAPACITY] = used


def with_spare(segments: Array, arena: Records, moves: int = 0) -> tuple[Records, Array]:
    """(arena, ends) in which every segment has room to grow, and the arena for as many rows again, one more per owner, and to double its
    largest segment.

    A segment gets half as many rows as it has behind them, and before them where there was room before, so that each can grow before it
    moves. Takes back what segments left behind when they moved. `moves` were counted before. Rows without data cost no memory until used.
    """
    used = segments[:, USED]
    spare = (used + 1) // 2
    fronts = np.where(segments[:, DROPPED] > 0, spare, 0)
    capacities = fronts + used + spare
    handed_out, largest = int(capacities.sum()), max(FIRST_CAPACITY, int(capacities.max(initial=0)))
    larger = laid_out(segments, arena, fronts, capacities, 2 * handed_out + len(segments) + 8 * largest + 64)
    return larger, np.array([handed_out, largest, moves + int(segments[:, USED].sum())], dtype=np.int64)
