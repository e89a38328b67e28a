"""Sorted lists of rows in blocks of one shared pool: a row put anywhere moves a constant number of rows, however long its list is.

Rows are ordered by their first two columns. A list is a directory of blocks, each a run of up to BLOCK rows of the pool with a gap at
either end; the directory is a segment (segments.py) of the owner, four columns from `at`. Blocks that go empty are used again.
Laws: rows keep their order. A row that is put into a list moves at most BLOCK rows; a block that is added, at most once in BLOCK / 2
rows, moves the shorter side of the directory. `ends[MOVES]` counts both. What a list holds never depends on how it is cut in blocks.
"""

from typing import NamedTuple

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.segments import USED, drop_first, first_row, has_spare, insert_row, with_spare
from pipeline.machines.segments import clear as clear_segment

BLOCK = 32
#: Columns of the directory: the block's first row in use, and how many are.
FIRST, COUNT = 0, 1
DIRECTORY_COLUMNS = 2
#: `ends` of a pool: rows handed out, the first row of the first free block (each names the next one in its first number), and rows moved.
HANDED_OUT, FREE, MOVES = range(3)
NONE = -1


class Blocks(NamedTuple):
    """All lists of one kind."""

    rows: Array  # pool [capacity, columns], capacity a multiple of BLOCK
    ends: Array
    directory: Array  # arena [capacity, DIRECTORY_COLUMNS]
    directory_ends: Array


@compiled_part
def fits_one_more(blocks: Blocks) -> bool:
    """Whether a row can be put into any one of the lists."""
    has_block = blocks.ends[FREE] != NONE or blocks.ends[HANDED_OUT] + BLOCK <= blocks.rows.shape[0]
    return has_block and has_spare(blocks.directory.shape[0], blocks.directory_ends)


@compiled_part
def last_at_or_before(owner: Array, at: int, blocks: Blocks, first: int, second: int) -> tuple[int, int]:
    """(number of the block, row) of the last row whose two keys are at most (`first`, `second`); (−1, −1): there is none."""
    directory, rows = blocks.directory, blocks.rows
    begin = first_row(owner, at)
    low, high = 0, owner[at + USED]
    if high > 0 and is_at_or_before(rows, directory[begin + high - 1, FIRST], first, second):
        low = high  # mostly it is in the last block
    while low < high:
        middle = (low + high) // 2
        if is_at_or_before(rows, directory[begin + middle, FIRST], first, second):
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return NONE, NONE
    block = low - 1
    start = directory[begin + block, FIRST]
    low, high = start, start + directory[begin + block, COUNT]
    if is_at_or_before(rows, high - 1, first, second):
        return block, high - 1
    while low < high:
        middle = (low + high) // 2
        if is_at_or_before(rows, middle, first, second):
            low = middle + 1
        else:
            high = middle
    return block, low - 1


@compiled_part
def is_at_or_before(rows: Array, row: int, first: int, second: int) -> bool:
    """Whether the keys of the row are at most (`first`, `second`)."""
    return rows[row, 0] < first or (rows[row, 0] == first and rows[row, 1] <= second)


@compiled_part
def following(owner: Array, at: int, blocks: Blocks, block: int, row: int) -> tuple[int, int]:
    """The row behind one of the list, or the first one if `block` is −1; (−1, −1) at the end."""
    begin, used = first_row(owner, at), owner[at + USED]
    if block >= 0 and row + 1 < blocks.directory[begin + block, FIRST] + blocks.directory[begin + block, COUNT]:
        return block, row + 1
    if block + 1 >= used:
        return NONE, NONE
    return block + 1, blocks.directory[begin + block + 1, FIRST]


@compiled_part
def put_behind(owner: Array, at: int, blocks: Blocks, block: int, row: int) -> int:
    """Put a row behind one of the list, or before all if `block` is −1; returns its number. Only its two keys are zero, to be filled in."""
    directory = blocks.directory
    count = directory[first_row(owner, at) + max(block, 0), COUNT] if owner[at + USED] > 0 else BLOCK
    if block < 0:
        block, place = 0, 0
    else:
        place = row + 1 - directory[first_row(owner, at) + block, FIRST]
    if count == BLOCK:
        if place == 0 or place == BLOCK:  # at an end of a full block: a block of its own, where more of the kind will follow
            return _add_block(owner, at, blocks, block if place == 0 else block + 1, place == 0)
        _split(owner, at, blocks, block)
        if place > BLOCK // 2:
            block, place = block + 1, place - BLOCK // 2
    return _open_gap(blocks, first_row(owner, at) + block, place)


@compiled_part
def _add_block(owner: Array, at: int, blocks: Blocks, block: int, grows_down: bool) -> int:
    """A new block with one row, before the `block`-th."""
    if blocks.ends[FREE] != NONE:
        base = blocks.ends[FREE]
        blocks.ends[FREE] = blocks.rows[base, 0]
    else:
        base = blocks.ends[HANDED_OUT]
        blocks.ends[HANDED_OUT] += BLOCK
    d = insert_row(owner, at, blocks.directory, blocks.directory_ends, block)
    row = base + BLOCK - 1 if grows_down else base
    blocks.directory[d, FIRST], blocks.directory[d, COUNT] = row, 1
    blocks.rows[row] = 0
    return row


@compiled_part
def _split(owner: Array, at: int, blocks: Blocks, block: int) -> None:
    """The upper half of a full block goes to a new one behind it."""
    target = _add_block(owner, at, blocks, block + 1, False)
    d = first_row(owner, at) + block
    source = blocks.directory[d, FIRST] + BLOCK // 2
    blocks.rows[target : target + BLOCK // 2] = blocks.rows[source : source + BLOCK // 2]
    blocks.directory[d, COUNT], blocks.directory[d + 1, COUNT] = BLOCK // 2, BLOCK // 2
    blocks.ends[MOVES] += BLOCK // 2


@compiled_part
def _open_gap(blocks: Blocks, d: int, place: int) -> int:
    """Make room for the `place`-th row of a block that is not full: the shorter side moves, if the gap on that side is not used up."""
    directory, rows = blocks.directory, blocks.rows
    start, count = directory[d, FIRST], directory[d, COUNT]
    fits_below, fits_above = start % BLOCK > 0, start % BLOCK + count < BLOCK
    row = start + place
    if fits_below and (not fits_above or 2 * place < count):
        row -= 1
        for k in range(start - 1, row):
            rows[k] = rows[k + 1]
        directory[d, FIRST] = start - 1
        blocks.ends[MOVES] += place
    else:
        for k in range(start + count, row, -1):
            rows[k] = rows[k - 1]
        blocks.ends[MOVES] += count - place
    directory[d, COUNT] = count + 1
    rows[row] = 0
    return row


@compiled_part
def drop_before(owner: Array, at: int, blocks: Blocks, block: int, row: int) -> None:
    """Take all rows before one of the list away, or all there are if `block` is −1."""
    begin = first_row(owner, at)
    going = block if block >= 0 else owner[at + USED]
    for d in range(begin, begin + going):
        _free(blocks, blocks.directory[d, FIRST])
    drop_first(owner, at, going)
    if block >= 0:
        d = first_row(owner, at)
        blocks.directory[d, COUNT] -= row - blocks.directory[d, FIRST]
        blocks.directory[d, FIRST] = row


@compiled_part
def _free(blocks: Blocks, row: int) -> None:
    base = row - row % BLOCK
    blocks.rows[base, 0] = blocks.ends[FREE]
    blocks.ends[FREE] = base


@compiled
def clear(owner: Array, at: int, blocks: Blocks) -> None:
    """Take all rows away."""
    drop_before(owner, at, blocks, NONE, NONE)
    clear_segment(owner, at)


@compiled_part
def copied(owner: Array, at: int, blocks: Blocks) -> Array:
    """The rows of one list, one after the other."""
    begin, used = first_row(owner, at), owner[at + USED]
    total = 0
    for d in range(begin, begin + used):
        total += blocks.directory[d, COUNT]
    target = np.empty((total, blocks.rows.shape[1]), dtype=np.int64)
    _copy(owner, at, blocks, target, 0)
    return target


@compiled_part
def _copy(owner: Array, at: int, blocks: Blocks, target: Array, end: int) -> int:
    begin, used = first_row(owner, at), owner[at + USED]
    for d in range(begin, begin + used):
        start = blocks.directory[d, FIRST]
        for row in range(start, start + blocks.directory[d, COUNT]):
            target[end] = blocks.rows[row]
            end += 1
    return end


@compiled_part
def write_back(owner: Array, at: int, blocks: Blocks, source: Array, count: int) -> None:
    """Let a list be the first `count` of `source`, no more rows than it has. What it has no longer is free."""
    begin, used = first_row(owner, at), owner[at + USED]
    done, d = 0, begin
    while done < count:
        base = blocks.directory[d, FIRST] - blocks.directory[d, FIRST] % BLOCK
        here = min(BLOCK, count - done)
        blocks.rows[base : base + here] = source[done : done + here]
        blocks.directory[d, FIRST], blocks.directory[d, COUNT] = base, here
        done, d = done + here, d + 1
    for free in range(d, begin + used):
        _free(blocks, blocks.directory[free, FIRST])
    owner[at + USED] = d - begin
    blocks.ends[MOVES] += count


@compiled
def _gather(owners: Array, count: int, at: int, blocks: Blocks, target: Array) -> None:
    """Copy all lists one after the other; USED of an owner becomes the number of its rows."""
    end = 0
    for o in range(count):
        before = end
        end = _copy(owners[o], at, blocks, target, end)
        owners[o, at + USED] = end - before


@compiled
def _rows_in(owners: Array, count: int, at: int, blocks: Blocks) -> int:
    total = 0
    for o in range(count):
        begin = first_row(owners[o], at)
        for d in range(begin, begin + owners[o, at + USED]):
            total += blocks.directory[d, COUNT]
    return total


def gathered(owners: Array, count: int, at: int, blocks: Blocks) -> Array:
    """The rows of all lists, in their owners' order: [n, columns]. USED of an owner becomes the number of its rows."""
    target = np.zeros((_rows_in(owners, count, at, blocks), blocks.rows.shape[1]), dtype=np.int64)
    _gather(owners, count, at, blocks, target)
    return target


def laid_out(owners: Array, count: int, at: int, rows: Array) -> Blocks:
    """Blocks of `rows` as `gathered` leaves them, owners changed to have their places in it."""
    used = owners[:count, at + USED].copy()
    blocks_of = -(-used // BLOCK)
    total = int(blocks_of.sum())
    pool = np.zeros(((2 * total + 4) * BLOCK, rows.shape[1]), dtype=np.int64)
    first_block = np.cumsum(blocks_of) - blocks_of
    starts = np.repeat(first_block * BLOCK - np.cumsum(used) + used, used) + np.arange(len(rows))
    pool[starts] = rows
    directory = np.empty((total, DIRECTORY_COLUMNS), dtype=np.int64)
    directory[:, FIRST] = np.arange(total) * BLOCK
    left = np.repeat(used, blocks_of) - (np.arange(total) - np.repeat(first_block, blocks_of)) * BLOCK
    directory[:, COUNT] = np.minimum(left, BLOCK)
    owners[:count, at], owners[:count, at + 1] = first_block, 0
    owners[:count, at + USED] = owners[:count, at + 3] = blocks_of
    arena, ends = with_spare(owners, count, at, directory)
    return Blocks(pool, np.array([total * BLOCK, NONE, len(rows)], dtype=np.int64), arena, ends)


def with_room(owners: Array, count: int, at: int, blocks: Blocks) -> Blocks:
    """More blocks, and more room in the directory, where there is none for another row."""
    if blocks.ends[FREE] == NONE and blocks.ends[HANDED_OUT] + BLOCK > len(blocks.rows):
        handed_out = int(blocks.ends[HANDED_OUT])
        larger = np.zeros((2 * len(blocks.rows), blocks.rows.shape[1]), dtype=np.int64)
        larger[:handed_out] = blocks.rows[:handed_out]
        blocks.ends[MOVES] += handed_out
        blocks = blocks._replace(rows=larger)
    if not has_spare(len(blocks.directory), blocks.directory_ends):
        arena, ends = with_spare(owners, count, at, blocks.directory, int(blocks.directory_ends[MOVES]))
        blocks = blocks._replace(directory=arena, directory_ends=ends)
    return blocks
