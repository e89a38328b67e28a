"""Sorted lists of rows in blocks of one shared pool: a row put anywhere moves a constant number of rows, however long its list is.

Rows are ordered by their fields `ledger` and `entry`. A list is a directory of blocks, each a run of up to BLOCK rows of the pool with a
gap at either end; the directory is a segment (segments.py) of the list's owner. Blocks that go empty are used again.
Invariants: rows keep their order. A row that is put into a list moves at most BLOCK rows; a block that is added, at most once in BLOCK / 2
rows, moves the shorter side of the directory. `ends[MOVES]` counts both. What a list holds never depends on how it is cut in blocks.
"""

from typing import NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.compiled import allocating_part, compiled, compiled_part
from pipeline.rules.records import Records, empty_rows, put_rows, record, with_capacity
from pipeline.rules.segments import BEGIN, CAPACITY, DROPPED, USED, drop_first, first_row, has_spare, insert_row, places_of, with_spare
from pipeline.rules.segments import clear as clear_segment

BLOCK = 32
#: A block: its first row in use, and how many are.
DIRECTORY_ROW = record("first", "count")
#: `ends` of a pool: rows handed out, the first row of the first free block (each names the next one in its `ledger`), and rows moved.
HANDED_OUT, FREE, MOVES = range(3)
NONE = -1


class Blocks(NamedTuple):
    """All lists of one kind."""

    rows: Records  # pool [capacity], capacity a multiple of BLOCK
    ends: Array
    directory: Records  # arena [capacity] of DIRECTORY_ROW
    directory_ends: Array

    def copy(self) -> "Blocks":
        """The same lists, kept apart."""
        return Blocks(*(part.copy() for part in self))


@compiled_part
def fits_one_more(blocks: Blocks) -> bool:
    """Whether a row can be put into any one of the lists."""
    has_block = blocks.ends[FREE] != NONE or blocks.ends[HANDED_OUT] + BLOCK <= len(blocks.rows)
    return has_block and has_spare(len(blocks.directory), blocks.directory_ends)


@compiled_part
def last_at_or_before(segment: Array, blocks: Blocks, ledger: int, entry: int) -> tuple[int, int]:
    """(number of the block, row) of the last row whose keys are at most (`ledger`, `entry`); (−1, −1): there is none."""
    directory, rows = blocks.directory, blocks.rows
    begin = first_row(segment)
    low, high = 0, segment[USED]
    if high > 0 and is_at_or_before(rows, directory[begin + high - 1].first, ledger, entry):
        low = high  # mostly it is in the last block
    while low < high:
        middle = (low + high) // 2
        if is_at_or_before(rows, directory[begin + middle].first, ledger, entry):
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return NONE, NONE
    block = low - 1
    start = directory[begin + block].first
    low, high = start, start + directory[begin + block].count
    if is_at_or_before(rows, high - 1, ledger, entry):
        return block, high - 1
    while low < high:
        middle = (low + high) // 2
        if is_at_or_before(rows, middle, ledger, entry):
            low = middle + 1
        else:
            high = middle
    return block, low - 1


@compiled_part
def is_at_or_before(rows: Records, row: int, ledger: int, entry: int) -> bool:
    """Whether the keys of the row are at most (`ledger`, `entry`)."""
    return rows[row].ledger < ledger or (rows[row].ledger == ledger and rows[row].entry <= entry)


@compiled_part
def following(segment: Array, blocks: Blocks, block: int, row: int) -> tuple[int, int]:
    """The row behind one of the list, or the first one if `block` is −1; (−1, −1) at the end."""
    directory, begin = blocks.directory, first_row(segment)
    if block >= 0 and row + 1 < directory[begin + block].first + directory[begin + block].count:
        return block, row + 1
    if block + 1 >= segment[USED]:
        return NONE, NONE
    return block + 1, directory[begin + block + 1].first


@compiled_part
def put_behind(segment: Array, blocks: Blocks, block: int, row: int) -> int:
    """Put a row behind one of the list, or before all if `block` is −1; returns its number. It still holds what lay there before."""
    directory = blocks.directory
    count = directory[first_row(segment) + max(block, 0)].count if segment[USED] > 0 else BLOCK
    if block < 0:
        block, place = 0, 0
    else:
        place = row + 1 - directory[first_row(segment) + block].first
    if count == BLOCK:
        if place == 0 or place == BLOCK:  # at an end of a full block: a block of its own, where more of the kind will follow
            return _add_block(segment, blocks, block if place == 0 else block + 1, place == 0)
        _split(segment, blocks, block)
        if place > BLOCK // 2:
            block, place = block + 1, place - BLOCK // 2
    return _open_gap(blocks, first_row(segment) + block, place)


@compiled_part
def _add_block(segment: Array, blocks: Blocks, block: int, grows_down: bool) -> int:
    """A new block with one row, before the `block`-th."""
    if blocks.ends[FREE] != NONE:
        base = blocks.ends[FREE]
        blocks.ends[FREE] = blocks.rows[base].ledger
    else:
        base = blocks.ends[HANDED_OUT]
        blocks.ends[HANDED_OUT] += BLOCK
    d = insert_row(segment, blocks.directory, blocks.directory_ends, block)
    row = base + BLOCK - 1 if grows_down else base
    blocks.directory[d].first, blocks.directory[d].count = row, 1
    return row


@compiled_part
def _split(segment: Array, blocks: Blocks, block: int) -> None:
    """The upper half of a full block goes to a new one behind it."""
    target = _add_block(segment, blocks, block + 1, False)
    d = first_row(segment) + block
    source = blocks.directory[d].first + BLOCK // 2
    for k in range(BLOCK // 2):
        blocks.rows[target + k] = blocks.rows[source + k]
    blocks.directory[d].count, blocks.directory[d + 1].count = BLOCK // 2, BLOCK // 2
    blocks.ends[MOVES] += BLOCK // 2


@compiled_part
def _open_gap(blocks: Blocks, d: int, place: int) -> int:
    """Make room for the `place`-th row of a block that is not full: the shorter side moves, if the gap on that side is not used up."""
    directory, rows = blocks.directory, blocks.rows
    start, count = directory[d].first, directory[d].count
    fits_below, fits_above = start % BLOCK > 0, start % BLOCK + count < BLOCK
    row = start + place
    if fits_below and (not fits_above or 2 * place < count):
        row -= 1
        for k in range(start - 1, row):
            rows[k] = rows[k + 1]
        directory[d].first = start - 1
        blocks.ends[MOVES] += place
    else:
        for k in range(start + count, row, -1):
            rows[k] = rows[k - 1]
        blocks.ends[MOVES] += count - place
    directory[d].count = count + 1
    return row


@compiled_part
def drop_before(segment: Array, blocks: Blocks, block: int, row: int) -> None:
    """Take all rows before one of the list away, or all there are if `block` is −1."""
    begin = first_row(segment)
    going = block if block >= 0 else segment[USED]
    for d in range(begin, begin + going):
        _free(blocks, blocks.directory[d].first)
    drop_first(segment, going)
    if block >= 0:
        d = first_row(segment)
        blocks.directory[d].count -= row - blocks.directory[d].first
        blocks.directory[d].first = row


@compiled_part
def _free(blocks: Blocks, row: int) -> None:
    base = row - row % BLOCK
    blocks.rows[base].ledger = blocks.ends[FREE]
    blocks.ends[FREE] = base


@compiled
def clear(segment: Array, blocks: Blocks) -> None:
    """Take all rows away."""
    drop_before(segment, blocks, NONE, NONE)
    clear_segment(segment)


@allocating_part
def copied(segment: Array, blocks: Blocks) -> Records:
    """The rows of one list, one after the other."""
    begin, used = first_row(segment), segment[USED]
    total = 0
    for d in range(begin, begin + used):
        total += blocks.directory[d].count
    target = blocks.rows[:total].copy()
    end = 0
    for d in range(begin, begin + used):
        start = blocks.directory[d].first
        for row in range(start, start + blocks.directory[d].count):
            target[end] = blocks.rows[row]
            end += 1
    return target


@compiled_part
def write_back(segment: Array, blocks: Blocks, source: Records, count: int) -> None:
    """Let a list be the first `count` of `source`, no more rows than it has. What it has no longer is free."""
    begin, used = first_row(segment), segment[USED]
    done, d = 0, begin
    while done < count:
        base = blocks.directory[d].first - blocks.directory[d].first % BLOCK
        here = min(BLOCK, count - done)
        for k in range(here):
            blocks.rows[base + k] = source[done + k]
        blocks.directory[d].first, blocks.directory[d].count = base, here
        done, d = done + here, d + 1
    for free in range(d, begin + used):
        _free(blocks, blocks.directory[free].first)
    segment[USED] = d - begin
    blocks.ends[MOVES] += count


def gathered(segments: Array, blocks: Blocks) -> Records:
    """The rows of all lists, in their order. Of the segments (int64 [n, 4], changed) only USED is left: the number of a list's rows."""
    used = segments[:, USED].copy()
    places = places_of(segments[:, BEGIN] + segments[:, DROPPED], used)
    first, count = blocks.directory["first"][places], blocks.directory["count"][places]
    rows_before, ends = np.append(0, np.cumsum(count)), np.cumsum(used)
    segments[:] = 0
    segments[:, USED] = rows_before[ends] - rows_before[ends - used]
    rows: Records = blocks.rows.take(places_of(first, count))
    return rows


def laid_out(segments: Array, rows: Records) -> Blocks:
    """Blocks of `rows` as `gathered` leaves them; the segments (int64 [n, 4], changed) have their places in it."""
    used = segments[:, USED].copy()
    blocks_of = -(-used // BLOCK)
    total = int(blocks_of.sum())
    pool = empty_rows(rows.dtype, (2 * total + 32) * BLOCK)
    first_block = np.cumsum(blocks_of) - blocks_of
    put_rows(pool, places_of(first_block * BLOCK, used), rows)
    directory = empty_rows(DIRECTORY_ROW, total)
    directory["first"] = np.arange(total) * BLOCK
    left = np.repeat(used, blocks_of) - (np.arange(total) - np.repeat(first_block, blocks_of)) * BLOCK
    directory["count"] = np.minimum(left, BLOCK)
    segments[:, BEGIN], segments[:, DROPPED] = first_block, 0
    segments[:, USED], segments[:, CAPACITY] = blocks_of, blocks_of
    arena, ends = with_spare(segments, directory)
    return Blocks(pool, np.array([total * BLOCK, NONE, len(rows)], dtype=np.int64), arena, ends)


def with_room(segments: Array, blocks: Blocks) -> Blocks:
    """More blocks, and more room in the directory, where there is none for another row."""
    if blocks.ends[FREE] == NONE and blocks.ends[HANDED_OUT] + BLOCK > len(blocks.rows):
        handed_out = int(blocks.ends[HANDED_OUT])
        larger = with_capacity(blocks.rows, handed_out, 2 * len(blocks.rows))
        blocks.ends[MOVES] += handed_out
        blocks = blocks._replace(rows=larger)
    if not has_spare(len(blocks.directory), blocks.directory_ends):
        arena, ends = with_spare(segments, blocks.directory, int(blocks.directory_ends[MOVES]))
        blocks = blocks._replace(directory=arena, directory_ends=ends)
    return blocks
