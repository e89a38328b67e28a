"""A cursor's individually deleted entries against a set of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules import blocks
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker import deleted as invariants
from pipeline.rules.broker.layout import BITS, CURSOR_ROW, WORD_ROW
from pipeline.rules.compiled import compiled, compiled_allocating
from pipeline.rules.records import Record, Records, empty_rows
from pipeline.rules.segments import USED

DELETE, PASS, RUN, COUNT, IS, FORGET = range(6)
Entry = tuple[int, int]


@compiled
def act(cursor: Record, words: Blocks, what: int, ledger: int, entry: int) -> int:
    if what == DELETE:
        return int(invariants.delete_entry(cursor, words, ledger, entry))
    if what == PASS:
        return invariants.pass_deleted(cursor, words, ledger, entry)
    if what == COUNT:
        return invariants.count_deleted(cursor, words, ledger, entry)
    if what == IS:
        return int(invariants.is_deleted(cursor, words, ledger, entry))
    invariants.forget_deleted(cursor, words)
    return 0


@compiled
def run_from(cursor: Record, words: Blocks, ledger: int, entry: int, entries: int) -> int:
    return invariants.deleted_run(cursor, words, ledger, entry, entries)


@compiled_allocating
def bits_of(numbers: np.ndarray) -> np.ndarray:
    counts = np.empty_like(numbers)
    for k in range(numbers.size):
        counts[k] = invariants.count_bits(numbers[k])
    return counts


def empty() -> tuple[Records, Blocks]:
    cursors = empty_rows(CURSOR_ROW, 1)
    return cursors, blocks.laid_out(cursors["words"], empty_rows(WORD_ROW, 0))


def run_in(expected: set[Entry], ledger: int, entry: int, entries: int) -> int:
    while entry + 1 < entries and (ledger, entry + 1) in expected:
        entry += 1
    return entry


def assert_is(cursors: Records, words: Blocks, expected: set[Entry], entry_of_interest: int) -> None:
    assert cursors["deleted"][0] == len(expected)
    for ledger in range(4):
        for entry in {-1, 0, BITS - 1, BITS, entry_of_interest, entry_of_interest + 1, 399}:
            assert act(cursors[0], words, COUNT, ledger, entry) == sum(each <= (ledger, entry) for each in expected)
            assert entry < 0 or act(cursors[0], words, IS, ledger, entry) == ((ledger, entry) in expected)
            for entries in (0, entry, entry_of_interest, 10**6):
                assert run_from(cursors[0], words, ledger, entry, entries) == run_in(expected, ledger, entry, entries)


#: Single entries and runs, which fill whole words and go on in the next.
places = st.tuples(st.integers(1, 2), st.sampled_from([0, BITS - 1, BITS, 2 * BITS]) | st.integers(0, 400))
steps = st.tuples(st.sampled_from([DELETE] * 10 + [PASS] * 4 + [FORGET]), places, st.sampled_from([1, 1, 2, BITS, 2 * BITS]))


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(steps, max_size=40))
def test_a_set_of_deleted_entries(todo: list[tuple[int, Entry, int]]) -> None:
    cursors, words = empty()
    expected: set[Entry] = set()
    for what, (ledger, entry), length in todo:
        if what == DELETE:
            for each in range(entry, entry + length):
                words = blocks.with_room(cursors["words"], words)
                assert act(cursors[0], words, DELETE, ledger, each) == ((ledger, each) not in expected)
                expected.add((ledger, each))
        elif what == PASS:
            passed = {each for each in expected if each <= (ledger, entry)}
            assert act(cursors[0], words, PASS, ledger, entry) == len(passed)
            expected -= passed
        else:
            act(cursors[0], words, FORGET, 0, 0)
            expected.clear()
        if what != DELETE:
            assert_is(cursors, words, expected, entry)
    assert_is(cursors, words, expected, 200)


def test_ascending_acknowledgements_are_a_word_for_each_62_entries() -> None:
    cursors, words = empty()
    for entry in range(0, 5_000, 2):
        words = blocks.with_room(cursors["words"], words)
        act(cursors[0], words, DELETE, 1, entry)
    segments = cursors["words"].copy()
    rows = blocks.gathered(segments, words)
    assert len(rows) == segments[0, USED] == -(-5_000 // BITS)
    assert rows["entry"].tolist() == list(range(0, 5_000, BITS))


def test_bits_are_counted() -> None:
    numbers = [0, 1, (1 << BITS) - 1, 1 << (BITS - 1), *(7**k for k in range(22)), *((1 << k) - 1 for k in range(BITS))]
    assert bits_of(np.array(numbers, dtype=np.int64)).tolist() == [number.bit_count() for number in numbers]
