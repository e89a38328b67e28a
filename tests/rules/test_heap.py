"""The heap of slowest cursors against the minimum of a dict, and its ties against Pulsar's (B21): who stands first stays until outrun."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.array import Array
from pipeline.rules.broker import heap as invariants
from pipeline.rules.broker.layout import HEAP_ROW, NEW_TOPIC, NO_CURSOR, NONE
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, Records, empty_rows
from pipeline.rules.segments import BEGIN, CAPACITY, DROPPED, USED

PUSH, MOVED, REMOVE = range(3)
CURSORS = 12
Position = tuple[int, int]


@compiled
def change(topic: Record, heap: Records, ends: Array, cursors: Records, what: int, c: int) -> int:
    """The slowest cursor after the change."""
    if what == PUSH:
        invariants.push(topic, heap, ends, cursors, c)
    elif what == MOVED:
        invariants.moved(topic, heap, cursors, c)
    else:
        invariants.remove(topic, heap, cursors, c)
    return invariants.slowest(topic, heap)


class Heap:
    """A topic's heap, and its cursors' persisted positions in a dict."""

    def __init__(self) -> None:
        self.topic, self.heap = NEW_TOPIC.copy()[0], empty_rows(HEAP_ROW, 128)
        self.cursors, self.ends = empty_rows(NO_CURSOR.dtype, CURSORS), np.zeros(3, dtype=np.int64)
        self.cursors[:] = NO_CURSOR[0]
        self.positions: dict[int, Position] = {}

    def change(self, what: int, c: int, position: Position = (0, 0)) -> int:
        if what == REMOVE:
            del self.positions[c]
        else:
            self.positions[c] = position
            self.cursors["persisted_ledger"][c], self.cursors["persisted_entry"][c] = position
        return change(self.topic, self.heap, self.ends, self.cursors, what, c)

    def order(self) -> list[int]:
        """Cursors by their place in the heap."""
        first = self.topic.heap[BEGIN] + self.topic.heap[DROPPED]
        return self.heap["cursor"][first : first + self.topic.heap[USED]].tolist()


steps = st.tuples(st.integers(0, CURSORS - 1), st.booleans(), st.tuples(st.integers(1, 2), st.integers(-1, 3)))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(steps, max_size=80))
def test_the_slowest_is_the_minimum_and_stays_until_another_is_strictly_slower(todo: list[tuple[int, bool, Position]]) -> None:
    heap, root = Heap(), NONE
    for c, leaves, position in todo:
        before = heap.positions.get(c)
        what = PUSH if before is None else REMOVE if leaves else MOVED
        previous, root = root, heap.change(what, c, position)
        order = heap.order()
        assert sorted(order) == sorted(heap.positions)
        assert [heap.cursors["heap_position"][c] for c in order] == list(range(len(order)))
        if not order:
            assert root == NONE
            continue
        assert heap.positions[root] == min(heap.positions.values())
        incumbent = previous if previous in heap.positions else root
        assert (root == incumbent) or heap.positions[root] < heap.positions[incumbent]
        assert heap.cursors["heap_position"][c] == NONE or what != REMOVE


def test_b21_ties_fall_as_in_pulsar() -> None:
    """Three at one position: of two equal children the right one rises, and a move that ends level changes nothing."""
    a, b, c, heap = 0, 1, 2, Heap()
    assert [heap.change(PUSH, each, (1, 0)) for each in (a, b, c)] == [a, a, a]
    assert heap.change(MOVED, a, (1, 1)) == c
    assert heap.change(MOVED, c, (1, 1)) == b
    assert heap.change(MOVED, b, (1, 1)) == b


def test_a_cursor_that_goes_back_rises() -> None:
    heap = Heap()
    for c in range(7):
        heap.change(PUSH, c, (1, c))
    assert heap.change(MOVED, 6, (0, 99)) == 6
    assert heap.change(MOVED, 6, (1, 99)) == 0
    assert heap.change(REMOVE, 0) == 1


def test_topics_share_the_arena_and_nothing_else() -> None:
    heap, other = Heap(), NEW_TOPIC.copy()[0]
    heap.change(PUSH, 0, (9, 0))
    assert change(other, heap.heap, heap.ends, heap.cursors, PUSH, 1) == 1
    assert heap.change(PUSH, 2, (3, 0)) == 2
    assert (other.heap[USED], heap.topic.heap[USED]) == (1, 2)
    assert other.heap[BEGIN] >= heap.topic.heap[BEGIN] + heap.topic.heap[CAPACITY]
