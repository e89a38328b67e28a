"""Lists in one arena against lists of Python: the same rows in the same order, and no row of a neighbour is ever touched."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules import segments as invariants
from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Records, empty_rows, record
from pipeline.rules.segments import BEGIN, CAPACITY, DROPPED, MOVES, SEGMENT, USED, has_spare, packed, places_of, unpack, with_spare

ROW = record("value")
LISTS = 3
INSERT, DROP, REMOVE, CLEAR, RESTART = range(5)


@compiled
def insert(segments: Array, which: int, arena: Records, ends: Array, position: int, value: int) -> None:
    arena[invariants.insert_row(segments[which], arena, ends, position)].value = value


@compiled
def take(segments: Array, which: int, arena: Records, what: int, number: int) -> None:
    if what == DROP:
        invariants.drop_first(segments[which], number)
    elif what == REMOVE:
        invariants.remove_row(segments[which], arena, number)
    else:
        invariants.clear(segments[which])


@compiled
def insert_many(segments: Array, arena: Records, ends: Array, at_front: int, start: int, count: int) -> int:
    """Numbers from `start` on to the lists in turn, until there is no room; returns the first number that is not in."""
    number = start
    while number < count and has_spare(len(arena), ends):
        segment = segments[number % segments.shape[0]]
        arena[invariants.insert_row(segment, arena, ends, 0 if at_front else segment[USED])].value = number
        number += 1
    return number


def empty(lists: int = LISTS) -> tuple[Array, Records, Array]:
    segments = np.zeros((lists, *SEGMENT), dtype=np.int64)
    return segments, *with_spare(segments, empty_rows(ROW, 0))


def held(segments: Array, arena: Records) -> list[list[int]]:
    """What lies in each segment, read without the code under test."""
    return [arena["value"][begin + dropped : begin + dropped + used].tolist() for begin, dropped, used, _ in segments.tolist()]


def assert_segments_lie_apart(segments: Array, ends: Array) -> None:
    """Each within its capacity, all within what was handed out, none over another."""
    places = sorted((begin, begin + capacity) for begin, _, _, capacity in segments.tolist() if capacity)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(places))
    assert all(end <= ends[invariants.HANDED_OUT] for _, end in places)
    assert (segments >= 0).all()
    assert (segments[:, DROPPED] + segments[:, USED] <= segments[:, CAPACITY]).all()


steps = st.tuples(st.sampled_from([INSERT] * 8 + [DROP, REMOVE, REMOVE, CLEAR, RESTART]), st.integers(0, LISTS - 1), st.integers(0, 10**6))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(steps, max_size=150), st.sampled_from(["anywhere", "front", "end"]))
def test_a_list_is_what_was_inserted_and_not_taken_away(todo: list[tuple[int, int, int]], where: str) -> None:
    segments, arena, ends = empty()
    expected: list[list[int]] = [[] for _ in range(LISTS)]
    for value, (what, which, number) in enumerate(todo):
        used = len(expected[which])
        if what == INSERT:
            position = {"anywhere": number % (used + 1), "front": 0, "end": used}[where]
            if not has_spare(len(arena), ends):
                arena, ends = with_spare(segments, arena, int(ends[MOVES]))
            insert(segments, which, arena, ends, position, value)
            expected[which].insert(position, value)
        elif what == RESTART:
            kept = packed(segments, arena)
            assert kept["value"].tolist() == [value for each in expected for value in each]
            segments[:, [BEGIN, DROPPED, CAPACITY]] = 77  # only USED is known after a restart
            unpack(segments)
            arena, ends = with_spare(segments, kept)
        elif used > 0 or what == CLEAR:
            number %= max(used, 1)
            take(segments, which, arena, what, number)
            expected[which] = {DROP: expected[which][number:], CLEAR: []}.get(
                what, expected[which][:number] + expected[which][number + 1 :]
            )
        assert_segments_lie_apart(segments, ends)
        assert held(segments, arena) == expected


@pytest.mark.parametrize("used", [0, 1, 2])
def test_a_row_in_front_of_a_segment_of_two_leaves_its_neighbour_alone(used: int) -> None:
    """Such a segment has no room in front even when it is half empty: it must move."""
    for capacity in (2, 3):
        segments = np.array([[0, 0, 2, 2], [2, 0, used, capacity], [2 + capacity, 0, 2, 2]], dtype=np.int64)
        arena = empty_rows(ROW, 64)
        arena["value"][: 4 + capacity] = np.arange(4 + capacity)
        ends, before = np.array([4 + capacity, capacity, 0], dtype=np.int64), held(segments, arena)
        insert(segments, 1, arena, ends, 0, 99)
        assert held(segments, arena) == [before[0], [99, *before[1]], before[2]]
        assert_segments_lie_apart(segments, ends)


@pytest.mark.parametrize("at_front", [False, True], ids=["end", "front"])
@pytest.mark.parametrize("lists", [1, 50])
def test_a_row_at_either_end_moves_a_constant_number_of_rows(lists: int, at_front: bool) -> None:
    """Amortized: a list of ten times as many rows moves no more for each."""
    for count in (1_000, 10_000):
        segments, arena, ends = empty(lists)
        done = 0
        while done < count:
            done = insert_many(segments, arena, ends, int(at_front), done, count)
            if done < count:
                arena, ends = with_spare(segments, arena, int(ends[MOVES]))
        assert segments[:, USED].sum() == count
        assert ends[MOVES] < 6 * count


def test_places_of_runs_are_their_rows_one_run_after_the_other() -> None:
    starts, lengths = np.array([10, 3, 40, 7]), np.array([2, 0, 3, 1])
    assert places_of(starts, lengths).tolist() == [10, 11, 40, 41, 42, 7]


def test_spare_room_is_behind_and_in_front_only_where_there_was_some_before() -> None:
    segments = np.array([[0, 0, 4, 4], [4, 2, 4, 6]], dtype=np.int64)
    arena = empty_rows(ROW, 10)
    arena["value"] = np.arange(10)
    larger, ends = with_spare(segments, arena, 5)
    assert segments[:, DROPPED].tolist() == [0, 2]
    assert segments[:, CAPACITY].tolist() == [6, 8]
    assert held(segments, larger) == [[0, 1, 2, 3], [6, 7, 8, 9]]
    assert ends.tolist() == [14, 8, 5 + 8]
    assert has_spare(len(larger), ends)
