"""Where a subscription reads on its topic's scale: never beyond the end, moved only by ledgers that are there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_topic import Cursor, Ledger, Position, with_one_topic
from suite.examples import examples

from pipeline.rules.broker import readings as invariants
from pipeline.rules.broker.layout import NO_READING
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, Records

OPEN, MOVE, SEEK, READ, CONSUMER_COMES, CONSUMER_GOES, MEET = range(7)
#: Behind 5 entries of 50 bytes that were trimmed; ledger 3 is empty.
LEDGERS, TRIMMED = [Ledger(2, 4, 402), Ledger(3, 0), Ledger(4, 6, 60)], (5, 50)
END = (15, 512)


@compiled
def act(reading: Record, topic: Record, ledgers: Records, what: int, first: int, second: int) -> None:
    if what == OPEN:
        invariants.open_reading(reading, topic, ledgers, first, second, 0)
    elif what in (MOVE, SEEK):
        invariants.move_reading(reading, topic, ledgers, first, second, what == SEEK)
    elif what == READ:
        invariants.read_up_to(reading, topic, first, second)
    elif what == MEET:
        invariants.meet_reading(reading, topic)
    else:
        invariants.count_consumer(reading, topic, what == CONSUMER_COMES)


@compiled
def open_behind(reading: Record, topic: Record, ledgers: Records, ledger: int, entry: int, deleted_behind: int) -> None:
    invariants.open_reading(reading, topic, ledgers, ledger, entry, deleted_behind)


def place(at: Position) -> tuple[int, int] | None:
    """Entries and estimated bytes up to a position; None: its ledger is not in the list."""
    entries, size = TRIMMED
    for ledger in LEDGERS:
        if ledger.id == at[0]:
            if at[1] + 1 >= ledger.entries:
                return entries + ledger.entries, size + (ledger.bytes if ledger.entries and at[1] >= 0 else 0)
            return entries + at[1] + 1, size + (at[1] + 1) * (ledger.bytes // ledger.entries)
        entries, size = entries + ledger.entries, size + ledger.bytes
    return None


def topic_rows() -> tuple[Record, Records]:
    broker = with_one_topic(LEDGERS, [Cursor((0, -1))], trimmed=TRIMMED).group("broker")
    return broker.topics[0], broker.ledgers


steps = st.tuples(st.sampled_from(range(7)), st.integers(1, 5), st.integers(-1, 6))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(steps, max_size=25))
def test_a_reading_goes_on_from_where_it_was_moved(todo: list[tuple[int, int, int]]) -> None:
    (topic, ledgers), reading = topic_rows(), NO_READING.copy()[0]
    act(reading, topic, ledgers, MEET, 0, 0)
    deleted, read, consumers = END, END, 0
    for what, ledger, entry in todo:
        at = place((ledger, entry))
        if what == READ:
            ledger, entry = 4 * ledger, 90 * entry + 90
            read = END if ledger >= END[0] else (ledger, min(entry, END[1]))
        elif what == OPEN:
            deleted = read = at or END
            consumers = 0
        elif what in (MOVE, SEEK) and at is not None:
            deleted = at
            read = at if what == SEEK or at[0] > read[0] else read
        elif what == CONSUMER_COMES:
            consumers += 1
        elif what == CONSUMER_GOES:
            consumers = max(0, consumers - 1)
            read = deleted if consumers == 0 else read
        read = END if read[0] >= END[0] else read
        act(reading, topic, ledgers, what, ledger, entry)
        assert (reading.entries, reading.bytes) == read
        assert (reading.deleted_entries, reading.deleted_bytes) == deleted
        assert reading.consumers == consumers


@pytest.mark.parametrize(
    ("at", "deleted_behind", "read"),
    [((2, 0), 0, (6, 150)), ((2, 0), 2, (8, 350)), ((2, -1), 99, END), ((3, -1), 1, (10, 452)), ((9, 0), 3, END)],
)
def test_a_cursor_opens_behind_what_it_has_deleted(at: Position, deleted_behind: int, read: tuple[int, int]) -> None:
    """Each at the average of the position's ledger."""
    (topic, ledgers), reading = topic_rows(), NO_READING.copy()[0]
    open_behind(reading, topic, ledgers, *at, deleted_behind)
    assert (reading.entries, reading.bytes) == read
