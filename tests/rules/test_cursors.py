"""A cursor against a set of its live entries: whatever moves it, its history explains its backlog to the last entry."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_topic import Cursor, Ledger, Position, with_one_topic
from suite.examples import examples

from pipeline.rules import blocks
from pipeline.rules.blocks import Blocks
from pipeline.rules.broker import cursors as invariants
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, Records

ACK, CUMULATIVE, MARK_DELETE, SEEK, PUBLISH, EVICT = range(6)
TRIMMED = (5, 50)
LEDGERS = (4, 0, 3, 5)  # entries of ledgers 2 to 5; the last one grows


@compiled
def act(topic: Record, ledgers: Records, marks: Blocks, cursor: Record, words: Blocks, what: int, ledger: int, entry: int) -> None:
    if what == ACK:
        invariants.acknowledge(topic, marks, cursor, words, ledger, entry)
    elif what == CUMULATIVE:
        invariants.acknowledge_up_to(cursor, ledger, entry)
    elif what == SEEK:
        invariants.seek(topic, ledgers, cursor, words, ledger, entry)
    else:
        cursor.evicting = 1 if what == EVICT else 0
        invariants.mark_delete(topic, ledgers, cursor, words, ledger, entry, topic.end_entries, 0)
        cursor.evicting = 0


@compiled
def look(topic: Record, ledgers: Records, cursor: Record, words: Blocks, ledger: int, entry: int) -> tuple[int, int, bool]:
    """(backlog, what its history does not explain, whether acknowledgements explain a move to the position)."""
    backlog = invariants.backlog_entries(topic, ledgers, cursor)
    explains = invariants.is_acknowledged_up_to(topic, ledgers, cursor, words, ledger, entry)
    return backlog, invariants.unexplained(topic, cursor, backlog), explains


class Book:
    """A topic's entries, one cursor's live ones, and how the others ended. `hidden` ones are deleted, but nobody named them."""

    def __init__(self, at: Position, hidden: Sequence[Position] = ()) -> None:
        self.entries = [(ledger, entry) for ledger, count in enumerate(LEDGERS, 2) for entry in range(count)]
        self.at, self.cumulative = at, (-1, -1)
        self.live = {each for each in self.entries if each > at} - set(hidden)
        self.gone = dict.fromkeys(("acknowledged", "evicted", "expired", "sought"), 0)

    def act(self, what: int, to: Position) -> None:
        if what == ACK and to in self.live:
            self.live.remove(to)
            self.gone["acknowledged"] += 1
        elif what == CUMULATIVE:
            self.cumulative = to
        elif what == SEEK:
            before, self.live = len(self.live), {each for each in self.entries if each > to}
            self.gone["sought"] += len(self.live) - before
            self.at, self.cumulative = to, (-1, -1)
        elif what == PUBLISH:
            last = self.entries[-1][1]
            self.entries += [(5, entry) for entry in range(last + 1, last + 1 + to[1])]
            self.live |= set(self.entries[-to[1] :])
        elif what in (MARK_DELETE, EVICT):
            passed = {each for each in self.live if each <= to}
            asked = {each for each in passed if each <= self.cumulative}
            self.at, self.live = to, self.live - passed
            self.gone["acknowledged"] += len(asked)
            self.gone["evicted" if what == EVICT else "expired"] += len(passed - asked)

    def is_acknowledged_up_to(self, to: Position) -> bool:
        passed = [each for each in self.entries if self.at < each <= to]
        return to <= self.at or (bool(passed) and (to <= self.cumulative or not self.live & set(passed)))

    def slide(self) -> Position:
        """Where the acknowledged run right behind the position ends."""
        at = self.at
        for each in self.entries:
            if each > at:
                if each in self.live:
                    break
                at = each
        return at


class Machine:
    """The same topic and cursor in rows."""

    def __init__(self, book: Book, unknown: int = 0) -> None:
        ledgers = [Ledger(number, entries, 10 * entries) for number, entries in enumerate(LEDGERS, 2)]
        state = with_one_topic(ledgers, [Cursor(book.at, deleted_unknown=unknown)], trimmed=TRIMMED)
        broker = state.group("broker")
        self.topic, self.ledgers, self.cursors, self.words = broker.topics[0], broker.ledgers, broker.cursors, broker.words
        self.cursor, self.marks = self.cursors[0], broker.marks
        self.cursor.opened_backlog, self.cursor.opened_end = len(book.live), self.topic.end_entries

    def act(self, what: int, to: Position) -> None:
        if what == PUBLISH:
            self.ledgers["entries"][int(np.flatnonzero(self.ledgers["ledger"] == 5)[0])] += to[1]
            self.topic.end_entries += to[1]
            return
        self.words = blocks.with_room(self.cursors["words"][:1], self.words)
        act(self.topic, self.ledgers, self.marks, self.cursor, self.words, what, *to)

    def look(self, to: Position) -> tuple[int, int, bool]:
        return look(self.topic, self.ledgers, self.cursor, self.words, *to)


#: In a trimmed ledger, in an empty one, at either end of others.
positions = st.tuples(st.integers(1, 5), st.integers(-1, 6))
kinds = st.sampled_from([ACK] * 8 + [CUMULATIVE, MARK_DELETE, MARK_DELETE, EVICT, SEEK, PUBLISH])


@settings(max_examples=examples(200), deadline=None)
@given(positions, st.lists(st.tuples(kinds, positions), max_size=40))
def test_its_history_explains_its_backlog(start: Position, todo: list[tuple[int, Position]]) -> None:
    book = Book(min(start, (5, 4)))
    machine = Machine(book)
    for what, to in todo:
        to = min(to, book.entries[-1])  # no position lies behind the last entry
        if (what in (MARK_DELETE, EVICT) and to < book.at) or (what == ACK and to not in book.entries):
            continue
        if what == PUBLISH:
            to = (5, max(1, to[1]))
        assert machine.look(to)[2] == book.is_acknowledged_up_to(to)
        book.act(what, to)
        machine.act(what, to)
        assert machine.look(to)[:2] == (len(book.live), 0)
        assert {name: machine.cursor[name] for name in book.gone} == book.gone
        assert machine.cursor.deleted == sum(each > book.at for each in book.entries) - len(book.live)


@settings(max_examples=examples(200), deadline=None)
@given(st.sets(st.sampled_from(Book((1, -1)).entries[1:]), max_size=8), st.lists(st.sampled_from(Book((1, -1)).entries), max_size=12))
def test_deleted_entries_that_nobody_named_are_found_when_acknowledgements_pass_them(hidden: set[Position], acks: list[Position]) -> None:
    """As long as only acknowledgements move the cursor, it knows how many are left to be passed. None lies right behind its position."""
    book = Book((1, 9), list(hidden))
    machine = Machine(book, len(hidden))
    for to in acks:
        if to in book.live:
            book.act(ACK, to)
            machine.act(ACK, to)
        end = book.slide()
        if end > book.at:
            assert machine.look(end)[2]
            book.act(MARK_DELETE, end)
            machine.act(MARK_DELETE, end)
        assert machine.look(to)[:2] == (len(book.live), 0)
        assert machine.cursor.deleted_unknown == sum(each > book.at for each in hidden)
        assert (machine.cursor.acknowledged, machine.cursor.expired) == (book.gone["acknowledged"], 0)


@settings(max_examples=examples(200), deadline=None)
@given(st.sets(st.sampled_from(Book((1, -1)).entries), max_size=8), st.lists(st.tuples(kinds, positions), max_size=12))
def test_what_nobody_named_never_outnumbers_what_is_left(hidden: set[Position], todo: list[tuple[int, Position]]) -> None:
    """Whatever moves the cursor: of the entries behind it no more can be deleted than there are, and its history explains all."""
    book = Book((1, 9), list(hidden))
    machine = Machine(book, len(hidden))
    for what, to in todo:
        if (what in (MARK_DELETE, EVICT) and to < book.at) or (what == ACK and to not in book.live) or what == PUBLISH:
            continue
        book.act(what, to)
        machine.act(what, to)
        backlog, unexplained, _ = machine.look(to)
        behind = sum(each > book.at for each in book.entries)
        assert unexplained == 0
        assert 0 <= machine.cursor.deleted_unknown <= len(hidden)
        assert machine.cursor.deleted + machine.cursor.deleted_unknown + backlog == behind


def test_a_move_that_does_not_begin_with_an_acknowledged_entry_is_none_of_acknowledgements() -> None:
    """Whatever nobody named may lie where it goes: an eviction took it there (§2.2)."""
    machine = Machine(Book((1, 9), [(2, 1), (5, 4)]), 2)
    assert not machine.look((2, 1))[2]
    machine.act(ACK, (2, 0))
    assert machine.look((2, 1))[2]


@pytest.mark.parametrize(("what", "left"), [(MARK_DELETE, 1), (EVICT, 3)])
def test_an_eviction_takes_only_those_that_cannot_be_left(what: int, left: int) -> None:
    """Of 3 unnamed ones among 12 entries a move over 2 may pass none, if it also passes live ones; a slide passes nothing else."""
    book = Book((1, 9), [(2, 0), (2, 1), (5, 4)])
    machine = Machine(book, 3)
    machine.act(what, (2, 1))
    assert machine.cursor.deleted_unknown == left


def test_a_seek_forgets_what_was_deleted_and_can_go_back() -> None:
    book = Book((4, -1))
    machine = Machine(book)
    for what, to in ((ACK, (4, 2)), (CUMULATIVE, (4, 1)), (SEEK, (2, 0))):
        machine.act(what, to)
    assert machine.look((9, 9))[:2] == (3 + 3 + 5, 0)
    assert (machine.cursor.deleted, machine.cursor.sought) == (0, 11 - 7)
    assert (machine.cursor.cumulative_ledger, machine.cursor.cumulative_entry) == (-1, -1)
