"""A subscription's backlog on its topic's scale against sets of Python: acknowledgements in any order, and marks that jump."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from small_replay import published, replay_of
from suite.examples import examples

from pipeline.rules.compiled import compiled
from pipeline.rules.replay.backlog import acknowledge, backlog_of, move_mark

ENTRIES = 12


@compiled
def acked(replay: Any, place: int) -> bool:
    return acknowledge(replay, replay.subs[0], place)


@compiled
def moved(replay: Any, mark: int) -> int:
    return move_mark(replay, replay.subs[0], mark)


@compiled
def backlog(replay: Any) -> int:
    return backlog_of(replay, replay.subs[0])


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, ENTRIES - 1)), max_size=40))
def test_it_counts_as_sets_do(steps: list[tuple[bool, int]]) -> None:
    """(whether the mark moves, to where or which entry is acknowledged)."""
    replay = replay_of(published(range(ENTRIES)))
    replay.topics[0].published = ENTRIES
    left = set(range(ENTRIES))
    for is_move, place in steps:
        if is_move:
            gone = {entry for entry in left if entry < place}
            assert moved(replay, place) == len(gone)
            left -= gone
        else:
            assert acked(replay, place) == (place in left)
            left.discard(place)
        assert backlog(replay) == len(left)
        assert replay.subs[0].mark == min(left, default=ENTRIES)
