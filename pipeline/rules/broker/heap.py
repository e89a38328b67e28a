"""The broker's heap of a topic's durable cursors, slowest first, by persisted mark-delete position.

It moves exactly as Pulsar's ManagedCursorContainer does, so that ties fall the same way (§2.4): up or down only on strict inequality, and
when both children are smaller and equal the right one wins.
"""

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records
from pipeline.rules.segments import USED, first_row, insert_row


@compiled_part
def slowest(topic: Record, heap: Records) -> int:
    """Row of the slowest durable cursor, or −1 if there is none."""
    return heap[first_row(topic.heap)].cursor if topic.heap[USED] > 0 else NONE


@compiled_part
def push(topic: Record, heap: Records, ends: Array, cursors: Records, c: int) -> None:
    """A durable cursor was added."""
    position = topic.heap[USED]
    row = insert_row(topic.heap, heap, ends, position)
    heap[row].cursor = c
    cursors[c].heap_position = position
    _sift_up(heap, first_row(topic.heap), cursors, position)


@compiled_part
def moved(topic: Record, heap: Records, cursors: Records, c: int) -> None:
    """A cursor's persisted position has changed: forwards sinks, backwards rises."""
    if topic.heap[USED] == 1:
        return
    first, position = first_row(topic.heap), cursors[c].heap_position
    if position == 0 or not _less(cursors, c, heap[first + (position - 1) // 2].cursor):
        _sift_down(heap, first, topic.heap[USED], cursors, position)
    else:
        _sift_up(heap, first, cursors, position)


@compiled_part
def remove(topic: Record, heap: Records, cursors: Records, c: int) -> None:
    """A cursor is gone: the last one takes its place and sinks."""
    first, position = first_row(topic.heap), cursors[c].heap_position
    last = topic.heap[USED] - 1
    topic.heap[USED] = last
    cursors[c].heap_position = NONE
    if position != last:
        _put(heap, first, cursors, position, heap[first + last].cursor)
        _sift_down(heap, first, last, cursors, position)


@compiled_part
def _less(cursors: Records, a: int, b: int) -> bool:
    """Whether cursor `a` stands before cursor `b`."""
    if cursors[a].persisted_ledger != cursors[b].persisted_ledger:
        return cursors[a].persisted_ledger < cursors[b].persisted_ledger
    return cursors[a].persisted_entry < cursors[b].persisted_entry


@compiled_part
def _put(heap: Records, first: int, cursors: Records, position: int, c: int) -> None:
    heap[first + position].cursor = c
    cursors[c].heap_position = position


@compiled_part
def _sift_up(heap: Records, first: int, cursors: Records, position: int) -> None:
    c = heap[first + position].cursor
    while position > 0:
        parent = (position - 1) // 2
        above = heap[first + parent].cursor
        if not _less(cursors, c, above):
            break
        _put(heap, first, cursors, position, above)
        position = parent
    _put(heap, first, cursors, position, c)


@compiled_part
def _sift_down(heap: Records, first: int, used: int, cursors: Records, position: int) -> None:
    c = heap[first + position].cursor
    while True:
        left, right = 2 * position + 1, 2 * position + 2
        child = NONE
        if right < used and _less(cursors, heap[first + right].cursor, c):
            child = left if _less(cursors, heap[first + left].cursor, heap[first + right].cursor) else right
        elif left < used and _less(cursors, heap[first + left].cursor, c):
            child = left
        if child == NONE:
            break
        _put(heap, first, cursors, position, heap[first + child].cursor)
        position = child
    _put(heap, first, cursors, position, c)
