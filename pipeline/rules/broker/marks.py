"""When entries were published and how many messages they carry, in bounded memory.

A mark stands for a run of entries of one ledger: one mark per entry as long as a topic retains few. Whenever there are MOST_MARKS, marks
that lie along a line become one: a mark keeps the line's publish times of its first and last entry, and within how many ms behind that line
all of its entries were published. How far that may be is the topic's, and grows by half when lines do not free a quarter of the marks.
So traffic at an even rate needs few marks however long it is retained, and a mark is exact to the `within_ms` that it has itself.
"""

import numpy as np

from pipeline.rules.blocks import Blocks, copied, drop_before, following, last_at_or_before, put_behind, write_back
from pipeline.rules.compiled import allocating_part, compiled, compiled_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row

MOST_MARKS = 8192
#: Marks further apart than this never become one, so that no product of a line overflows: 24 days, and as many entries.
LONGEST_LINE = 2**31
#: What rounding a line to whole ms may take from either side of the entries inside it, all together.
ROUNDING_MS = 3


@compiled_part
def mark_of(topic: Record, marks: Blocks, ledger: int, entry: int) -> int:
    """Row of the mark that stands for the entry, or −1 if it was not seen published."""
    _, row = last_at_or_before(topic.marks, marks, ledger, entry)
    return row if row >= 0 and stands_for(marks.rows[row], ledger, entry) else -1


@compiled_part
def stands_for(mark: Record, ledger: int, entry: int) -> bool:
    """Whether the entry is one of the mark's."""
    return mark.ledger == ledger and mark.entry <= entry < mark.entry + mark.entries


@compiled_part
def published_ms(mark: Record, entry: int) -> int:
    """The earliest time at which the entry, one of the mark's, may have been published; at the latest its `within_ms` later."""
    return line_at(mark.first_ms, mark.last_ms, mark.entries - 1, entry - mark.entry)


@compiled_part
def line_at(first_ms: int, last_ms: int, length: int, position: int) -> int:
    """The line from `first_ms` to `last_ms`, `length` steps further, at `position`; in whole ms, rounded down."""
    return first_ms + (last_ms - first_ms) * position // length if length > 0 else first_ms


@compiled_part
def entries_before(mark: Record, cutoff_ms: int) -> int:
    """How many entries of a mark were published before `cutoff_ms`, by the middle of what its line leaves open."""
    low, high = 0, mark.entries
    while low < high:
        middle = (low + high) // 2
        if published_ms(mark, mark.entry + middle) + mark.within_ms // 2 < cutoff_ms:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def mark_entry(topic: Record, marks: Blocks, ledger: int, entry: int, msgs: int, publish_ms: int) -> None:
    """An entry was published."""
    if topic.mark_count >= MOST_MARKS:
        _coarsen(topic, marks)
    block, before = last_at_or_before(topic.marks, marks, ledger, entry)
    row = put_behind(topic.marks, marks, block, before)
    mark = marks.rows[row]
    mark.ledger, mark.entry, mark.entries, mark.msgs = ledger, entry, 1, msgs
    mark.first_ms, mark.last_ms, mark.within_ms = publish_ms, publish_ms, 0
    topic.mark_count += 1


@allocating_part
def _coarsen(topic: Record, marks: Blocks) -> None:
    """Put marks along lines together until a quarter of MOST_MARKS is free."""
    rows = copied(topic.marks, marks)
    count, anew = rows.shape[0], False
    for _ in range(62):
        count = put_along_lines(rows, count, topic.mark_within_ms, anew)
        if count <= MOST_MARKS - MOST_MARKS // 4:
            break
        topic.mark_within_ms, anew = _next_within_ms(topic.mark_within_ms, rows, count), True
    if count > MOST_MARKS - MOST_MARKS // 4:  # as many ledgers as marks: the oldest publish times are forgotten
        forgotten = count - (MOST_MARKS - MOST_MARKS // 4)
        rows, count = rows[forgotten:], count - forgotten
    write_back(topic.marks, marks, rows, count)
    topic.mark_count = count


@compiled_part
def _next_within_ms(within_ms: int, rows: Records, count: int) -> int:
    """Half as much again; at first a small part of the time that a mark stands for, which no noise can do without."""
    if within_ms == 0:
        return min(max(1, (rows[count - 1].last_ms - rows[0].first_ms) // (16 * MOST_MARKS)), LONGEST_LINE)
    return within_ms + within_ms // 2 + 1


@compiled
def put_along_lines(rows: Records, count: int, within_ms: int, anew: bool) -> int:
    """Let as many neighbours as lie within `within_ms` behind one line become one mark, in place; returns how many marks are left.

    Not `anew`: two marks that both stand for several entries are known not to.
    """
    kept, start = 0, 0
    while start < count:
        end, slope = _line_from(rows, start, count, within_ms, anew)
        if end > start + 1:
            _join(rows, kept, start, end, slope, within_ms)
        elif kept != start:
            rows[kept] = rows[start]
        kept, start = kept + 1, end
    return kept


@compiled_part
def _line_from(rows: Records, start: int, count: int, within_ms: int, anew: bool) -> tuple[int, float]:
    """(end, ms per entry) of the longest run of marks from `start` that a line fits, if it begins in the middle of what `start` leaves.

    Each mark's first and last entry narrow the slopes that are possible; between them it is a line itself.
    """
    ledger, base, origin = rows[start].ledger, rows[start].entry, _origin(rows[start], within_ms)
    least, most, slope = -np.inf, np.inf, 0.0
    end = start
    while end < count:
        mark = rows[end]
        if end > start and (mark.ledger != ledger or mark.entry != rows[end - 1].entry + rows[end - 1].entries):
            break
        if end > start and not anew and mark.entries > 1 and rows[end - 1].entries > 1:
            break
        last = mark.entry + mark.entries - 1
        if abs(mark.first_ms - origin) + abs(mark.last_ms - origin) > LONGEST_LINE or last - base > LONGEST_LINE:
            break
        for entry, low_ms in ((mark.entry, mark.first_ms), (last, mark.last_ms)):
            if entry > base:
                most = min(most, (low_ms - origin) / (entry - base))
                least = max(least, (low_ms + mark.within_ms - within_ms - origin) / (entry - base))
        if least > most:
            break
        slope = (least + most) / 2 if last > base else 0.0
        end += 1
    return max(end, start + 1), slope


@compiled_part
def _origin(mark: Record, within_ms: int) -> int:
    return mark.first_ms - max(0, within_ms - mark.within_ms) // 2


@compiled_part
def _join(rows: Records, kept: int, start: int, end: int, slope: float, within_ms: int) -> None:
    """Let `rows[kept]` (`kept` ≤ `start`) be one mark for `rows[start:end]`, along a line of that slope, as near to it as they are."""
    base, origin, msgs = rows[start].entry, _origin(rows[start], within_ms), rows[start].msgs
    length = rows[end - 1].entry + rows[end - 1].entries - 1 - base
    last_ms = origin + int(np.floor(slope * length))
    behind_least, behind_most, has_inner = LONGEST_LINE, -LONGEST_LINE, False
    for row in range(start, end):
        mark = rows[row]
        first, last = mark.entry - base, mark.entry + mark.entries - 1 - base
        for position, low_ms in ((first, mark.first_ms), (last, mark.last_ms)):
            behind = low_ms - line_at(origin, last_ms, length, position)
            behind_least, behind_most = min(behind_least, behind), max(behind_most, behind + mark.within_ms)
        has_inner = has_inner or mark.entries > 2
        if row > start:
            msgs = add(msgs, mark.msgs)
    rounding = ROUNDING_MS if has_inner else 0
    shift = behind_least - (rounding - 1 if has_inner else 0)
    rows[kept].ledger, rows[kept].entry, rows[kept].entries, rows[kept].msgs = rows[start].ledger, base, length + 1, msgs
    rows[kept].first_ms, rows[kept].last_ms = origin + shift, last_ms + shift
    rows[kept].within_ms = behind_most - behind_least + rounding


@compiled_part
def forget_marks(topic: Record, marks: Blocks, first_ledger: int) -> None:
    """The topic's list of ledgers begins with `first_ledger` now: marks of older ones go."""
    block, row = last_at_or_before(topic.marks, marks, first_ledger, -1)
    if row >= 0:
        passed, last = -1, -1
        while last != row:
            passed, last = following(topic.marks, marks, passed, last)
            topic.mark_count -= 1
        block, row = following(topic.marks, marks, block, row)
        drop_before(topic.marks, marks, block, row)
    if topic.marks[USED] == 0:
        topic.mark_within_ms = 0


@compiled_part
def msgs_from(topic: Record, marks: Blocks, ledger: int, entry: int) -> int:
    """Messages of the topic from an entry on; inside a mark of several entries by their integer average. −1: not known."""
    block, row = last_at_or_before(topic.marks, marks, ledger, entry)
    if row < 0 or not stands_for(marks.rows[row], ledger, entry):
        return -1
    msgs = marks.rows[row].msgs - msgs_before(marks.rows[row], entry)
    while True:
        block, row = following(topic.marks, marks, block, row)
        if row < 0:
            return msgs
        msgs = add(msgs, marks.rows[row].msgs)


@compiled_part
def msgs_before(mark: Record, entry: int) -> int:
    """Messages of a mark's entries before one of them, by their integer average."""
    return mark.msgs * (entry - mark.entry) // mark.entries


@compiled_part
def newest_before(topic: Record, marks: Blocks, cutoff_ms: int) -> tuple[int, int]:
    """(ledger, entry) of the newest entry published before `cutoff_ms`, (−1, −1) if there is none. Publish times are taken to be in order,
    as the broker's binary search does.
    """
    begin = first_row(topic.marks)
    low, high = 0, topic.marks[USED]
    while low < high:
        middle = (low + high) // 2
        if entries_before(marks.rows[marks.directory[begin + middle].first], cutoff_ms) > 0:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return -1, -1
    start = marks.directory[begin + low - 1].first
    low, high = start, start + marks.directory[begin + low - 1].count
    while low < high:
        middle = (low + high) // 2
        if entries_before(marks.rows[middle], cutoff_ms) > 0:
            low = middle + 1
        else:
            high = middle
    mark = marks.rows[low - 1]
    return mark.ledger, mark.entry + entries_before(mark, cutoff_ms) - 1
