"""The band of several that share a limit: what chance may do, and never more than all tokens for one."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pipeline.rules.array import Array
from pipeline.rules.replay.layout import CAUSE_COUNT, NO_PERMITS
from pipeline.what_if.band import LEAST_SPREAD, bands, let_through, shared
from pipeline.what_if.chance import LIVES, phases_ns
from pipeline.what_if.play import Life

SECOND = 1_000_000_000
BROKER_MESSAGES, TOPIC_BYTES, SUB_MESSAGES = 0, 3, 4


def life(*backlogs: int, held: dict[int, int] | None = None) -> Life:
    """At one instant; `held`: cause that holds a subscription for a second."""
    held_ns = np.zeros((len(backlogs), CAUSE_COUNT), dtype=np.int64)
    for sub, cause in (held or {}).items():
        held_ns[sub, cause] = SECOND
    backlog, none = np.array([backlogs], dtype=np.int64), np.zeros(len(backlogs), dtype=np.int64)
    return Life(backlog, np.zeros_like(backlog), none, held_ns, none, none)


def band(groups: list[list[int]], chances: Array | None, *backlogs: int) -> list[list[int]]:
    """(least, most) of each subscription."""
    one = life(*backlogs)
    found = bands([one, one, one], groups, chances, np.zeros_like(one.backlog), 0.0, np.zeros(len(backlogs)), 0.0)
    return found[:, 0].T.tolist()


def test_where_nobody_knows_each_may_get_all_tokens_or_none() -> None:
    assert band([[0, 1]], None, 100, 300, 50) == [[0, 420], [0, 420], [47, 53]]


def test_lives_by_chance_make_it_narrower() -> None:
    chances = np.array([[[80, 200, 0]], [[120, 310, 900]]])
    least, most = 100 * LEAST_SPREAD, 300 * LEAST_SPREAD
    assert band([[0, 1]], chances, 100, 300, 50) == [[80 - least, 120 + least], [200 - most, 310 + most], [47, 53]]


def test_one_never_has_more_than_all_have_together() -> None:
    chances = np.array([[[0, 0]], [[1000, 1000]]])
    assert band([[0, 1]], chances, 100, 300) == [[0, 420], [0, 420]]


def test_a_limiter_lets_through_at_once_so_much_more_or_less() -> None:
    one = life(200, 200)
    found = bands([one, one, one], [], None, np.zeros_like(one.backlog), 0.0, np.array([50, 0]), 32.0)
    assert found[:, 0].T.tolist() == [[200 - 82, 200 + 82], [200 - 32, 200 + 32]]


@pytest.mark.parametrize(("step_s", "at_once"), [(1, [50, 0, 0]), (10, [5, 0, 0])])
def test_what_a_limiter_lets_through_is_the_median_of_what_went(step_s: int, at_once: list[int]) -> None:
    """60 entries come in each step. One subscription gets 50 in each second step, and a quota takes 900. Consumers hold another. The last
    one gets nothing.
    """
    came = np.full((12, 3), 60)
    went = np.array([[0 if k % 2 else 950 if k == 6 else 50, 60, 0] for k in range(12)])
    of_limiter = life(0, 0, 0, held={0: SUB_MESSAGES, 1: NO_PERMITS, 2: SUB_MESSAGES})
    one = replace(of_limiter, backlog=np.cumsum(came - went, axis=0))
    assert let_through(one, np.cumsum(came, axis=0), step_s * SECOND, SECOND).tolist() == at_once


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({}, []),
        ({0: BROKER_MESSAGES, 2: BROKER_MESSAGES}, [[0, 2]]),
        ({0: TOPIC_BYTES, 1: TOPIC_BYTES, 2: TOPIC_BYTES}, [[0, 1]]),
        ({0: SUB_MESSAGES, 1: SUB_MESSAGES}, []),
        ({0: TOPIC_BYTES, 1: BROKER_MESSAGES}, []),
    ],
)
def test_who_share_a_limit_that_holds_them(held: dict[int, int], expected: list[list[int]]) -> None:
    assert shared(life(1, 1, 1, held=held), [7, 7, 9], SECOND) == expected


def test_each_has_phases_of_all_parts_of_a_period_and_they_are_the_same_each_time() -> None:
    found = np.stack(list(phases_ns(3, SECOND)))
    assert found.shape == (LIVES, 3)
    assert (np.sort(found * LIVES // SECOND, axis=0) == np.arange(LIVES)[:, None]).all()
    assert found.tolist() == [one.tolist() for one in phases_ns(3, SECOND)]
    assert len({tuple(np.argsort(column)) for column in found.T.tolist()}) == 3
    assert [one.min() for one in islice(phases_ns(2, 0), 1)] == [1]
