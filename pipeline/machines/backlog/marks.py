"""When entries were published and how many messages they carry, in bounded memory.

A mark stands for a run of entries of one ledger: one mark per entry as long as a topic retains few. Whenever there are MOST_MARKS, marks
that lie along a line become one: a mark keeps the line's publish times of its first and last entry, and within how many ms behind that line
all of its entries were published. How far that may be is the topic's, and grows by half when lines do not free a quarter of the marks.
So traffic at an even rate needs few marks however long it is retained, and what a mark says is exact to the `within_ms` that it has itself.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import (
    M_ENTRIES,
    M_ENTRY,
    M_FIRST_MS,
    M_LAST_MS,
    M_LEDGER,
    M_MSGS,
    M_WITHIN_MS,
    T_MARK_COUNT,
    T_MARK_WITHIN_MS,
    T_MARKS,
    T_MARKS_USED,
)
from pipeline.machines.blocks import COUNT, FIRST, Blocks, copied, drop_before, following, last_at_or_before, put_behind, write_back
from pipeline.machines.compiled import compiled, compiled_part
from pipeline.machines.integers import add
from pipeline.machines.segments import first_row

MOST_MARKS = 8192
#: Marks further apart than this never become one, so that no product of a line overflows: 24 days, and as many entries.
LONGEST_LINE = 2**31
#: What rounding a line to whole ms may take from either side of the entries inside it, all together.
ROUNDING_MS = 3


@compiled_part
def mark_of(topic: Array, marks: Blocks, ledger: int, entry: int) -> int:
    """Row of the mark that stands for the entry, or −1 if it was not seen published."""
    _, row = last_at_or_before(topic, T_MARKS, marks, ledger, entry)
    return row if row >= 0 and stands_for(marks.rows[row], ledger, entry) else -1


@compiled_part
def stands_for(mark: Array, ledger: int, entry: int) -> bool:
    """Whether the entry is one of the mark's."""
    return mark[M_LEDGER] == ledger and mark[M_ENTRY] <= entry < mark[M_ENTRY] + mark[M_ENTRIES]


@compiled_part
def ends_before(mark: Array, ledger: int, entry: int) -> bool:
    """Whether all of the mark's entries come before the entry."""
    return mark[M_LEDGER] < ledger or (mark[M_LEDGER] == ledger and mark[M_ENTRY] + mark[M_ENTRIES] <= entry)


@compiled_part
def published_ms(mark: Array, entry: int) -> int:
    """The earliest time at which the entry, one of the mark's, may have been published; at the latest M_WITHIN_MS later."""
    return line_at(mark[M_FIRST_MS], mark[M_LAST_MS], mark[M_ENTRIES] - 1, entry - mark[M_ENTRY])


@compiled_part
def line_at(first_ms: int, last_ms: int, length: int, position: int) -> int:
    """The line from `first_ms` to `last_ms`, `length` steps further, at `position`; in whole ms, rounded down."""
    return first_ms + (last_ms - first_ms) * position // length if length > 0 else first_ms


@compiled_part
def entries_before(mark: Array, cutoff_ms: int) -> int:
    """How many entries of a mark were published before `cutoff_ms`, by the middle of what its line leaves open."""
    low, high = 0, mark[M_ENTRIES]
    while low < high:
        middle = (low + high) // 2
        if published_ms(mark, mark[M_ENTRY] + middle) + mark[M_WITHIN_MS] // 2 < cutoff_ms:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def mark_entry(topic: Array, marks: Blocks, ledger: int, entry: int, msgs: int, publish_ms: int) -> None:
    """An entry was published."""
    if topic[T_MARK_COUNT] >= MOST_MARKS:
        _coarsen(topic, marks)
    block, before = last_at_or_before(topic, T_MARKS, marks, ledger, entry)
    row = put_behind(topic, T_MARKS, marks, block, before)
    mark = marks.rows[row]
    mark[M_LEDGER], mark[M_ENTRY], mark[M_ENTRIES], mark[M_MSGS] = ledger, entry, 1, msgs
    mark[M_FIRST_MS], mark[M_LAST_MS], mark[M_WITHIN_MS] = publish_ms, publish_ms, 0
    topic[T_MARK_COUNT] += 1


@compiled_part
def _coarsen(topic: Array, marks: Blocks) -> None:
    """Put marks along lines together until a quarter of MOST_MARKS is free."""
    rows = copied(topic, T_MARKS, marks)
    count, anew = rows.shape[0], False
    for _ in range(62):
        count = put_along_lines(rows, count, topic[T_MARK_WITHIN_MS], anew)
        if count <= MOST_MARKS - MOST_MARKS // 4:
            break
        topic[T_MARK_WITHIN_MS], anew = _next_within_ms(topic[T_MARK_WITHIN_MS], rows, count), True
    if count > MOST_MARKS - MOST_MARKS // 4:  # as many ledgers as marks: the oldest publish times are forgotten
        forgotten = count - (MOST_MARKS - MOST_MARKS // 4)
        rows, count = rows[forgotten:], count - forgotten
    write_back(topic, T_MARKS, marks, rows, count)
    topic[T_MARK_COUNT] = count


@compiled_part
def _next_within_ms(within_ms: int, rows: Array, count: int) -> int:
    """Half as much again; at first a small part of the time that a mark stands for, which no noise can do without."""
    if within_ms == 0:
        return min(max(1, (rows[count - 1, M_LAST_MS] - rows[0, M_FIRST_MS]) // (16 * MOST_MARKS)), LONGEST_LINE)
    return within_ms + within_ms // 2 + 1


@compiled
def put_along_lines(rows: Array, count: int, within_ms: int, anew: bool) -> int:
    """Let as many neighbours as lie within `within_ms` behind one line become one mark, in place; returns how many marks are left.

    Not `anew`: two marks that both stand for several entries are known not to.
    """
    kept, start = 0, 0
    while start < count:
        end, slope = _line_from(rows, start, count, within_ms, anew)
        if end > start + 1:
            rows[kept] = _joined(rows, start, end, slope, within_ms)
        elif kept != start:
            rows[kept] = rows[start]
        kept, start = kept + 1, end
    return kept


@compiled_part
def _line_from(rows: Array, start: int, count: int, within_ms: int, anew: bool) -> tuple[int, float]:
    """(end, ms per entry) of the longest run of marks from `start` that a line fits, if it begins in the middle of what `start` leaves.

    Each mark's first and last entry narrow the slopes that are possible; between them it is a line itself.
    """
    ledger, base, origin = rows[start, M_LEDGER], rows[start, M_ENTRY], _origin(rows[start], within_ms)
    least, most, slope = -np.inf, np.inf, 0.0
    end = start
    while end < count:
        mark = rows[end]
        if end > start and (mark[M_LEDGER] != ledger or mark[M_ENTRY] != rows[end - 1, M_ENTRY] + rows[end - 1, M_ENTRIES]):
            break
        if end > start and not anew and mark[M_ENTRIES] > 1 and rows[end - 1, M_ENTRIES] > 1:
            break
        last = mark[M_ENTRY] + mark[M_ENTRIES] - 1
        if abs(mark[M_FIRST_MS] - origin) + abs(mark[M_LAST_MS] - origin) > LONGEST_LINE or last - base > LONGEST_LINE:
            break
        for entry, low_ms in ((mark[M_ENTRY], mark[M_FIRST_MS]), (last, mark[M_LAST_MS])):
            if entry > base:
                most = min(most, (low_ms - origin) / (entry - base))
                least = max(least, (low_ms + mark[M_WITHIN_MS] - within_ms - origin) / (entry - base))
        if least > most:
            break
        slope = (least + most) / 2 if last > base else 0.0
        end += 1
    return max(end, start + 1), slope


@compiled_part
def _origin(mark: Array, within_ms: int) -> int:
    return mark[M_FIRST_MS] - max(0, within_ms - mark[M_WITHIN_MS]) // 2


@compiled_part
def _joined(rows: Array, start: int, end: int, slope: float, within_ms: int) -> Array:
    """One mark for `rows[start:end]`, along a line of that slope, as near to it as they are."""
    joined = rows[start].copy()
    base, origin = joined[M_ENTRY], _origin(joined, within_ms)
    length = rows[end - 1, M_ENTRY] + rows[end - 1, M_ENTRIES] - 1 - base
    last_ms = origin + int(np.floor(slope * length))
    behind_least, behind_most, has_inner = LONGEST_LINE, -LONGEST_LINE, False
    for row in range(start, end):
        mark = rows[row]
        first, last = mark[M_ENTRY] - base, mark[M_ENTRY] + mark[M_ENTRIES] - 1 - base
        for position, low_ms in ((first, mark[M_FIRST_MS]), (last, mark[M_LAST_MS])):
            behind = low_ms - line_at(origin, last_ms, length, position)
            behind_least, behind_most = min(behind_least, behind), max(behind_most, behind + mark[M_WITHIN_MS])
        has_inner = has_inner or mark[M_ENTRIES] > 2
        if row > start:
            joined[M_MSGS] = add(joined[M_MSGS], mark[M_MSGS])
    rounding = ROUNDING_MS if has_inner else 0
    shift = behind_least - (rounding - 1 if has_inner else 0)
    joined[M_ENTRIES] = length + 1
    joined[M_FIRST_MS], joined[M_LAST_MS] = origin + shift, last_ms + shift
    joined[M_WITHIN_MS] = behind_most - behind_least + rounding
    return joined


@compiled_part
def forget_marks(topic: Array, marks: Blocks, first_ledger: int) -> None:
    """The topic's list of ledgers begins with `first_ledger` now: marks of older ones go."""
    block, row = last_at_or_before(topic, T_MARKS, marks, first_ledger, -1)
    if row >= 0:
        passed, last = -1, -1
        while last != row:
            passed, last = following(topic, T_MARKS, marks, passed, last)
            topic[T_MARK_COUNT] -= 1
        block, row = following(topic, T_MARKS, marks, block, row)
        drop_before(topic, T_MARKS, marks, block, row)
    if topic[T_MARKS_USED] == 0:
        topic[T_MARK_WITHIN_MS] = 0


@compiled_part
def msgs_from(topic: Array, marks: Blocks, ledger: int, entry: int) -> int:
    """Messages of the topic from an entry on; inside a mark of several entries by their integer average. −1: not known."""
    block, row = last_at_or_before(topic, T_MARKS, marks, ledger, entry)
    if row < 0 or not stands_for(marks.rows[row], ledger, entry):
        return -1
    msgs = marks.rows[row, M_MSGS] - msgs_before(marks.rows[row], entry)
    begin = first_row(topic, T_MARKS)
    for d in range(begin + block, begin + topic[T_MARKS_USED]):
        first = marks.directory[d, FIRST]
        for behind in range(max(first, row + 1) if d == begin + block else first, first + marks.directory[d, COUNT]):
            msgs = add(msgs, marks.rows[behind, M_MSGS])
    return msgs


@compiled_part
def msgs_before(mark: Array, entry: int) -> int:
    """Messages of a mark's entries before one of them, by their integer average."""
    return mark[M_MSGS] * (entry - mark[M_ENTRY]) // mark[M_ENTRIES]


@compiled_part
def newest_before(topic: Array, marks: Blocks, cutoff_ms: int) -> tuple[int, int]:
    """(ledger, entry) of the newest entry published before `cutoff_ms`, (−1, −1) if there is none. Publish times are taken to be in order,
    as the broker's binary search does.
    """
    begin = first_row(topic, T_MARKS)
    low, high = 0, topic[T_MARKS_USED]
    while low < high:
        middle = (low + high) // 2
        if entries_before(marks.rows[marks.directory[begin + middle, FIRST]], cutoff_ms) > 0:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return -1, -1
    start = marks.directory[begin + low - 1, FIRST]
    low, high = start, start + marks.directory[begin + low - 1, COUNT]
    while low < high:
        middle = (low + high) // 2
        if entries_before(marks.rows[middle], cutoff_ms) > 0:
            low = middle + 1
        else:
            high = middle
    mark = marks.rows[low - 1]
    return mark[M_LEDGER], mark[M_ENTRY] + entries_before(mark, cutoff_ms) - 1
