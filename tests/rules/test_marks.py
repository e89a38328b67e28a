"""Publish times of a long backlog: whatever the rate does, each entry was published when its mark says, to what its mark says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples
from test_backlog_state import START_MS, event_rows, places

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import MARK_ROW, TOPIC_ROW
from pipeline.rules.broker.marks import MOST_MARKS, put_along_lines
from pipeline.rules.model import BrokerModel
from pipeline.rules.records import Record, Records, as_records, empty_rows

HALF_A_DAY_MS = 43_200_000
PER_LEDGER = 50_000


def earliest_ms(mark: Record) -> Array:
    """The earliest time of each entry of a mark, written again."""
    entries = np.arange(mark.entries)
    length = max(1, int(mark.entries) - 1)
    return mark.first_ms + (mark.last_ms - mark.first_ms) * entries // length


def assert_is_true(marks: Records, times_ms: Array) -> None:
    """Marks stand for every entry once, in order, and each was published within what its mark leaves open."""
    assert marks["entries"].sum() == len(times_ms)
    assert marks["msgs"].sum() == 3 * len(times_ms)
    number = 0
    for mark in marks:
        assert (mark.ledger - 1) * PER_LEDGER + mark.entry == number
        behind = times_ms[number : number + mark.entries] - earliest_ms(mark)
        assert behind.min() >= 0
        assert behind.max() <= mark.within_ms
        number += int(mark.entries)


def marks_of_single(times_ms: Array) -> Records:
    """A mark for each entry of one ledger."""
    marks = empty_rows(MARK_ROW, len(times_ms))
    marks["ledger"], marks["entry"], marks["entries"], marks["msgs"] = 1, np.arange(len(times_ms)), 1, 3
    marks["first_ms"] = marks["last_ms"] = times_ms
    return marks


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(-5_000, 20_000), min_size=1, max_size=300), st.lists(st.integers(0, 5_000), min_size=1, max_size=8))
def test_any_marks_put_together_again_and_again_stay_true(steps_ms: list[int], within: list[int]) -> None:
    """Times may go back; what marks leave open grows, or not."""
    times_ms = START_MS + np.cumsum(np.array(steps_ms, dtype=np.int64))
    marks, left = marks_of_single(times_ms), len(times_ms)
    for number, within_ms in enumerate(sorted(within)):
        before = left
        left = put_along_lines(marks, left, within_ms, number > 0)
        assert left <= before
        assert_is_true(marks[:left], times_ms)


def test_an_even_rate_is_one_mark() -> None:
    marks = marks_of_single(START_MS + 7 * np.arange(5_000))
    assert put_along_lines(marks, len(marks), 0, False) == 1
    assert marks[0].within_ms == 0


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
    """docs/design/backlog.md says these figures."""
    times_ms = half_a_day(entries_per_s, jitter)
    count, model = len(times_ms), BrokerModel()
    model.fold(event_rows("publish", count, 1, times_ms, **places(np.arange(count), PER_LEDGER), msgs=3, bytes=9, publish_ts=times_ms))
    arrays = model.arrays()
    marks = as_records(arrays["marks"], MARK_ROW)
    assert len(marks) == as_records(arrays["topics"], TOPIC_ROW)[0].mark_count <= MOST_MARKS
    assert_is_true(marks, times_ms)
    assert marks["within_ms"].max() <= exact_to_ms
