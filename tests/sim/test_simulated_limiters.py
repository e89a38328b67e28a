"""The simulator's own limiters against golden cases of Pulsar's (semantics §5, A)."""

import pytest

from sim.agenda import NS_PER_MS, NS_PER_S
from sim.limiters import FixedWindow, Limiter, TokenBucket


def bucket(rate: int, period_s: int = 1) -> TokenBucket:
    return TokenBucket(rate, period_s * NS_PER_S, 0)


def test_the_edge_of_a_period_is_strict() -> None:
    """A7."""
    one = bucket(10)
    one.consume(11, 0)
    assert [one.ask(at_ns) for at_ns in (0, NS_PER_S, NS_PER_S + 1)] == [0, 0, 9]


def test_the_anchor_drifts_with_the_polls() -> None:
    """A8."""
    one = bucket(10)
    one.consume(30, 0)
    balances = []
    for at_ms in (500, 1000, 1001, 1500, 2000, 2001, 2002, 3001, 3002, 3003):
        one.ask(at_ms * NS_PER_MS)
        balances.append(one.balance())
    assert balances == [-20, -20, -10, -10, -10, -10, 0, 0, 0, 10]


def test_elapsed_time_is_credited_continuously_up_to_one_period() -> None:
    """A9, A10."""
    one = bucket(10)
    one.consume(30, 0)
    assert [one.ask(2_500 * NS_PER_MS), one.ask(3_500 * NS_PER_MS), one.ask(3_501 * NS_PER_MS)] == [5, 5, 10]
    late = bucket(10)
    late.consume(10, 5 * NS_PER_S)
    assert late.ask(5 * NS_PER_S) == 10


def test_a_long_period() -> None:
    """A11."""
    one = bucket(5, 360)
    one.consume(7, 0)
    assert [one.ask(at_s * NS_PER_S) for at_s in (360, 361, 723)] == [0, 3, 5]


def test_a_window_carries_debt_from_tick_to_tick() -> None:
    """A3: the timer starts with the first consumption."""
    one = FixedWindow(10, NS_PER_S, 0)
    one.consume(30, 5 * NS_PER_S)
    assert [one.ask(at_s * NS_PER_S) for at_s in (5, 6, 7, 8)] == [0, 0, 0, 10]
    one.consume(11, 8 * NS_PER_S)
    assert one.ask(9 * NS_PER_S) == 9


@pytest.mark.parametrize(("rate", "now", "after_a_tick"), [(20, 13, 20), (5, 0, 3)])
def test_a_window_keeps_what_was_acquired_when_its_rate_changes(rate: int, now: int, after_a_tick: int) -> None:
    """A5."""
    limiter = Limiter("classic")
    limiter.apply(10, 0, 1, 0)
    limiter.consume(7, 100, 0)
    limiter.apply(rate, 0, 1, NS_PER_S // 2)
    assert limiter.msgs is not None
    assert (limiter.msgs.ask(NS_PER_S // 2), limiter.msgs.ask(NS_PER_S * 3 // 2), limiter.bytes) == (now, after_a_tick, None)


def test_a_bucket_is_full_again_when_its_rate_is_applied() -> None:
    """A37."""
    limiter = Limiter("token_bucket")
    limiter.apply(10, 0, 1, 0)
    limiter.consume(30, 0, 0)
    limiter.apply(10, 0, 1, 1)
    assert limiter.msgs is not None
    assert limiter.msgs.ask(2) == 10
