"""Sorted lists in blocks against a plain sorted list: the same rows in the same order, whatever came in which order, with restarts."""

from bisect import bisect_right

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules import blocks
from pipeline.rules.array import Array
from pipeline.rules.blocks import BLOCK, MOVES, Blocks
from pipeline.rules.compiled import compiled, compiled_allocating
from pipeline.rules.records import empty_rows, record
from pipeline.rules.segments import BEGIN, CAPACITY, DROPPED, SEGMENT, USED

LISTS = 2
ROW = record("ledger", "entry", "value")
PUT, DROP, CLEAR = range(3)
Key = tuple[int, int]


@compiled
def put(segments: Array, which: int, lists: Blocks, ledger: int, entry: int) -> None:
    block, row = blocks.last_at_or_before(segments[which], lists, ledger, entry)
    row = blocks.put_behind(segments[which], lists, block, row)
    lists.rows[row].ledger, lists.rows[row].entry, lists.rows[row].value = ledger, entry, 7 * ledger + entry


@compiled
def drop(segments: Array, which: int, lists: Blocks, ledger: int, entry: int) -> None:
    """All rows up to the key."""
    block, row = blocks.last_at_or_before(segments[which], lists, ledger, entry)
    if row >= 0:
        block, row = blocks.following(segments[which], lists, block, row)
        blocks.drop_before(segments[which], lists, block, row)


@compiled_allocating
def walked(segments: Array, which: int, lists: Blocks, most: int) -> Array:
    keys, count = np.empty((most, 2), dtype=np.int64), 0
    block, row = blocks.following(segments[which], lists, -1, -1)
    while row >= 0:
        keys[count, 0], keys[count, 1] = lists.rows[row].ledger, lists.rows[row].entry
        count += 1
        block, row = blocks.following(segments[which], lists, block, row)
    return keys[:count]


@compiled
def put_all(segments: Array, lists: Blocks, keys: Array, start: int) -> int:
    """Keys into the first list until there is no room; returns how many are in."""
    for number in range(start, keys.shape[0]):
        if not blocks.fits_one_more(lists):
            return number
        put(segments, 0, lists, keys[number, 0], keys[number, 1])
    return keys.shape[0]


def empty() -> tuple[Array, Blocks]:
    segments = np.zeros((LISTS, *SEGMENT), dtype=np.int64)
    return segments, blocks.laid_out(segments, empty_rows(ROW, 0))


def restarted(segments: Array, lists: Blocks) -> tuple[Array, Blocks]:
    kept = segments.copy()
    rows = blocks.gathered(kept, lists)
    assert not kept[:, [BEGIN, DROPPED, CAPACITY]].any()
    return kept, blocks.laid_out(kept, rows)


def assert_blocks_lie_apart(segments: Array, lists: Blocks) -> None:
    """Every block lies in BLOCK rows of its own, and is not empty."""
    bases = []
    for segment in segments:
        begin = segment[BEGIN] + segment[DROPPED]
        for d in range(begin, begin + segment[USED]):
            first, count = lists.directory[d].first, lists.directory[d].count
            assert 0 < count <= BLOCK - first % BLOCK
            bases.append(int(first) // BLOCK)
    assert len(set(bases)) == len(bases)


operations = st.tuples(st.sampled_from([PUT] * 20 + [DROP, CLEAR]), st.integers(0, LISTS - 1), st.integers(0, 3), st.integers(0, 400))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(operations, min_size=100, max_size=600), st.sampled_from([0, 1, -1]), st.integers(0, 600))
def test_a_list_is_what_was_put_and_not_dropped(todo: list[tuple[int, int, int, int]], order: int, restart_at: int) -> None:
    if order:
        todo = sorted(todo, key=lambda one: one[2:], reverse=order < 0)
    segments, lists = empty()
    expected: list[list[Key]] = [[] for _ in range(LISTS)]
    for number, (what, which, first, second) in enumerate(todo):
        lists = blocks.with_room(segments, lists)
        if what == PUT:
            put(segments, which, lists, first, second)
            expected[which].insert(bisect_right(expected[which], (first, second)), (first, second))
        elif what == DROP:
            drop(segments, which, lists, first, second)
            del expected[which][: bisect_right(expected[which], (first, second))]
        else:
            blocks.clear(segments[which], lists)
            expected[which].clear()
        if number == restart_at:
            segments, lists = restarted(segments, lists)
        assert_blocks_lie_apart(segments, lists)
    for which in range(LISTS):
        assert [tuple(key) for key in walked(segments, which, lists, 1_000).tolist()] == expected[which]
    rows = blocks.gathered(segments.copy(), lists)
    assert (rows["value"] == 7 * rows["ledger"] + rows["entry"]).all()


def moves_per_row(keys: np.ndarray) -> float:
    """Rows of list, directory and pool moved for each key put."""
    segments, lists = empty()
    before, done = int(lists.ends[MOVES] + lists.directory_ends[MOVES]), 0
    while done < len(keys):
        done = put_all(segments, lists, keys, done)
        if done < len(keys):
            lists = blocks.with_room(segments, lists)
    return (int(lists.ends[MOVES] + lists.directory_ends[MOVES]) - before) / len(keys)


def test_no_order_of_keys_moves_more_than_a_block() -> None:
    """Ascending, descending, two runs in turn, and at random: a hundred times as many keys cost no more each, but for the directory, of
    which a key at random moves a thousandth of a half.
    """
    for count in (1_000, 10_000, 100_000):
        up = np.stack((np.zeros(count, dtype=np.int64), np.arange(count)), axis=1)
        in_turn = np.stack((np.arange(count) % 2, np.arange(count)), axis=1)
        random = up[np.random.default_rng(1).permutation(count)]
        directory = count / BLOCK / BLOCK
        for name, keys, most in (
            ("up", up, 3),
            ("down", up[::-1], 3),
            ("in turn", in_turn, 4 + directory),
            ("random", random, BLOCK + directory),
        ):
            assert moves_per_row(np.ascontiguousarray(keys)) < most, (name, count)
