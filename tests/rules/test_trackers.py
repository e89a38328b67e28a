"""Reasons to pause a connection against counts in a dict (ServerCnxThrottleTracker, §3.3): cases C9 and C10."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.layout import ATTACHMENT_ROW, NO_CONNECTION, NONE, PRODUCING
from pipeline.rules.channel import trackers as invariants
from pipeline.rules.channel.bundles import Reach
from pipeline.rules.channel.layout import (
    COOLDOWN_RATE,
    FIRST_COMPARED,
    FIRST_TYPE,
    NO_CHANNEL,
    OUTBOUND_BUFFER,
    PAUSED,
    RESOURCE_GROUP_PUBLISH_RATE,
    TOPIC_PAUSE_ROW,
    TOPIC_PUBLISH_RATE,
    TRANSITION_ROW,
    TYPE_COUNT,
)
from pipeline.rules.channel.transitions import LOGGED, Cause
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, empty_rows, record

COUNTS = record("out_transitions")
RE_ENTRANT = {TOPIC_PUBLISH_RATE, RESOURCE_GROUP_PUBLISH_RATE}
OFF, ON = 0, 1


@compiled
def believe(reach: Reach, on: int, what: int, at: int) -> None:
    """A reason set or cleared at `at` µs, as many thousand ns."""
    cause = Cause(LOGGED, at, at, 1000 * at, 0)
    if on:
        invariants.mark(reach, what, cause)
    else:
        invariants.unmark(reach, what, cause)


@compiled
def model(channel: Record, on: int, what: int, carries_throttles: int) -> None:
    if on:
        invariants.mark_modelled(channel, what, carries_throttles)
    else:
        invariants.unmark_modelled(channel, what, carries_throttles)


@compiled
def compare(channel: Record, on: int, what: int) -> None:
    invariants.compare_logged(channel, what, on)


class Connection:
    """One connection with 3 producers of a topic and 2 of another."""

    def __init__(self) -> None:
        self.connection, self.channel = NO_CONNECTION.copy()[0], NO_CHANNEL.copy()[0]
        self.connection.endpoints[PRODUCING], self.connection.targets[PRODUCING] = 5, 2
        self.connection.first_attachment[PRODUCING] = 1
        self.attachments, self.pauses = empty_rows(ATTACHMENT_ROW, 2), empty_rows(TOPIC_PAUSE_ROW, 2)
        self.attachments["target"], self.attachments["endpoints"] = [0, 1], [3, 2]
        self.attachments["next_of_connection"] = [NONE, 0]
        self.transitions, self.counts = empty_rows(TRANSITION_ROW, 500), empty_rows(COUNTS, 1)[0]
        self.reach = Reach(self.connection, self.channel, self.attachments, self.pauses, self.transitions, self.counts)

    def believe(self, on: int, what: int, at: int = 0) -> None:
        believe(self.reach, on, what, at)

    def rows(self, *names: str) -> list[tuple[int, ...]]:
        return [tuple(int(row[name]) for name in names) for row in self.transitions[: self.counts.out_transitions]]


reasons = st.tuples(st.sampled_from([ON, OFF]), st.integers(0, TYPE_COUNT - 1))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(reasons, max_size=60))
def test_auto_read_is_off_exactly_while_any_reason_is_set(todo: list[tuple[int, int]]) -> None:
    """Both trackers count alike; what is dropped changes neither, and leaves no row."""
    connection, held, dropped, changes = Connection(), Counter[int](), 0, list[tuple[int, ...]]()
    row, paused_since, paused_us = connection.channel, 0, 0
    for at, (on, what) in enumerate(todo, 1):
        connection.believe(on, what, at)
        model(row, on, what, 0)
        before = held.total()
        if (not held[what]) if not on else (held[what] and what not in RE_ENTRANT):
            dropped += 1
            continue
        held[what] += 1 if on else -1
        after = held.total()
        if on and not before:
            paused_since = at
        if before and not after:
            paused_us += at - paused_since
        changes.append((at, what, int(after == 0), after, int((before == 0) != (after == 0))))
        assert row.believed.tolist() == row.modelled.tolist() == [held[k] for k in range(TYPE_COUNT)]
        assert row.throttled == row.modelled_throttled == after
        assert row.running.tolist()[PAUSED] == (after > 0)
        assert row.running.tolist()[FIRST_TYPE:] == [int(held[k] > 0) for k in range(TYPE_COUNT)]
        assert connection.pauses["paused_connections"].tolist() == [int(after > 0)] * 2
    assert row.marks_dropped == dropped
    assert connection.rows("seq", "throttle_type", "auto_read", "throttle_count", "changed_connection") == changes
    pauses = sum(1 for change in changes if change[4] and not change[2])
    assert row.paused_count == row.modelled_paused_count == pauses
    assert row.resumed_count == row.modelled_resumed_count == sum(1 for change in changes if change[4] and change[2])
    assert row.lasted_ns[PAUSED] == 1000 * paused_us
    assert connection.pauses["publish_limited_times"].tolist() == [3 * pauses, 2 * pauses]
    assert (row.producers_paused_max, row.topics_paused_max) == ((5, 2) if pauses else (0, 0))


def test_c9_a_connection_goes_on_when_its_last_reason_is_cleared() -> None:
    connection = Connection()
    for on, what in ((ON, COOLDOWN_RATE), (ON, OUTBOUND_BUFFER), (OFF, COOLDOWN_RATE), (OFF, OUTBOUND_BUFFER)):
        connection.believe(on, what)
    assert connection.rows("auto_read", "throttle_count", "changed_connection") == [(0, 1, 1), (0, 2, 0), (0, 1, 0), (1, 0, 1)]


def test_c10_only_publish_rates_are_set_twice() -> None:
    connection = Connection()
    for on in (ON, ON, OFF, OFF):
        connection.believe(on, OUTBOUND_BUFFER)
    assert (connection.channel.throttled, connection.channel.marks_dropped) == (0, 2)
    for on in (ON, ON, OFF):
        connection.believe(on, TOPIC_PUBLISH_RATE)
    assert (connection.channel.throttled, connection.channel.marks_dropped) == (1, 2)


@pytest.mark.parametrize("what", [OUTBOUND_BUFFER, COOLDOWN_RATE])
def test_what_the_log_shows_is_compared_with_what_was_expected(what: int) -> None:
    """Shown as expected: agreed. Not expected: only logged. Expected anew before it was shown: only modelled."""
    channel, kind = NO_CHANNEL.copy()[0], what - FIRST_COMPARED
    for act, on in ((compare, ON), (model, ON), (compare, ON), (compare, ON), (model, OFF), (model, ON), (compare, OFF), (compare, ON)):
        act(channel, on, what, 1) if act is model else act(channel, on, what)
    assert (channel.agreed[kind], channel.only_logged[kind], channel.only_modelled[kind]) == (2, 3, 1)
    assert channel.agreed[1 - kind] == channel.only_logged[1 - kind] == channel.only_modelled[1 - kind] == 0


def test_a_log_without_throttle_events_is_not_compared() -> None:
    channel = NO_CHANNEL.copy()[0]
    for on in (ON, OFF, ON):
        model(channel, on, COOLDOWN_RATE, 0)
    assert not channel.only_modelled.any()


def test_publish_rates_are_never_expected() -> None:
    channel = NO_CHANNEL.copy()[0]
    for what in RE_ENTRANT:
        model(channel, ON, what, 1)
    assert channel.expected.tolist() == [NONE, NONE]
