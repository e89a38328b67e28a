"""The normal turnaround of a broker: eight times the median, rounded up to a power of two."""

from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.cause import pace as invariants
from pipeline.rules.cause.layout import PACE_ROW
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, empty_rows


@compiled
def measure(pace: Record, turnaround_ns: int) -> None:
    invariants.measure(pace, turnaround_ns)


def after(turnarounds_ns: list[int]) -> int:
    pace = empty_rows(PACE_ROW, 1)[0]
    for turnaround_ns in turnarounds_ns:
        measure(pace, turnaround_ns)
    return int(pace.normal_ns)


def test_nothing_is_known_before_enough_was_measured() -> None:
    assert after([1_000_000] * 15) == 0
    assert after([1_000_000] * 16) == 8 * 2**20


def test_a_few_slow_reads_are_not_normal() -> None:
    assert after([1_000_000] * 160 + [10**12] * 40) == 8 * 2**20


def test_a_turnaround_may_take_days() -> None:
    assert after([2**62] * 16) == 8 * 2**48


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(1, 2**40), min_size=16, max_size=17))
def test_normal_is_eight_times_the_bound_of_the_median(turnarounds_ns: list[int]) -> None:
    """Of 16 it is looked at, and again of 18."""
    median = sorted(turnarounds_ns[:16])[7]
    assert after(turnarounds_ns) == 8 * 2 ** median.bit_length()
