"""64-bit arithmetic against Python's unbounded integers, compiled and uncompiled."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.rules import integers
from pipeline.rules.broker.limiter import refilled
from pipeline.rules.integers import INT64_MAX, INT64_MIN, add, floor_log2, multiply_divide, narrow_to_int32, subtract

INT64 = st.integers(INT64_MIN, INT64_MAX) | st.sampled_from([0, 1, -1, INT64_MIN, INT64_MAX])
COUNT = st.integers(0, INT64_MAX) | st.integers(0, 10**6) | st.sampled_from([INT64_MAX, INT64_MAX - 1, 2**62, 2**32])


def saturated(value: int) -> int:
    return max(INT64_MIN, min(INT64_MAX, value))


@settings(deadline=None)
@given(INT64, INT64)
def test_sums_saturate_and_never_wrap(a: int, b: int) -> None:
    assert (saturated(a + b), saturated(a - b)) == (add(a, b), subtract(a, b))


@settings(deadline=None)
@given(COUNT, COUNT, COUNT.filter(lambda c: c > 0))
def test_products_are_exact_and_quotients_saturate(a: int, b: int, c: int) -> None:
    quotient, remainder = divmod(a * b, c)
    assert (saturated(quotient), remainder) == multiply_divide(a, b, c)


@settings(deadline=None)
@given(INT64)
def test_narrowing_is_twos_complement(value: int) -> None:
    assert int.from_bytes((value & (2**32 - 1)).to_bytes(4, "big"), "big", signed=True) == narrow_to_int32(value)


@settings(deadline=None)
@given(COUNT | st.integers(0, 62).flatmap(lambda exponent: st.integers(2**exponent - 1, 2**exponent)))
def test_the_logarithm_is_how_many_bits_follow_the_first(value: int) -> None:
    assert max(value.bit_length() - 1, 0) == floor_log2(value)


@pytest.mark.parametrize(("a", "b", "c"), [(INT64_MAX, INT64_MAX, INT64_MAX), (3_600 * 10**9, INT64_MAX, 10**9), (2**62, 3, 7)])
def test_compiled_and_plain_forms_are_one_function(a: int, b: int, c: int) -> None:
    plain = getattr(integers.multiply_divide, "py_func", integers.multiply_divide)
    assert plain(a, b, c) == multiply_divide(a, b, c)


@settings(deadline=None)
@given(COUNT, COUNT, COUNT.filter(lambda rate: rate > 0))
def test_a_refill_is_exact_up_to_its_capacity(consumed_before: int, pending: int, rate: int) -> None:
    """A second and a nanosecond after the last refill of a bucket of one second (random logs found the order of its sums wrong)."""
    tokens, now_ns = saturated(rate - consumed_before), 10**9 + 1
    granted = saturated(now_ns * rate // 10**9)
    exact = min(saturated(tokens + granted - pending), rate)
    assert refilled(tokens, pending, 0, 0, rate, 10**9, rate, now_ns)[0] == exact
