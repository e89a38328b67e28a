"""When entries were published and how many messages they carry, in bounded memory.

Each mark stands for a run of entries of one ledger, one mark per entry as long as a topic retains few. Beyond MOST_MARKS the topic's span
doubles and neighbours whose publish times lie within it become one mark. So a publish time is exact to `mark_span_ms` of its topic, which
stays 0 up to MOST_MARKS retained entries and then is below 4 · (time retained) / MOST_MARKS for entries in order of time.
"""

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import add
from pipeline.machines.records import Record, Records
from pipeline.machines.segments import USED, drop_first, first_row, insert_row

MOST_MARKS = 8192


@compiled_part
def mark_before(topic: Record, marks: Records, ledger: int, entry: int) -> int:
    """How many marks begin at or before (`ledger`, `entry`); the last one is looked at first."""
    used, first = topic.marks[USED], first_row(topic.marks)
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
def _at_or_before(marks: Records, row: int, ledger: int, entry: int) -> bool:
    return marks[row].ledger < ledger or (marks[row].ledger == ledger and marks[row].entry <= entry)


@compiled_part
def mark_of(topic: Record, marks: Records, ledger: int, entry: int) -> int:
    """Row of the mark that stands for the entry, or −1 if it was not seen published."""
    count = mark_before(topic, marks, ledger, entry)
    if count == 0:
        return -1
    row = first_row(topic.marks) + count - 1
    if marks[row].ledger != ledger or entry >= marks[row].entry + marks[row].entries:
        return -1
    return row


@compiled_part
def mark_entry(topic: Record, marks: Records, ends: Array, ledger: int, entry: int, msgs: int, publish_ms: int) -> None:
    """An entry was published."""
    used = topic.marks[USED]
    if used >= MOST_MARKS:
        _coarsen(topic, marks)
        used = topic.marks[USED]
    if used > 0 and topic.mark_span_ms > 0 and _continues(topic, marks, ledger, entry, publish_ms):
        last = first_row(topic.marks) + used - 1
        marks[last].entries += 1
        marks[last].least_ms = min(marks[last].least_ms, publish_ms)
        marks[last].most_ms = max(marks[last].most_ms, publish_ms)
        marks[last].msgs = add(marks[last].msgs, msgs)
    else:
        position = mark_before(topic, marks, ledger, entry)
        row = insert_row(topic.marks, marks, ends, position)
        marks[row].ledger, marks[row].entry, marks[row].entries = ledger, entry, 1
        marks[row].least_ms, marks[row].most_ms, marks[row].msgs = publish_ms, publish_ms, msgs
        marks[row].msgs_before = topic.end_msgs
        for later in range(row + 1, first_row(topic.marks) + topic.marks[USED]):
            marks[row].msgs_before = min(marks[row].msgs_before, marks[later].msgs_before)
            marks[later].msgs_before = add(marks[later].msgs_before, msgs)
    topic.end_msgs = add(topic.end_msgs, msgs)


@compiled_part
def _continues(topic: Record, marks: Records, ledger: int, entry: int, publish_ms: int) -> bool:
    last = first_row(topic.marks) + topic.marks[USED] - 1
    follows = marks[last].ledger == ledger and entry == marks[last].entry + marks[last].entries
    span = max(marks[last].most_ms, publish_ms) - min(marks[last].least_ms, publish_ms)
    return follows and span <= topic.mark_span_ms


@compiled_part
def _coarsen(topic: Record, marks: Records) -> None:
    """Double the span until a quarter of the marks is free. Marks of different ledgers never become one."""
    first = first_row(topic.marks)
    for _ in range(62):
        topic.mark_span_ms = max(1, 2 * topic.mark_span_ms)
        kept = first
        for row in range(first + 1, first + topic.marks[USED]):
            if _merges(marks, kept, row, topic.mark_span_ms):
                marks[kept].entries += marks[row].entries
                marks[kept].least_ms = min(marks[kept].least_ms, marks[row].least_ms)
                marks[kept].most_ms = max(marks[kept].most_ms, marks[row].most_ms)
                marks[kept].msgs = add(marks[kept].msgs, marks[row].msgs)
            else:
                kept += 1
                marks[kept] = marks[row]
        topic.marks[USED] = kept - first + 1
        if topic.marks[USED] <= MOST_MARKS - MOST_MARKS // 4:
            return
    drop_first(topic.marks, MOST_MARKS // 4)  # as many ledgers as marks: the oldest publish times are forgotten


@compiled_part
def _merges(marks: Records, kept: int, row: int, span_ms: int) -> bool:
    follows = marks[kept].ledger == marks[row].ledger and marks[row].entry == marks[kept].entry + marks[kept].entries
    span = max(marks[kept].most_ms, marks[row].most_ms) - min(marks[kept].least_ms, marks[row].least_ms)
    return follows and span <= span_ms


@compiled_part
def forget_marks(topic: Record, marks: Records, first_ledger: int) -> None:
    """The topic's list of ledgers begins with `first_ledger` now: marks of older ones go."""
    drop_first(topic.marks, mark_before(topic, marks, first_ledger, -1))
    if topic.marks[USED] == 0:
        topic.mark_span_ms = 0


@compiled_part
def msgs_up_to(topic: Record, marks: Records, ledger: int, entry: int) -> int:
    """Messages of the topic up to and including an entry; inside a mark of several entries by their integer average. −1: not known."""
    row = mark_of(topic, marks, ledger, entry)
    if row < 0:
        return -1
    return marks[row].msgs_before + _part(marks, row, entry - marks[row].entry + 1)


@compiled_part
def msgs_of(topic: Record, marks: Records, ledger: int, entry: int) -> int:
    """Messages of one entry, on the average of its mark; −1: not known."""
    row = mark_of(topic, marks, ledger, entry)
    if row < 0:
        return -1
    position = entry - marks[row].entry
    return _part(marks, row, position + 1) - _part(marks, row, position)


@compiled_part
def _part(marks: Records, row: int, entries: int) -> int:
    return marks[row].msgs * entries // marks[row].entries
