"""The oldest position as the broker believes (§2.4: B12–B14, B23), and truly: the first live entry of a plain list."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_topic import Cursor, Ledger, Mark, Position, with_one_topic
from suite.examples import examples

from pipeline.rules.backlog import oldest as invariants
from pipeline.rules.backlog.layout import KNOWN, NOTHING, UNKNOWN_TIME
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record
from pipeline.rules.state import BrokerState
from schemas.outcomes import NULL

PRECISE = {"precise_check": 1}
#: Two closed ledgers of five entries and an open one, an entry each second.
LEDGERS = [Ledger(1, 5, close_ms=5_000), Ledger(2, 5, close_ms=10_000), Ledger(3, 4)]
MARKS = [Mark(1 + number // 5, number % 5, 1_000 * number) for number in range(14)]


@compiled
def update(check: Record, broker: Any) -> bool:
    return invariants.update_oldest(check, broker, 0)


@compiled
def truly(broker: Any, c: int) -> tuple[int, int]:
    return invariants.oldest_unacknowledged(broker.topics[0], broker.ledgers, broker.marks, broker.cursors[c], broker.words)


@compiled
def closed(broker: Any, ledger: int, entry: int) -> tuple[int, int]:
    return invariants.close_time(broker.topics[0], broker.ledgers, ledger, entry)


def checked(state: BrokerState) -> tuple[bool, int, int, int]:
    """(decides, what is known, ms, subscription) after a check."""
    check = state.group("backlog").topic_checks[0]
    decides = update(check, state.group("broker"))
    return decides, check.oldest, check.oldest_ms, check.oldest_sub


def move(state: BrokerState, c: int, to: Position) -> None:
    """A cursor that keeps its place in the heap moves, persisted."""
    cursor = state.group("broker").cursors[c]
    cursor.ledger, cursor.entry = cursor.persisted_ledger, cursor.persisted_entry = to


@pytest.mark.parametrize(("at", "ms"), [((1, -1), 0), ((1, 2), 3_000), ((1, 4), 5_000), ((0, 3), 0), ((2, -1), 5_000), ((3, 2), 13_000)])
def test_b12_a_precise_check_reads_the_entry_behind_the_slowest_cursor(at: Position, ms: int) -> None:
    state = with_one_topic(LEDGERS, [Cursor((3, 3)), Cursor(at)], MARKS, PRECISE)
    assert checked(state) == (True, KNOWN, ms, 101)


def test_a_precise_check_reads_acknowledged_entries_too() -> None:
    """§2.4 step 4: the next valid position, not the next live one."""
    state = with_one_topic(LEDGERS, [Cursor((1, -1), deleted=[(1, 0), (1, 1)])], MARKS, PRECISE)
    assert checked(state) == (True, KNOWN, 0, 100)
    assert truly(state.group("broker"), 0) == (2_000, 0)


def test_a_precise_check_that_cannot_read_leaves_things_as_they_are() -> None:
    """The slowest cursor stands at the end; another one, a reader, has a backlog."""
    state = with_one_topic(LEDGERS, [Cursor((3, 3)), Cursor((1, 0), durable=False)], MARKS, PRECISE)
    state.group("backlog").topic_checks[0].oldest_ms = 77
    assert checked(state) == (False, NOTHING, 77, 0)


def test_an_entry_that_was_not_seen_published_has_an_unknown_time() -> None:
    state = with_one_topic(LEDGERS, [Cursor((1, -1))], MARKS[1:], PRECISE)
    assert checked(state)[:2] == (True, UNKNOWN_TIME)


def test_where_nobody_knows_which_entries_are_deleted_the_true_oldest_is_not_known() -> None:
    """Three behind the position are: perhaps all that is left, so not even that there is one."""
    broker = with_one_topic(LEDGERS, [Cursor((3, 0))], MARKS, PRECISE).group("broker")
    assert truly(broker, 0) == (11_000, 0)
    broker.cursors[0].deleted_unknown = 3
    assert truly(broker, 0) == (NULL, 0)


@pytest.mark.parametrize(
    ("at", "known", "ms"),
    [
        ((1, -1), KNOWN, 5_000),  # B14: its ledger's close time
        ((1, 3), KNOWN, 5_000),
        ((1, 4), KNOWN, 10_000),  # B23: at the end of a ledger the next one's
        ((2, 4), NOTHING, 0),  # B23: which is open
        ((3, -1), NOTHING, 0),  # B13
        ((0, 8), KNOWN, 5_000),  # its ledger was trimmed: the next one's
    ],
)
def test_a_check_that_is_not_precise_takes_a_close_time(at: Position, known: int, ms: int) -> None:
    state = with_one_topic(LEDGERS, [Cursor((3, 2)), Cursor(at)])
    assert checked(state) == (True, known, ms, 101)


def test_an_empty_ledger_is_skipped_unless_it_is_the_last() -> None:
    ledgers = [Ledger(1, 2, close_ms=1), Ledger(2, 0, close_ms=2), Ledger(3, 1, close_ms=3), Ledger(4, 0)]
    broker = with_one_topic(ledgers, [Cursor((1, -1))]).group("broker")
    assert closed(broker, 1, 1) == (KNOWN, 3)
    assert closed(broker, 3, 0) == (NOTHING, 0)
    assert closed(broker, 9, 0) == (NOTHING, 0)


def test_without_a_backlog_of_a_subscription_there_is_no_oldest() -> None:
    """B20, B24: Pulsar's own cursors have none that counts; one that stands still is asked for again after it was null."""
    state = with_one_topic(LEDGERS, [Cursor((3, 3)), Cursor((1, -1), kind=3)], MARKS, PRECISE)
    state.group("backlog").topic_checks[0].oldest = KNOWN
    assert checked(state)[:2] == (True, NOTHING)
    assert checked(with_one_topic(LEDGERS, [Cursor((1, -1), durable=False)], MARKS, PRECISE))[:2] == (True, NOTHING)


def test_an_unmoved_position_keeps_its_time_and_takes_the_new_name() -> None:
    """§2.4 step 3. Trimming makes the broker look again."""
    state = with_one_topic(LEDGERS, [Cursor((1, 2)), Cursor((1, 2))], MARKS, PRECISE)
    check = state.group("backlog").topic_checks[0]
    assert checked(state) == (True, KNOWN, 3_000, 100)
    check.oldest_ms = 2_999  # would be 3000 if it was read again
    heap = state.group("broker").heap
    heap["cursor"][:2] = heap["cursor"][:2][::-1].copy()
    assert checked(state) == (True, KNOWN, 2_999, 101)
    move(state, 0, (1, 3))
    move(state, 1, (1, 3))
    assert checked(state) == (True, KNOWN, 4_000, 101)
    older = with_one_topic(LEDGERS[1:], [Cursor((1, 2))], MARKS[5:], PRECISE, trimmed=(5, 0))
    check = older.group("backlog").topic_checks[0]
    check.oldest, check.oldest_ledger, check.oldest_entry, check.oldest_ms = KNOWN, 1, 2, 3_000
    assert checked(older) == (True, KNOWN, 5_000, 100)


lengths = st.lists(st.integers(0, 4) | st.sampled_from([61, 62, 63, 124]), min_size=1, max_size=4)


@settings(max_examples=examples(100), deadline=None)
@given(lengths, st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(0, 3))
def test_the_true_oldest_is_the_first_live_entry(entries: list[int], at: int, run: int, hole: int, unseen: int) -> None:
    """Behind a position, a run of deleted entries, and some not seen published at the front."""
    places = [(ledger, entry) for ledger, count in enumerate(entries, 1) for entry in range(count)]
    times = {place: 1_000 + 7 * number for number, place in enumerate(places)}
    position = [(0, 3), *places][at % (len(places) + 1)]
    behind = [place for place in places if place > position]
    deleted = [place for number, place in enumerate(behind[:run]) if number != hole]
    first = next((place for place in behind if place not in set(deleted)), None)
    marks = [Mark(ledger, entry, times[ledger, entry], within_ms=ledger) for ledger, entry in places[unseen:]]
    ledgers = [Ledger(number, count) for number, count in enumerate(entries, 1)]
    broker = with_one_topic(ledgers, [Cursor(position, deleted)], marks).group("broker")
    is_seen = first is not None and first in places[unseen:]
    assert truly(broker, 0) == ((times[first], first[0]) if is_seen and first else (NULL, 0))
