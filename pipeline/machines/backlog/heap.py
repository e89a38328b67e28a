"""The broker's heap of a topic's durable cursors, slowest first, by persisted mark-delete position.

It moves exactly as Pulsar's ManagedCursorContainer does, so that ties fall the same way (§2.4): up or down only on strict inequality, and
when both children are smaller and equal the right one wins.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import C_HEAP_POSITION, C_PERSISTED_ENTRY, C_PERSISTED_LEDGER, NONE, T_HEAP, T_HEAP_USED
from pipeline.machines.compiled import compiled_part
from pipeline.machines.segments import first_row, insert_row


@compiled_part
def slowest(topic: Array, heap: Array) -> int:
    """Row of the slowest durable cursor, or −1 if there is none."""
    return heap[first_row(topic, T_HEAP), 0] if topic[T_HEAP_USED] > 0 else NONE


@compiled_part
def push(topic: Array, heap: Array, ends: Array, cursors: Array, c: int) -> None:
    """A durable cursor was added."""
    position = topic[T_HEAP_USED]
    row = insert_row(topic, T_HEAP, heap, ends, position)
    heap[row, 0] = c
    cursors[c, C_HEAP_POSITION] = position
    _sift_up(heap, first_row(topic, T_HEAP), cursors, position)


@compiled_part
def moved(topic: Array, heap: Array, cursors: Array, c: int) -> None:
    """A cursor's persisted position has changed: forwards sinks, backwards rises."""
    if topic[T_HEAP_USED] == 1:
        return
    first, position = first_row(topic, T_HEAP), cursors[c, C_HEAP_POSITION]
    if position == 0 or not _less(cursors, c, heap[first + (position - 1) // 2, 0]):
        _sift_down(heap, first, topic[T_HEAP_USED], cursors, position)
    else:
        _sift_up(heap, first, cursors, position)


@compiled_part
def remove(topic: Array, heap: Array, cursors: Array, c: int) -> None:
    """A cursor is gone: the last one takes its place and sinks."""
    first, position = first_row(topic, T_HEAP), cursors[c, C_HEAP_POSITION]
    last = topic[T_HEAP_USED] - 1
    topic[T_HEAP_USED] = last
    cursors[c, C_HEAP_POSITION] = NONE
    if position != last:
        _put(heap, first, cursors, position, heap[first + last, 0])
        _sift_down(heap, first, last, cursors, position)


@compiled_part
def _less(cursors: Array, a: int, b: int) -> bool:
    """Whether cursor `a` stands before cursor `b`."""
    if cursors[a, C_PERSISTED_LEDGER] != cursors[b, C_PERSISTED_LEDGER]:
        return cursors[a, C_PERSISTED_LEDGER] < cursors[b, C_PERSISTED_LEDGER]
    return cursors[a, C_PERSISTED_ENTRY] < cursors[b, C_PERSISTED_ENTRY]


@compiled_part
def _put(heap: Array, first: int, cursors: Array, position: int, c: int) -> None:
    heap[first + position, 0] = c
    cursors[c, C_HEAP_POSITION] = position


@compiled_part
def _sift_up(heap: Array, first: int, cursors: Array, position: int) -> None:
    c = heap[first + position, 0]
    while position > 0:
        parent = (position - 1) // 2
        above = heap[first + parent, 0]
        if not _less(cursors, c, above):
            break
        _put(heap, first, cursors, position, above)
        position = parent
    _put(heap, first, cursors, position, c)


@compiled_part
def _sift_down(heap: Array, first: int, used: int, cursors: Array, position: int) -> None:
    c = heap[first + position, 0]
    while True:
        left, right = 2 * position + 1, 2 * position + 2
        child = NONE
        if right < used and _less(cursors, heap[first + right, 0], c):
            child = left if _less(cursors, heap[first + left, 0], heap[first + right, 0]) else right
        elif left < used and _less(cursors, heap[first + left, 0], c):
            child = left
        if child == NONE:
            break
        _put(heap, first, cursors, position, heap[first + child, 0])
        position = child
    _put(heap, first, cursors, position, c)
