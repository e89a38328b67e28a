"""What an eviction should do (§2.6): the golden figures B5–B9, B15–B18, and that a plan leaves everything as it was."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_topic import Cursor, Ledger, Mark, Position, with_one_topic
from suite.examples import examples

from pipeline.rules.backlog import eviction as invariants
from pipeline.rules.backlog.eviction import FIRST_4_1, TRUNCATES_4_0, TRUNCATES_4_2
from pipeline.rules.backlog.layout import SIZE, TIME
from pipeline.rules.compiled import compiled
from pipeline.rules.records import as_numbers
from pipeline.rules.state import BrokerState

KIB = 1024
TWENTY = [Ledger(number, 5, 5 * KIB, close_ms=number) for number in range(1, 4)] + [Ledger(4, 5, 5 * KIB)]
ONE_OF_20 = [Ledger(1, 20, 20 * KIB)]
PLAN, FORGET, REACHES = range(3)
LEFT_ALONE = ("topics", "cursors", "heap", "ledgers", "words", "marks")


@compiled
def act(broker: Any, backlog: Any, what: int, c: int, decision: int, ledger: int, entry: int, now_ms: int) -> tuple[bool, bool]:
    """Asked whether it reaches a position: (whether that is no further than the eviction takes the cursor, whether the plan ends there)."""
    if what == PLAN:
        invariants.plan_eviction(broker, backlog, 0, decision, now_ms)
    elif what == FORGET:
        invariants.forget_plan(broker, backlog, 0)
    else:
        reaches = invariants.reaches(broker, backlog, 0, c, decision, ledger, entry, now_ms)
        return reaches, invariants.reaches_target(broker, backlog, 0, c, decision, ledger, entry, now_ms)
    return False, False


def reaches(state: BrokerState, decision: int, ledger: int, entry: int, now_ms: int) -> tuple[bool, bool]:
    """The first cursor."""
    return act(state.group("broker"), state.group("backlog"), REACHES, 0, decision, ledger, entry, now_ms)


@compiled
def to_skip(size: int, limit: int, unacked: int, version: int) -> int:
    return invariants.entries_to_skip(size, limit, unacked, version)


def planned(state: BrokerState, decision: int, now_ms: int = 0) -> list[tuple[Position, int] | None]:
    """Where the plan takes each cursor, and how many entries that evicts; None: nowhere."""
    saved = {name: as_numbers(state.rows[name].rows if name in ("words", "marks") else state.rows[name]).tolist() for name in LEFT_ALONE}
    act(state.group("broker"), state.group("backlog"), PLAN, 0, decision, 0, 0, now_ms)
    after = {name: as_numbers(state.rows[name].rows if name in ("words", "marks") else state.rows[name]).tolist() for name in LEFT_ALONE}
    assert after == saved, "a plan moves nothing"
    moves = state.group("backlog").cursor_moves[: state.counts.subscriptions]
    return [((m.planned_ledger, m.planned_entry), m.planned_entries) if m.planned else None for m in moves]


def totals(state: BrokerState) -> tuple[int, int]:
    """(target, size behind the slowest cursor when the plan is done)."""
    pending = state.group("backlog").pending_decisions[0]
    return int(pending.target), int(pending.size_planned)


def test_b5_two_cursors_at_the_start_skip_eleven_each() -> None:
    state = with_one_topic(TWENTY, [Cursor((0, -1)), Cursor((0, -1))], size_limit=10240)
    assert planned(state, SIZE) == [((3, 0), 11), ((3, 0), 11)]
    assert totals(state) == (9216, 9216)


def test_b7_deleted_entries_are_skipped_and_slid_over() -> None:
    """They are not taken off the size, but off the entries that it evicts; one cursor gets one step in a round."""
    cursor = Cursor((1, -1), deleted=[(1, entry) for entry in range(5, 10)])
    state = with_one_topic(ONE_OF_20, [cursor], size_limit=10240)
    assert planned(state, SIZE) == [((1, 9), 5)]
    assert totals(state) == (9216, 10240)
    assert planned(with_one_topic(ONE_OF_20, [Cursor((1, 9))], size_limit=10240), SIZE) == [((1, 10), 1)]


def test_b8_the_slower_cursor_goes_first_and_ends_with_the_other() -> None:
    assert planned(with_one_topic(ONE_OF_20, [Cursor((1, -1)), Cursor((1, 4))], size_limit=10240), SIZE) == [((1, 10), 11), ((1, 10), 6)]


def test_b9_few_large_entries_are_never_evicted() -> None:
    assert planned(with_one_topic([Ledger(1, 1, 100)], [Cursor((1, -1))], size_limit=100), SIZE) == [None]
    assert planned(with_one_topic([Ledger(1, 5, 11)], [Cursor((1, -1))], size_limit=10), SIZE) == [None]


def test_readers_are_never_moved_by_size() -> None:
    assert planned(with_one_topic(TWENTY, [Cursor((0, -1), durable=False)], size_limit=10240), SIZE) == [None]


@pytest.mark.parametrize(
    ("size", "limit", "unacked", "skipped"),
    [(20480, 10240, 20, 11), (20480, 10240, 15, 8), (15360, 10240, 15, 6), (10240, 10240, 10, 1), (9216, 10240, 9, 0), (100, 100, 1, 0),
     (11, 10, 5, 0), (9217, 10240, 10**6, 108), (2**53, 0, 7, 7)],
)  # fmt: skip
def test_entries_to_skip_in_figures(size: int, limit: int, unacked: int, skipped: int) -> None:
    """B5–B9. Whether the target is truncated changes none of these."""
    assert {to_skip(size, limit, unacked, version) for version in (0, 1, TRUNCATES_4_0, FIRST_4_1, TRUNCATES_4_2)} == {skipped}


@pytest.mark.parametrize(
    ("version", "truncates"),
    [(0, True), (TRUNCATES_4_0 - 1, False), (TRUNCATES_4_0, True), (FIRST_4_1 - 1, True), (FIRST_4_1, False), (TRUNCATES_4_2 - 1, False),
     (TRUNCATES_4_2, True), (5_000_000, True)],
)  # fmt: skip
def test_newer_brokers_truncate_the_target(version: int, truncates: bool) -> None:
    """#25624: nine tenths of 11 are 9, or 9.9; of a size of 10 a tenth is over, or a hundredth."""
    assert to_skip(10, 11, 100, version) == (10 if truncates else 0)
    assert to_skip(10, 11, 101, version) == (10 if truncates else 1)


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0, 2**50), st.integers(0, 2**50), st.integers(0, 10**6))
def test_entries_to_skip_are_the_share_of_the_size_over_target(size: int, limit: int, unacked: int) -> None:
    """Against exact fractions, but for what doubles may be off."""
    target = 9 * limit // 10
    exact = (size - target) * unacked // size if size > target else 0
    assert abs(to_skip(size, limit, unacked, 0) - exact) <= 1


SECONDS = [Ledger(1, 5, 50, close_ms=5_000), Ledger(2, 5, 50, close_ms=10_000), Ledger(3, 4, 40)]


@pytest.mark.parametrize(
    ("now_ms", "to"), [(13_000, (3, -1)), (11_500, (2, -1)), (12_000, (2, -1)), (12_001, (3, -1)), (7_000, None), (10**9, (3, -1))]
)
def test_b17_old_closed_ledgers_go_whole(now_ms: int, to: Position | None) -> None:
    """The open one never does; a ledger that is as old as the limit is not older."""
    state = with_one_topic(SECONDS, [Cursor((0, -1)), Cursor((1, 3))], time_limit=2)
    gone = {(3, -1): (10, 6), (2, -1): (5, 1)}
    assert planned(state, TIME, now_ms) == ([(to, gone[to][0]), (to, gone[to][1])] if to else [((1, -1), 0), None])
    assert totals(state) == (2, {(3, -1): 40, (2, -1): 90, None: 140}[to])


def test_a_cursor_jumps_beyond_what_is_confirmed_only_from_the_end_of_its_ledger() -> None:
    """§2.2. The ledger behind is open, nothing of it is confirmed."""
    ledgers = [Ledger(1, 5, 50, close_ms=5_000), Ledger(2, 0)]
    for at, moves in (((1, 4), [((2, -1), 0)]), ((1, 3), [None])):
        assert planned(with_one_topic(ledgers, [Cursor(at)], time_limit=2), TIME, 20_000) == moves


def with_times(limit_s: int, version: int = 0, *cursors: Cursor) -> BrokerState:
    """B15: an open ledger of entries of 100.000, 101.000, 101.001 and 105 s."""
    marks = [Mark(1, entry, ms) for entry, ms in enumerate((100_000, 101_000, 101_001, 105_000))]
    precise = {"precise_check": 1, "version": version}
    return with_one_topic([Ledger(1, 4, 400)], cursors or [Cursor((1, -1))], marks, precise, time_limit=limit_s)


def test_b15_a_precise_eviction_drops_what_is_strictly_older_than_nine_tenths() -> None:
    state = with_times(10)
    assert planned(state, TIME, 110_001) == [((1, 1), 2)]
    assert totals(state) == (9, 200)
    assert planned(with_times(10), TIME, 110_002) == [((1, 2), 3)]
    assert planned(with_times(10), TIME, 109_000) == [None]


def test_every_subscription_is_moved_by_age_but_those_of_pulsar() -> None:
    cursors = (Cursor((1, -1)), Cursor((1, 1)), Cursor((0, -1), durable=False), Cursor((1, -1), kind=3), Cursor((1, 0)))
    assert planned(with_times(10, 0, *cursors), TIME, 110_001) == [((1, 1), 2), None, ((1, 1), 2), None, ((1, 1), 1)]


@pytest.mark.parametrize(("version", "moves"), [(0, [((1, 3), 4)]), (FIRST_4_1, [((1, 3), 4)]), (FIRST_4_1 - 1, [None])])
def test_b18_a_limit_of_a_second_drops_all_or_in_4_0_nothing(version: int, moves: list[Any]) -> None:
    assert planned(with_times(1, version), TIME, 105_001) == moves
    assert planned(with_times(1, version), TIME, 105_000) == ([((1, 2), 3)] if moves[0] else [None])


def test_a_precise_eviction_takes_ledgers_that_closed_before_though_their_entries_were_not_seen() -> None:
    state = with_one_topic(SECONDS, [Cursor((0, -1))], [], {"precise_check": 1}, time_limit=2)
    assert planned(state, TIME, 12_000) == [((2, 4), 10)], "the target is 1 s: the second ledger closed 2 s ago"
    assert planned(state, TIME, 11_000) == [((1, 4), 5)], "a ledger that closed just so long ago stays"


def test_a_plan_slides_over_deleted_entries_across_ledgers() -> None:
    """§2.2."""
    deleted = [(3, 1), (3, 2), (3, 3), (3, 4), (4, 0), (4, 1), (4, 3)]
    state = with_one_topic(TWENTY, [Cursor((0, -1), deleted)], size_limit=10240)
    skipped = int((20480 - 9216) * 13 / 20480)
    assert skipped == 7
    assert planned(state, SIZE) == [((2, 1), 7)]
    at_hole = with_one_topic(TWENTY, [Cursor((2, 4), deleted)], size_limit=5 * KIB)
    assert planned(at_hole, SIZE) == [((4, 1), 1)], "it skips one entry, and slides"


def test_a_move_is_an_evictions_until_where_the_plan_ends() -> None:
    state = with_one_topic(TWENTY, [Cursor((0, -1))], size_limit=10240)
    assert planned(state, SIZE) == [((3, 0), 11)]
    seen = [reaches(state, SIZE, *at, 0) for at in ((1, 0), (2, 4), (3, -1), (3, 0), (3, 1), (4, -1))]
    assert seen == [(True, False), (True, False), (True, False), (True, True), (False, False), (False, False)]
    act(state.group("broker"), state.group("backlog"), FORGET, 0, 0, 0, 0, 0)
    assert reaches(state, SIZE, 3, 0, 0) == (False, False)


def test_a_precise_eviction_may_end_later_than_planned() -> None:
    """It reads the clock again while it searches."""
    state = with_times(10)
    assert planned(state, TIME, 110_001) == [((1, 1), 2)]
    later = [reaches(state, TIME, 1, entry, 110_500) for entry in range(4)]
    assert later == [(True, False), (True, True), (True, True), (False, False)]
    assert [reaches(state, TIME, 1, entry, 110_001)[1] for entry in range(4)] == [False, True, False, False]


positions = st.tuples(st.integers(0, 4), st.integers(-1, 4)).filter(lambda at: at[0] > 0 or at[1] < 0)
cursors = st.builds(
    lambda at, deleted, durable: Cursor(at, [each for each in deleted if each > at], durable=durable),
    positions,
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), max_size=12),
    st.sampled_from([True, True, True, False]),
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(cursors, max_size=4), st.integers(0, 24 * KIB), st.sampled_from([SIZE, TIME]), st.booleans(), st.integers(0, 5_000))
def test_a_plan_evicts_the_live_entries_that_it_passes(who: list[Cursor], limit: int, decision: int, precise: bool, now_ms: int) -> None:
    """It never moves a cursor back, stops before a live entry and not before a deleted one, and ends where no slower cursor is left."""
    places = [(ledger, entry) for ledger in range(1, 5) for entry in range(5)]
    marks = [Mark(*place, 100 * number) for number, place in enumerate(places)]
    state = with_one_topic(TWENTY, who, marks, {"precise_check": int(precise)}, size_limit=limit, time_limit=1 + limit % 3)
    reached = []
    for cursor, move in zip(who, planned(state, decision, now_ms), strict=True):
        end = move[0] if move else cursor.at
        live = [place for place in places if place > cursor.at and place not in cursor.deleted]
        behind = [place for place in places if place > end]
        reached += [end] if cursor.durable else []
        assert end >= cursor.at
        assert move is None or move[1] == sum(place <= end for place in live)
        assert move is None or not behind or behind[0] in live
        assert move is None or cursor.durable or (decision == TIME and precise)
    if reached:
        slowest = min(reached)
        assert totals(state)[1] == KIB * sum(place > slowest for place in places)
