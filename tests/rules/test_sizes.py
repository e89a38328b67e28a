"""Sizes of backlogs: the broker's figures (B1, B4, B7, B11), and messages counted one by one."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_topic import Cursor, Ledger, Mark, Position, with_one_topic
from suite.examples import examples

from pipeline.rules.backlog import sizes as invariants
from pipeline.rules.backlog.sizes import FIRST_4_1, LESS_DELETED_4_0, LESS_DELETED_4_1
from pipeline.rules.broker.cursors import backlog_entries
from pipeline.rules.compiled import compiled
from pipeline.rules.state import BrokerState
from schemas.outcomes import NULL

LEDGERS = [Ledger(number, 5, 5 * 1024) for number in range(1, 5)]
#: Every release that subtracts deleted entries, and the last ones before that do not.
SUBTRACTING = (0, LESS_DELETED_4_0, FIRST_4_1 - 1, LESS_DELETED_4_1, 5_000_000)
NOT_SUBTRACTING = (1, LESS_DELETED_4_0 - 1, FIRST_4_1, LESS_DELETED_4_1 - 1)


@compiled
def look(broker: Any, c: int) -> tuple[int, int, int]:
    """(the topic's size, the cursor's, messages behind it)."""
    topic, cursor = broker.topics[0], broker.cursors[c]
    entries = backlog_entries(topic, broker.ledgers, cursor)
    size = invariants.subscription_size(topic, broker.ledgers, cursor, entries, broker.settings[0].version)
    return invariants.backlog_size(broker, 0), size, invariants.backlog_messages(broker, topic, cursor, entries)


def of_cursor(state: BrokerState, c: int = 0) -> tuple[int, int, int]:
    return look(state.group("broker"), c)


@pytest.mark.parametrize(
    ("at", "size"), [((1, -1), 20480), ((1, 4), 15360), ((2, 1), 13312), ((3, -1), 10240), ((0, 7), 20480), ((4, 4), 0)]
)
def test_a_topics_size_is_what_lies_behind_its_slowest_durable_cursor(at: Position, size: int) -> None:
    """A reader that is slower does not count (B11)."""
    cursors = [Cursor((4, 4)), Cursor(at), Cursor((0, -1), durable=False)]
    assert of_cursor(with_one_topic(LEDGERS, cursors))[0] == size


def test_a_topic_with_readers_only_has_size_0() -> None:
    assert of_cursor(with_one_topic(LEDGERS, [Cursor((0, -1), durable=False)]))[:2] == (0, 20480)


def test_the_slowest_is_by_the_persisted_position_and_its_size_by_the_one_in_memory() -> None:
    """§2.2: the heap lags behind."""
    cursors = [Cursor((4, 4), persisted=(1, -1)), Cursor((2, -1), persisted=(2, -1))]
    assert of_cursor(with_one_topic(LEDGERS, cursors))[0] == 0


@pytest.mark.parametrize(("version", "size"), [*[(each, 15 * 1024) for each in SUBTRACTING], *[(each, 20480) for each in NOT_SUBTRACTING]])
def test_newer_brokers_take_deleted_entries_off(version: int, size: int) -> None:
    """B7: five of twenty, whether they are known by name or not."""
    named = Cursor((1, -1), deleted=[(2, entry) for entry in range(5)])
    for cursor in (named, Cursor((1, -1), deleted_unknown=5)):
        assert of_cursor(with_one_topic(LEDGERS, [cursor], settings={"version": version}))[:2] == (20480, size)


def test_deleted_entries_are_worth_the_backlogs_average_in_whole_bytes() -> None:
    state = with_one_topic([Ledger(1, 3, 701)], [Cursor((1, -1), deleted=[(1, 1), (1, 2)])])
    assert of_cursor(state)[1] == 701 - 2 * (701 // 3)


def msgs_of(marks: list[Mark]) -> dict[Position, int]:
    """Messages of each entry, if a mark's are spread evenly and rounded down from its front."""
    return {
        (mark.ledger, mark.entry + k): mark.msgs * (k + 1) // mark.entries - mark.msgs * k // mark.entries
        for mark in marks
        for k in range(mark.entries)
    }


@st.composite
def marked(draw: st.DrawFn) -> tuple[list[Ledger], list[Mark]]:
    """Ledgers, wholly in marks of one and of several entries."""
    ledgers, marks = [], []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        lengths = draw(st.lists(st.sampled_from([1, 1, 2, 7, 61, 62, 63, 130]), max_size=4))
        ledgers.append(Ledger(number, sum(lengths)))
        for k, length in enumerate(lengths):
            msgs = draw(st.integers(length, 5 * length))
            marks.append(Mark(number, sum(lengths[:k]), 1_000, length, 1_000, msgs))
    return ledgers, marks


@settings(max_examples=examples(80), deadline=None)
@given(marked(), st.integers(0, 400), st.integers(1, 5), st.integers(0, 300))
def test_messages_behind_a_cursor_are_those_of_its_live_entries(
    topic: tuple[list[Ledger], list[Mark]], at: int, every: int, first_deleted: int
) -> None:
    ledgers, marks = topic
    msgs = msgs_of(marks)
    places = sorted(msgs)
    position = [(0, -1), *places][at % (len(places) + 1)]
    deleted = [place for place in places[first_deleted::every] if place > position]
    live = [place for place in places if place > position and place not in set(deleted)]
    state = with_one_topic(ledgers, [Cursor(position, deleted)], marks)
    assert of_cursor(state)[2] == sum(msgs[place] for place in live)


def test_messages_are_not_known_where_entries_are_not() -> None:
    """Not seen published behind the cursor, or deleted without a name."""
    ledgers, marks = [Ledger(1, 4)], [Mark(1, entry, 0, msgs=2) for entry in (1, 2, 3)]
    for cursor, msgs in (
        (Cursor((1, -1)), NULL),
        (Cursor((1, 0)), 6),
        (Cursor((1, -1), deleted=[(1, 0)]), NULL),
        (Cursor((1, 0), deleted_unknown=1), NULL),
        (Cursor((1, 3)), 0),
    ):
        assert of_cursor(with_one_topic(ledgers, [cursor], marks))[2] == msgs
