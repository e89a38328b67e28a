"""Two lives side by side: areas, the end of a backlog, and the check of a replay against its record."""

import numpy as np
import pytest

from pipeline.what_if.compare import area_error, drained_at, self_check


def test_the_error_is_the_area_between_by_the_area_under_the_true_one() -> None:
    assert area_error(np.array([0, 100, 100]), np.array([0, 90, 120])) == pytest.approx(0.15)
    assert area_error(np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)) == 0
    assert area_error(np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)) == 1


@pytest.mark.parametrize(
    ("backlog", "at"),
    [
        ([0, 50, 100, 40, 5, 0], 4),
        ([0, 100, 3, 60, 100, 50], 2),  # of two peaks that are as high the first one counts
        ([3, 5, 2], None),
        ([10, 20, 30], None),
        ([], None),
    ],
)
def test_a_backlog_is_gone_at_the_first_instant_after_its_peak_with_few_entries(backlog: list[int], at: int | None) -> None:
    assert drained_at(np.array(backlog)) == at


def check(
    true: list[list[int]], other: list[list[int]], throttled: tuple[int, int] = (0, 0), evicted: tuple[int, int] = (0, 0)
) -> list[str]:
    return list(self_check(np.array(true), np.array(other), throttled, evicted, 10.0).reasons)


def test_a_replay_that_is_near_is_accepted() -> None:
    assert check([[1000, 2000]] * 5, [[1050, 1950]] * 5, throttled=(100, 119), evicted=(1000, 1049)) == []


@pytest.mark.parametrize(
    ("other", "throttled", "evicted", "reason"),
    [
        ([[1200, 2200]] * 5, (0, 0), (0, 0), "its backlog differs by 13% of what it was"),
        ([[1400, 1600]] * 5, (0, 0), (0, 0), "the backlog of one of its subscriptions differs too much"),
        ([[1000, 2000]] * 5, (200, 300), (0, 0), "limiters lower 300 reads in place of 200"),
        ([[1000, 2000]] * 5, (0, 0), (1000, 900), "900 entries are evicted or expire in place of 1,000"),
    ],
)
def test_one_that_is_not_is_refused_with_the_reason(
    other: list[list[int]], throttled: tuple[int, int], evicted: tuple[int, int], reason: str
) -> None:
    assert check([[1000, 2000]] * 5, other, throttled, evicted) == [reason]


def test_a_small_backlog_may_differ_by_a_second_of_publishes() -> None:
    assert check([[2, 0]] * 5, [[9, 2]] * 5) == []
    assert check([[2, 0]] * 5, [[30, 0]] * 5) != []
