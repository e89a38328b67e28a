"""The limiter after a resume (TimedSingleThreadRateLimiter, §3.3): cases C3–C8, and its invariant: at most `permits` go in any period."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.channel.layout import NO_CHANNEL
from pipeline.rules.channel.limiter import acquire
from pipeline.rules.records import Record

#: (now_ms, wanted, granted, remaining afterwards: None, no matter)
Step = tuple[int, int, int, int | None]


def opened(permits: int, at_ms: int, close_at_ms: int) -> Record:
    """A limiter whose period began at `at_ms` with all its permits, open until `close_at_ms`."""
    row = NO_CHANNEL.copy()[0]
    row.remaining, row.last_reset_ms, row.close_at_ms = permits, at_ms, close_at_ms
    return row


CASES: dict[str, tuple[int, int, int, list[Step]]] = {
    "C3": (10, 1000, 60_000, [(0, 8, 8, 2), (1, 5, 2, 0), (2, 3, 0, 0)]),
    "C4 rate 3": (3, 1000, 60_000, [(0, 1, 1, 2), (0, 1, 1, 1), (0, 1, 1, 0), (0, 1, 0, 0)]),
    "C4 rate 1": (1, 1000, 60_000, [(0, 1, 1, 0), (0, 1, 0, 0)]),
    "C4 nothing": (10, 1000, 60_000, [(0, 0, 0, 10), (0, -5, 0, 10), (0, 1000, 10, 0)]),
    "C5": (10, 1000, 500, [(100, 15, 10, 0), (1100, 1000, 1000, 0)]),
    "C6 no carry": (10, 100, 60_000, [(0, 6, 6, 4), (150, 8, 8, 2)]),
    "C7": (5, 10, 6000, [*[(1000, 1, 1, None)] * 5, *[(1000, 1, 0, 0)] * 2, (1010, 1, 0, 0), (1011, 1, 1, 4), (6000, 9, 5, 0),
                         (6001, 9, 9, 0)]),
    "C8 the 6th and the 7th are refused": (5, 10, 5100, [*[(100, 1, 1, None)] * 5, (100, 1, 0, 0), (110, 1, 0, 0), (120, 1, 1, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_golden_case_has_its_figures(case: str) -> None:
    permits, period_ms, close_at_ms, todo = CASES[case]
    row = opened(permits, todo[0][0], close_at_ms)
    for now_ms, wanted, granted, remaining in todo:
        assert acquire(row, permits, period_ms, wanted, now_ms) == granted
        assert remaining is None or row.remaining == remaining


def test_opening_it_again_refills_nothing() -> None:
    """C9: only `close_at` starts anew."""
    row = opened(5, 1000, 5000)
    assert acquire(row, 5, 10, 5, 1000) == 5
    row.close_at_ms = 6010
    assert [acquire(row, 5, 10, 1, now_ms) for now_ms in (1010, 1011)] == [0, 1]


def test_a_closed_limiter_counts_nothing() -> None:
    row = opened(5, 0, 100)
    row.remaining = 3
    assert acquire(row, 5, 10, 50, 101) == 50
    assert (row.remaining, row.last_reset_ms) == (3, 0)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 8)), max_size=60), st.integers(1, 6), st.integers(1, 12), st.integers(0, 300))
def test_what_is_granted_is_bounded_by_its_period_and_as_much_as_there_is(
    todo: list[tuple[int, int]], permits: int, period_ms: int, close_at_ms: int
) -> None:
    """Granted is the smaller of what is wanted and what the running period, begun anew when the last one is over, has not given."""
    row, now_ms, given_in_period, began_ms = opened(permits, 0, close_at_ms), 0, 0, 0
    for later_ms, wanted in todo:
        now_ms += later_ms
        granted = acquire(row, permits, period_ms, wanted, now_ms)
        if now_ms > close_at_ms:
            assert granted == wanted
            continue
        if now_ms - began_ms > period_ms:
            began_ms, given_in_period = now_ms, 0
        assert granted == min(wanted, permits - given_in_period)
        given_in_period += granted
