"""Pulsar's two limiters: golden figures of §1.4 (cases A2–A11, A37), and the same books kept with Python's exact integers."""

from collections.abc import Callable
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.layout import BYTES, LIMITER_ROW, MSG, NONE
from pipeline.rules.broker.limiter import (
    CLASSIC,
    CLOCK_STEP_NS,
    TOKEN_BUCKET,
    UNLIMITED,
    apply_rate,
    ask,
    balance,
    clock_step_tolerance,
    consume,
    is_refill_due,
    look,
    refilled,
    settle,
    tick,
)
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record, as_numbers, empty_rows

SECOND = 1_000_000_000
MS = 1_000_000
RATE, USE, ASK = range(3)


def limiter(kind: int, rate: int, period_s: int = 1, now_ns: int = 0) -> Record:
    """A limiter of messages, made at `now_ns`."""
    row = empty_rows(LIMITER_ROW, 1)[0]
    row.exists, row.kind = 1, kind
    apply_rate(row, MSG, kind, True, rate, period_s, now_ns)
    return row


class Bucket:
    """§1.4, token bucket, as its table has it."""

    def __init__(self, rate: int, period_ns: int, now_ns: int) -> None:
        self.rate, self.period_ns, self.last_ns = rate, period_ns, now_ns
        self.tokens, self.remainder, self.pending = rate, 0, 0

    def use(self, permits: int, _: int) -> None:
        self.pending += permits

    def ask(self, now_ns: int) -> int:
        if now_ns > self.last_ns + self.period_ns:
            duration = now_ns - self.last_ns + self.remainder
            new = duration * self.rate // self.period_ns
            self.remainder = duration - new * self.period_ns // self.rate
            self.tokens = min(self.tokens + new - self.pending, self.rate)
            self.pending, self.last_ns = 0, now_ns
        return max(0, self.tokens - self.pending)

    def set_rate(self, rate: int, now_ns: int) -> None:
        self.__init__(rate, self.period_ns, now_ns)  # type: ignore[misc]  # a new rate makes all new


class Window:
    """§1.4, classic: every renewal happens at its own time, one after the other."""

    def __init__(self, rate: int, period_ns: int, _: int) -> None:
        self.rate, self.period_ns, self.acquired = rate, period_ns, 0
        self.next_ns: int | None = None

    def renew(self, now_ns: int) -> None:
        while self.next_ns is not None and self.next_ns <= now_ns:
            self.acquired = max(0, self.acquired - self.rate)
            self.next_ns += self.period_ns

    def use(self, permits: int, now_ns: int) -> None:
        self.renew(now_ns)
        if permits > 0 and self.next_ns is None:
            self.next_ns = now_ns + self.period_ns
        self.acquired += permits

    def ask(self, now_ns: int) -> int:
        self.renew(now_ns)
        return max(0, self.rate - self.acquired)

    def set_rate(self, rate: int, now_ns: int) -> None:
        self.renew(now_ns)
        self.rate, self.next_ns = rate, now_ns + self.period_ns


BOOKS: dict[int, Callable[[int, int, int], Bucket | Window]] = {TOKEN_BUCKET: Bucket, CLASSIC: Window}
steps = st.tuples(st.sampled_from([ASK] * 4 + [USE] * 4 + [RATE]), st.integers(0, 3 * SECOND) | st.just(SECOND), st.integers(0, 50))


@pytest.mark.parametrize("kind", [TOKEN_BUCKET, CLASSIC], ids=["bucket", "classic"])
@settings(max_examples=examples(200), deadline=None)
@given(todo=st.lists(steps, max_size=40), rate=st.integers(1, 40), period_s=st.integers(1, 3))
def test_a_limiter_keeps_the_same_books(kind: int, todo: list[tuple[int, int, int]], rate: int, period_s: int) -> None:
    row, books, now_ns = limiter(kind, rate, period_s), BOOKS[kind](rate, period_s * SECOND, 0), 0
    for what, later_ns, permits in todo:
        now_ns += later_ns
        if what == RATE:
            apply_rate(row, MSG, kind, False, permits + 1, period_s, now_ns)
            books.set_rate(permits + 1, now_ns)
        elif what == USE:
            consume(row, MSG, permits, now_ns)
            books.use(permits, now_ns)
        else:
            before = as_numbers(row.reshape(1)).tolist()
            seen = look(row, MSG, now_ns)
            if kind == TOKEN_BUCKET:
                assert as_numbers(row.reshape(1)).tolist() == before, "looking refilled the bucket"
            assert seen == ask(row, MSG, now_ns) == books.ask(now_ns)


GOLDEN = {
    "A2": (CLASSIC, 100, 1, [(0, USE, 300), (0, ASK, 0), (SECOND, ASK, 0), (2 * SECOND, ASK, 0), (3 * SECOND, ASK, 100)]),
    "A3": (CLASSIC, 10, 1, [(0, USE, 30), (SECOND, ASK, 0), (2 * SECOND, ASK, 0), (3 * SECOND, ASK, 10), (3 * SECOND, USE, 11),
                            (4 * SECOND, ASK, 9)]),
    "A5 raised": (CLASSIC, 10, 1, [(0, USE, 7), (0, RATE, 20), (0, ASK, 13)]),
    "A5 lowered": (CLASSIC, 10, 1, [(0, USE, 7), (0, RATE, 5), (0, ASK, 0), (SECOND, ASK, 3)]),
    "A7": (TOKEN_BUCKET, 10, 1, [(0, USE, 11), (SECOND, ASK, 0), (SECOND + 1, ASK, 9)]),
    "A8": (TOKEN_BUCKET, 10, 1, [(0, USE, 30), (1001 * MS, ASK, 0), (2002 * MS, ASK, 0), (3002 * MS, ASK, 0), (3003 * MS, ASK, 10)]),
    "A9": (TOKEN_BUCKET, 10, 1, [(0, USE, 30), (2500 * MS, ASK, 5), (3500 * MS, ASK, 5), (3501 * MS, ASK, 10)]),
    "A10": (TOKEN_BUCKET, 10, 1, [(5 * SECOND, USE, 10), (5 * SECOND, ASK, 10)]),
    "A10 asked first": (TOKEN_BUCKET, 10, 1, [(5 * SECOND, ASK, 10), (5 * SECOND, USE, 10), (5 * SECOND, ASK, 0)]),
    "A11": (TOKEN_BUCKET, 5, 360, [(0, USE, 7), (361 * SECOND, ASK, 3), (721 * SECOND, ASK, 3), (722 * SECOND, ASK, 5)]),
    "A37": (TOKEN_BUCKET, 10, 1, [(0, USE, 30), (100 * MS, RATE, 10), (100 * MS, ASK, 10)]),
    "A37 classic": (CLASSIC, 10, 1, [(0, USE, 30), (500 * MS, RATE, 10), (1499 * MS, ASK, 0), (3499 * MS, ASK, 0), (3500 * MS, ASK, 10)]),
}  # fmt: skip


@pytest.mark.parametrize("case", GOLDEN)
def test_a_golden_case_has_its_figures(case: str) -> None:
    kind, rate, period_s, todo = GOLDEN[case]
    row = limiter(kind, rate, period_s)
    for now_ns, what, permits in todo:
        if what == RATE:
            apply_rate(row, MSG, kind, False, permits, period_s, now_ns)
        elif what == USE:
            consume(row, MSG, permits, now_ns)
        else:
            assert ask(row, MSG, now_ns) == permits, now_ns


def test_debt_is_in_the_books_and_asked_for_as_nothing() -> None:
    """A8: what is over-delivered is what went beyond the balance, and the balance goes below 0."""
    for kind in (TOKEN_BUCKET, CLASSIC):
        row = limiter(kind, 10)
        assert consume(row, MSG, 4, 0) == 0
        assert consume(row, MSG, 26, 0) == 20
        assert consume(row, MSG, 5, 0) == 5
        assert (balance(row, MSG), ask(row, MSG, 0)) == (-25, 0)


@pytest.mark.parametrize("kind", [TOKEN_BUCKET, CLASSIC], ids=["bucket", "classic"])
def test_a_dimension_without_a_rate_is_unlimited_and_is_not_charged(kind: int) -> None:
    row = limiter(kind, 10)
    assert (ask(row, BYTES, 0), look(row, BYTES, 0), consume(row, BYTES, 99, 0), balance(row, BYTES)) == (UNLIMITED, UNLIMITED, 0, 0)
    consume(row, MSG, 30, 0)
    apply_rate(row, MSG, kind, False, -1, 1, 0)
    assert ask(row, MSG, 0) == UNLIMITED
    apply_rate(row, MSG, kind, False, 10, 1, 0)
    assert ask(row, MSG, 0) == 10, "a dimension that was dropped starts without debt"


def test_a_classic_timer_starts_with_the_first_permits_used_and_ticks_in_step() -> None:
    row = limiter(CLASSIC, 10)
    assert (ask(row, MSG, 7 * SECOND), row.tick_ns[MSG]) == (10, NONE)
    consume(row, MSG, 0, 7 * SECOND)
    assert row.tick_ns[MSG] == NONE, "no permits are no use"
    consume(row, MSG, 25, 7 * SECOND)
    settle(row, 8 * SECOND - 1)
    assert (row.acquired[MSG], row.tick_ns[MSG]) == (25, 8 * SECOND)
    settle(row, 9 * SECOND + 500 * MS)
    assert (row.acquired[MSG], row.tick_ns[MSG]) == (5, 10 * SECOND)


def test_a_classic_limiter_without_a_period_never_renews() -> None:
    """§1.4: on an update to a period of 0 its timer is cancelled for good."""
    row = limiter(CLASSIC, 10, 1)
    consume(row, MSG, 25, 0)
    apply_rate(row, MSG, CLASSIC, False, 10, 0, SECOND // 2)
    tick(row, MSG, 10**6 * SECOND)
    assert (row.acquired[MSG], row.tick_ns[MSG]) == (25, NONE)


def test_a_bucket_without_a_period_has_one_second() -> None:
    row = limiter(TOKEN_BUCKET, 10, 0)
    consume(row, MSG, 10, 0)
    assert (ask(row, MSG, SECOND), ask(row, MSG, SECOND + 1)) == (0, 10)


large = st.integers(0, INT64_MAX)


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(-(2**62), 2**62), large, st.integers(0, 2**62), st.integers(1, INT64_MAX), st.integers(1, INT64_MAX))
def test_a_refill_is_exact_in_128_bits(tokens: int, pending: int, duration: int, rate: int, period_ns: int) -> None:
    """What a refill is (A15, A16), with integers that have no end; a result beyond int64 is its bound."""
    new = min(duration * rate // period_ns, INT64_MAX)
    expected = min(max(min(tokens + new - pending, INT64_MAX), -INT64_MAX), rate)
    remainder = max(0, duration - new * period_ns // rate)
    assert refilled(tokens, pending, 0, 0, rate, period_ns, rate, duration) == (expected, remainder)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 1000), st.lists(st.integers(1, 3000), min_size=1, max_size=30))
def test_no_time_is_lost_however_often_a_bucket_is_asked(rate: int, steps_ms: list[int]) -> None:
    """Without a cap, tokens after all refills are those of the whole time (A15), and of at most a ns for each refill that is rounded."""
    tokens = remainder = now_ns = 0
    for step_ms in steps_ms:
        before_ns, now_ns = now_ns, now_ns + step_ms * MS
        tokens, remainder = refilled(tokens, 0, before_ns, remainder, rate, SECOND, INT64_MAX, now_ns)
    assert now_ns * rate // SECOND <= tokens <= (now_ns + len(steps_ms)) * rate // SECOND


def test_a_refill_is_due_strictly_after_its_resolution() -> None:
    assert [is_refill_due(100, 50, now_ns) for now_ns in (90, 100, 149, 150, 151)] == [False, False, False, False, True]


@pytest.mark.parametrize("rate", [1, 62, 63, 100, 12_345, 10**12])
def test_a_step_of_the_clock_is_worth_its_share_of_the_rate_rounded_up(rate: int) -> None:
    for period_s in (1, 60):
        row = limiter(TOKEN_BUCKET, rate, period_s)
        assert clock_step_tolerance(row, MSG) == max(1, ceil(rate * CLOCK_STEP_NS / (period_s * SECOND)))
    assert clock_step_tolerance(limiter(CLASSIC, rate, 0), MSG) == 1
