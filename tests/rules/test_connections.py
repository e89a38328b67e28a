"""All connections together against sets of those that are open and of those that are unwritable."""

from functools import reduce
from operator import xor

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.array import Array
from pipeline.rules.broker import connections as invariants
from pipeline.rules.broker.attachments import Links
from pipeline.rules.broker.layout import (
    ATTACHMENT_ROW,
    CONNECTION_ROW,
    CONNECTIVITY_ROW,
    ENDPOINT_ROW,
    NEW_SUBSCRIPTION,
    NEW_TOPIC,
    NO_CONNECTION,
    NONE,
    SETTINGS_ROW,
)
from pipeline.rules.compiled import compiled
from pipeline.rules.index import new_index
from pipeline.rules.records import Record, as_numbers, empty_rows, record

COUNTS = record("connections")
IDS = (7, 12, 900)
OPEN, MEET, UNWRITABLE, WRITABLE, CLOSE = range(5)


@compiled
def meet_all(links: Links, index: Array, counts: Record, ids: Array) -> None:
    for number in ids:
        invariants.new_connection(links.connections, index, counts, number)


@compiled
def change(links: Links, settings_row: Record, c: int, what: int, seq: int) -> None:
    connection, connectivity = links.connections[c], links.connectivity
    if what == CLOSE:
        invariants.close_connection(links, c)
    elif what == OPEN:
        invariants.open_connection(connection, connectivity, settings_row, seq, 10 * seq, True)
    else:
        invariants.ensure_connected(connection, connectivity, settings_row, seq, 10 * seq)
        if what != MEET:
            invariants.set_writable(connection, connectivity, what - UNWRITABLE, seq)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(IDS) - 1), st.sampled_from([OPEN, MEET, UNWRITABLE, UNWRITABLE, WRITABLE, CLOSE])), max_size=40)
)
def test_counts_are_those_of_the_sets(todo: list[tuple[int, int]]) -> None:
    counts, connectivity = empty_rows(COUNTS, 1)[0], empty_rows(CONNECTIVITY_ROW, 1)[0]
    links = Links(
        connectivity, empty_rows(CONNECTION_ROW, 4), NEW_TOPIC.copy(), NEW_SUBSCRIPTION.copy(),
        empty_rows(ATTACHMENT_ROW, 4), empty_rows(ENDPOINT_ROW, 4),
    )  # fmt: skip
    settings_row = empty_rows(SETTINGS_ROW, 1)[0]
    settings_row.losses = 3
    meet_all(links, new_index(8), counts, np.array(IDS))
    life: dict[int, tuple[int, bool]] = {}  # of those that are open: how it began, and whether that was seen
    unwritable, again = set[int](), 0
    for seq, (c, what) in enumerate(todo, 1):
        if what == OPEN and c in life:
            continue  # rules close the one before
        change(links, settings_row, c, what, seq)
        was_unwritable = c in unwritable
        if what == CLOSE:
            life.pop(c, None)
        else:
            life.setdefault(c, (seq, what == OPEN))
        unwritable = unwritable | {c} if what == UNWRITABLE else unwritable - {c} if what in (WRITABLE, CLOSE) else unwritable
        again += was_unwritable and c not in unwritable
        assert (connectivity.open, connectivity.unwritable, connectivity.changes) == (len(life), len(unwritable), again)
        assert connectivity.unwritable_ids == reduce(xor, (IDS[each] for each in unwritable), 0)
        for row, connection in enumerate(links.connections[: counts.connections]):
            assert (connection.id, connection.open, connection.writable) == (IDS[row], row in life, row not in unwritable)
            if row in life:
                assert (connection.life, connection.began_complete, connection.losses_at_open) == (*life[row], 3)
        if what == CLOSE:
            expected = NO_CONNECTION.copy()
            expected["id"] = IDS[c]
            assert as_numbers(links.connections[c : c + 1]).tolist() == as_numbers(expected).tolist()


def test_a_connection_has_no_level_before_its_first_crossing() -> None:
    assert (NO_CONNECTION[0].pending_bytes, NO_CONNECTION[0].writable) == (NONE, 1)
