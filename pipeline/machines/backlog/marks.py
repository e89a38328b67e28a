"""When entries were published and how many messages they carry, in bounded memory.

Each mark stands for a run of entries of one ledger, one mark per entry as long as a topic retains few. Beyond MOST_MARKS the topic's span
doubles and neighbours whose publish times lie within it become one mark. So a publish time is exact to `mark_span_ms` of its topic, which
stays 0 up to MOST_MARKS retained entries and then is below 4 · (time retained) / MOST_MARKS for entries in order of time.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import (
    M_ENTRIES,
    M_ENTRY,
    M_LEAST_MS,
    M_LEDGER,
    M_MOST_MS,
    M_MSGS,
    M_MSGS_BEFORE,
    T_END_MSGS,
    T_MARK_SPAN_MS,
    T_MARKS,
    T_MARKS_USED,
)
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import add
from pipeline.machines.segments import drop_first, first_row, insert_row

MOST_MARKS = 8192


@compiled_part
def mark_before(topic: Array, marks: Array, ledger: int, entry: int) -> int:
    """How many marks begin at or before (`ledger`, `entry`); the last one is looked at first."""
    used, first = topic[T_MARKS_USED], first_row(topic, T_MARKS)
    low, high = 0, used
    if used > 0 and _at_or_before(marks, first + used - 1, ledger, entry):
        return used
    while low < high:
        middle = (low + high) // 2
        if _at_or_before(marks, first + middle, ledger, entry):
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def _at_or_before(marks: Array, row: int, ledger: int, entry: int) -> bool:
    return marks[row, M_LEDGER] < ledger or (marks[row, M_LEDGER] == ledger and marks[row, M_ENTRY] <= entry)


@compiled_part
def mark_of(topic: Array, marks: Array, ledger: int, entry: int) -> int:
    """Row of the mark that stands for the entry, or −1 if it was not seen published."""
    count = mark_before(topic, marks, ledger, entry)
    if count == 0:
        return -1
    row = first_row(topic, T_MARKS) + count - 1
    if marks[row, M_LEDGER] != ledger or entry >= marks[row, M_ENTRY] + marks[row, M_ENTRIES]:
        return -1
    return row


@compiled_part
def mark_entry(topic: Array, marks: Array, ends: Array, ledger: int, entry: int, msgs: int, publish_ms: int) -> None:
    """An entry was published."""
    used = topic[T_MARKS_USED]
    if used >= MOST_MARKS:
        _coarsen(topic, marks)
        used = topic[T_MARKS_USED]
    if used > 0 and topic[T_MARK_SPAN_MS] > 0 and _continues(topic, marks, ledger, entry, publish_ms):
        last = first_row(topic, T_MARKS) + used - 1
        marks[last, M_ENTRIES] += 1
        marks[last, M_LEAST_MS] = min(marks[last, M_LEAST_MS], publish_ms)
        marks[last, M_MOST_MS] = max(marks[last, M_MOST_MS], publish_ms)
        marks[last, M_MSGS] = add(marks[last, M_MSGS], msgs)
    else:
        position = mark_before(topic, marks, ledger, entry)
        row = insert_row(topic, T_MARKS, marks, ends, position)
        marks[row, M_LEDGER], marks[row, M_ENTRY], marks[row, M_ENTRIES] = ledger, entry, 1
        marks[row, M_LEAST_MS], marks[row, M_MOST_MS], marks[row, M_MSGS] = publish_ms, publish_ms, msgs
        marks[row, M_MSGS_BEFORE] = topic[T_END_MSGS]
        for later in range(row + 1, first_row(topic, T_MARKS) + topic[T_MARKS_USED]):
            marks[row, M_MSGS_BEFORE] = min(marks[row, M_MSGS_BEFORE], marks[later, M_MSGS_BEFORE])
            marks[later, M_MSGS_BEFORE] = add(marks[later, M_MSGS_BEFORE], msgs)
    topic[T_END_MSGS] = add(topic[T_END_MSGS], msgs)


@compiled_part
def _continues(topic: Array, marks: Array, ledger: int, entry: int, publish_ms: int) -> bool:
    last = first_row(topic, T_MARKS) + topic[T_MARKS_USED] - 1
    follows = marks[last, M_LEDGER] == ledger and entry == marks[last, M_ENTRY] + marks[last, M_ENTRIES]
    span = max(marks[last, M_MOST_MS], publish_ms) - min(marks[last, M_LEAST_MS], publish_ms)
    return follows and span <= topic[T_MARK_SPAN_MS]


@compiled_part
def _coarsen(topic: Array, marks: Array) -> None:
    """Double the span until a quarter of the marks is free. Marks of different ledgers never become one."""
    first = first_row(topic, T_MARKS)
    for _ in range(62):
        topic[T_MARK_SPAN_MS] = max(1, 2 * topic[T_MARK_SPAN_MS])
        kept = first
        for row in range(first + 1, first + topic[T_MARKS_USED]):
            if _merges(marks, kept, row, topic[T_MARK_SPAN_MS]):
                marks[kept, M_ENTRIES] += marks[row, M_ENTRIES]
                marks[kept, M_LEAST_MS] = min(marks[kept, M_LEAST_MS], marks[row, M_LEAST_MS])
                marks[kept, M_MOST_MS] = max(marks[kept, M_MOST_MS], marks[row, M_MOST_MS])
                marks[kept, M_MSGS] = add(marks[kept, M_MSGS], marks[row, M_MSGS])
            else:
                kept += 1
                marks[kept] = marks[row]
        topic[T_MARKS_USED] = kept - first + 1
        if topic[T_MARKS_USED] <= MOST_MARKS - MOST_MARKS // 4:
            return
    drop_first(topic, T_MARKS, MOST_MARKS // 4)  # as many ledgers as marks: the oldest publish times are forgotten


@compiled_part
def _merges(marks: Array, kept: int, row: int, span_ms: int) -> bool:
    follows = marks[kept, M_LEDGER] == marks[row, M_LEDGER] and marks[row, M_ENTRY] == marks[kept, M_ENTRY] + marks[kept, M_ENTRIES]
    span = max(marks[kept, M_MOST_MS], marks[row, M_MOST_MS]) - min(marks[kept, M_LEAST_MS], marks[row, M_LEAST_MS])
    return follows and span <= span_ms


@compiled_part
def forget_marks(topic: Array, marks: Array, first_ledger: int) -> None:
    """The topic's list of ledgers begins with `first_ledger` now: marks of older ones go."""
    drop_first(topic, T_MARKS, mark_before(topic, marks, first_ledger, -1))
    if topic[T_MARKS_USED] == 0:
        topic[T_MARK_SPAN_MS] = 0


@compiled_part
def msgs_up_to(topic: Array, marks: Array, ledger: int, entry: int) -> int:
    """Messages of the topic up to and including an entry; inside a mark of several entries by their integer average. −1: not known."""
    row = mark_of(topic, marks, ledger, entry)
    if row < 0:
        return -1
    return marks[row, M_MSGS_BEFORE] + _part(marks, row, entry - marks[row, M_ENTRY] + 1)


@compiled_part
def msgs_of(topic: Array, marks: Array, ledger: int, entry: int) -> int:
    """Messages of one entry, on the average of its mark; −1: not known."""
    row = mark_of(topic, marks, ledger, entry)
    if row < 0:
        return -1
    position = entry - marks[row, M_ENTRY]
    return _part(marks, row, position + 1) - _part(marks, row, position)


@compiled_part
def _part(marks: Array, row: int, entries: int) -> int:
    return marks[row, M_MSGS] * entries // marks[row, M_ENTRIES]
