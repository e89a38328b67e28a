"""Publish times of a long backlog: whatever the rate does, each entry was published when its mark says, to what its mark says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_backlog_state import START_MS, event_rows, places

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import M_ENTRIES, M_ENTRY, M_FIRST_MS, M_LAST_MS, M_LEDGER, M_MSGS, M_WITHIN_MS, T_MARK_COUNT
from pipeline.machines.backlog.machine import BacklogMachine
from pipeline.machines.backlog.marks import MOST_MARKS, put_along_lines

HALF_A_DAY_MS = 43_200_000
PER_LEDGER = 50_000


def earliest_ms(mark: Array) -> Array:
    """The earliest time of each entry of a mark, written again."""
    entries = np.arange(mark[M_ENTRIES])
    length = max(1, int(mark[M_ENTRIES]) - 1)
    return mark[M_FIRST_MS] + (mark[M_LAST_MS] - mark[M_FIRST_MS]) * entries // length


def assert_tells_the_truth(marks: Array, times_ms: Array) -> None:
    """Marks stand for every entry once, in order, and each was published within what its mark leaves open."""
    assert marks[:, M_ENTRIES].sum() == len(times_ms)
    assert marks[:, M_MSGS].sum() == 3 * len(times_ms)
    number = 0
    for mark in marks:
        assert (mark[M_LEDGER] - 1) * PER_LEDGER + mark[M_ENTRY] == number
        behind = times_ms[number : number + mark[M_ENTRIES]] - earliest_ms(mark)
        assert behind.min() >= 0
        assert behind.max() <= mark[M_WITHIN_MS]
        number += int(mark[M_ENTRIES])


def marks_of_single(times_ms: Array) -> Array:
    """A mark for each entry of one ledger."""
    marks = np.zeros((len(times_ms), 7), dtype=np.int64)
    marks[:, M_LEDGER], marks[:, M_ENTRY], marks[:, M_ENTRIES], marks[:, M_MSGS] = 1, np.arange(len(times_ms)), 1, 3
    marks[:, M_FIRST_MS] = marks[:, M_LAST_MS] = times_ms
    return marks


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-5_000, 20_000), min_size=1, max_size=300), st.lists(st.integers(0, 5_000), min_size=1, max_size=8))
def test_any_marks_put_together_again_and_again_tell_the_truth(steps_ms: list[int], within: list[int]) -> None:
    """Times may go back; what marks leave open grows, or not."""
    times_ms = START_MS + np.cumsum(np.array(steps_ms, dtype=np.int64))
    marks, left = marks_of_single(times_ms), len(times_ms)
    for number, within_ms in enumerate(sorted(within)):
        before = left
        left = put_along_lines(marks, left, within_ms, number > 0)
        assert left <= before
        assert_tells_the_truth(marks[:left], times_ms)


def test_an_even_rate_is_one_mark() -> None:
    marks = marks_of_single(START_MS + 7 * np.arange(5_000))
    assert put_along_lines(marks, len(marks), 0, False) == 1
    assert marks[0, M_WITHIN_MS] == 0


def half_a_day(entries_per_s: float, jitter: str) -> Array:
    """Publish times of half a day in ms: evenly, or at random."""
    count = int(HALF_A_DAY_MS / 1000 * entries_per_s)
    if jitter == "even":
        return START_MS + np.arange(count) * HALF_A_DAY_MS // count
    return START_MS + np.sort(np.random.default_rng(1).integers(0, HALF_A_DAY_MS, count))


@pytest.mark.parametrize(
    ("entries_per_s", "jitter", "exact_to_ms"),
    [(20, "even", 50), (1, "even", 50), (0.15, "random", 0), (1, "random", 4_000), (5, "random", 2_500), (50, "random", 1_000)],
)
def test_half_a_day_in_as_many_marks_as_ever(entries_per_s: float, jitter: str, exact_to_ms: int) -> None:
    """docs/backlog.md says these figures."""
    times_ms = half_a_day(entries_per_s, jitter)
    count, machine = len(times_ms), BacklogMachine()
    machine.fold(event_rows("publish", count, 1, times_ms, **places(np.arange(count), PER_LEDGER), msgs=3, bytes=9, publish_ts=times_ms))
    arrays = machine.arrays()
    assert len(arrays["marks"]) == arrays["topics"][0, T_MARK_COUNT] <= MOST_MARKS
    assert_tells_the_truth(arrays["marks"], times_ms)
    assert arrays["marks"][:, M_WITHIN_MS].max() <= exact_to_ms
