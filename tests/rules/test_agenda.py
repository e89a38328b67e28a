"""The agenda of a replay against a sorted list: the earliest first, and of one instant the first that was planned."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from small_replay import replay_of
from suite.examples import examples

from pipeline.rules.compiled import compiled
from pipeline.rules.replay.agenda import drop_first, plan


@compiled
def plan_one(replay: Any, at_ns: int, who: int) -> None:
    plan(replay, at_ns, 0, who, 0)


@compiled
def take_one(replay: Any) -> None:
    drop_first(replay)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(0, 20) | st.none(), max_size=60))
def test_the_earliest_comes_first(steps: list[int | None]) -> None:
    """A number plans one, none takes the first."""
    replay = replay_of([])
    expected: list[tuple[int, int]] = []
    for number, at_ns in enumerate(steps):
        if at_ns is not None:
            plan_one(replay, at_ns, number)
            expected.append((at_ns, number))
        elif expected:
            first = replay.agenda[0]
            assert (int(first.at_ns), int(first.who)) == min(expected)
            expected.remove(min(expected))
            take_one(replay)
    assert replay.clock[0].planned == len(expected)


def test_an_agenda_that_is_full_says_so() -> None:
    replay = replay_of([])
    for number in range(len(replay.agenda) + 1):
        plan_one(replay, number, number)
    assert replay.clock[0].full == 1
