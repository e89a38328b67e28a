"""One read's walk over the limiters (§1.2): cases A24–A28, and a plain minimum over the levels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.layout import BROKER, BYTES, MSG, NONE, SUBSCRIPTION, TOPIC
from pipeline.rules.throttle.walk import decisive_level, walk

Answers = list[tuple[int, int] | None]
READ_BYTES = 5_242_880


def walked(answers: Answers, entries: int, size: int) -> tuple[tuple[int, int, int], list[tuple[int, int]]]:
    """(entries, bytes, level that blocked), and (level, dimension) of what was lowered. None: the level has no limiter."""
    array = np.array([[7, 7] if answer is None else answer for answer in answers], dtype=np.int64)
    present = np.array([answer is not None for answer in answers], dtype=np.int64)
    lowered = np.full((3, 2), 9, dtype=np.int64)
    result = walk(array, present, entries, size, lowered)
    assert set(lowered.ravel()) <= {0, 1}
    return (int(result[0]), int(result[1]), int(result[2])), [(int(level), int(what)) for level, what in np.argwhere(lowered)]


K, T, S = BROKER, TOPIC, SUBSCRIPTION
CASES = {
    "A24": ([(-1, -1), (10, -1), (5, 1024)], 100, READ_BYTES, (5, 1024, NONE), [(T, MSG), (S, MSG), (S, BYTES)]),
    "A25 equal limits charge the outer one": ([None, (10, -1), (10, -1)], 100, READ_BYTES, (10, READ_BYTES, NONE), [(T, MSG)]),
    "A26 the first to block stops the walk": ([(0, -1), (0, 0), (0, 0)], 100, READ_BYTES, (0, READ_BYTES, K), [(K, MSG)]),
    "A27 but looks at both dimensions": ([(0, 0), (1, 1), None], 100, READ_BYTES, (0, 0, K), [(K, MSG), (K, BYTES)]),
    "A27 blocked by bytes": ([(50, 0), (1, 1), None], 100, READ_BYTES, (50, 0, K), [(K, MSG), (K, BYTES)]),
    "A28 unwritable": ([None, (5, 1_000_000), None], 1, READ_BYTES, (1, 1_000_000, NONE), [(T, BYTES)]),
    "as much as wanted is not lowered": ([(100, READ_BYTES), None, None], 100, READ_BYTES, (100, READ_BYTES, NONE), []),
    "narrowed to 32 bits: negative is unlimited": ([(2**31, -1), None, None], 100, READ_BYTES, (100, READ_BYTES, NONE), []),
    "narrowed to 32 bits: wraps": ([None, None, (2**32 + 7, 2**32 + 7)], 100, READ_BYTES, (7, READ_BYTES, NONE), [(S, MSG)]),
    "no limiter": ([None, None, None], 100, READ_BYTES, (100, READ_BYTES, NONE), []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_golden_walk(case: str) -> None:
    answers, entries, size, result, lowered = CASES[case]
    assert walked(answers, entries, size) == (result, lowered)


answers = st.none() | st.tuples(st.integers(-1, 6), st.integers(-1, 6))


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(answers, min_size=3, max_size=3), st.integers(1, 6), st.integers(1, 6))
def test_a_walk_is_a_running_minimum_that_stops_at_zero(levels: Answers, want_entries: int, want_bytes: int) -> None:
    left, lowered, blocked = [want_entries, want_bytes], [], NONE
    for level, answer in enumerate(levels):
        for dimension, permits in enumerate(answer or ()):
            if permits >= 0 and permits < left[dimension]:
                left[dimension] = permits
                lowered.append((level, dimension))
        if 0 in left:
            blocked = level
            break
    assert walked(levels, want_entries, want_bytes) == ((left[0], left[1], blocked), lowered)


@pytest.mark.parametrize("levels", [[], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]])
def test_the_decisive_level_is_the_last_that_lowered(levels: list[int]) -> None:
    lowered = np.zeros((3, 2), dtype=np.int64)
    lowered[levels, BYTES] = 1
    assert decisive_level(lowered, BYTES) == max(levels, default=NONE)
    assert decisive_level(lowered, MSG) == NONE
