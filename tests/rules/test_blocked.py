"""Blocked time against a sum of stretches by level, and what waits beyond a reading."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.layout import LEVEL_COUNT, NEW_TOPIC, NO_READING, NONE
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record
from pipeline.rules.throttle import blocked as invariants
from pipeline.rules.throttle.layout import NO_THROTTLING


@compiled
def charge(throttling: Record, until_ns: int) -> None:
    invariants.charge_blocked_time(throttling, until_ns)


@compiled
def border(throttling: Record, border_us: int, border_ns: int) -> int:
    return invariants.border_of_blocked_time(throttling, border_us, border_ns)


@compiled
def wait(throttling: Record, reading: Record, topic: Record) -> None:
    invariants.note_waiting(throttling, reading, topic)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.integers(-1, LEVEL_COUNT - 1), st.lists(st.integers(-50, 1_000), min_size=1, max_size=4)), max_size=12))
def test_blocked_time_is_its_levels_however_often_it_is_charged(stretches: list[tuple[int, list[int]]]) -> None:
    """A charge up to a moment before the last one adds nothing and takes nothing back."""
    throttling, ns, by_level = NO_THROTTLING.copy()[0], 10_000, [0] * LEVEL_COUNT
    for level, charges in stretches:
        throttling.blocked_level, throttling.blocked_at_ns = level, ns
        latest = ns
        for later in charges:
            charge(throttling, latest + later)
            latest = max(latest, latest + later)
        if level != NONE:
            by_level[level] += latest - ns
        ns = latest
    assert throttling.blocked_ns_by.tolist() == by_level
    assert throttling.blocked_ns == sum(by_level)


@pytest.mark.parametrize(("border_us", "border_ns", "at"), [(5, 9_000, 5_000), (1, 9_000, 4_000), (5, 4_500, 4_500), (5, 1, 4_000)])
def test_a_border_lies_within_the_stretch(border_us: int, border_ns: int, at: int) -> None:
    throttling = NO_THROTTLING.copy()[0]
    throttling.blocked_at_ts = 4
    throttling.blocked_at_ns = 4_000
    assert border(throttling, border_us, border_ns) == at


@pytest.mark.parametrize(("known", "read", "waiting"), [(1, (3, 30), (7, 70)), (1, (12, 120), (0, 0)), (0, (3, 30), (0, 0))])
def test_what_waits_is_what_lies_beyond_the_reading(known: int, read: tuple[int, int], waiting: tuple[int, int]) -> None:
    throttling, reading, topic = NO_THROTTLING.copy()[0], NO_READING.copy()[0], NEW_TOPIC.copy()[0]
    topic.end_entries, topic.end_bytes = 10, 100
    reading.known, (reading.entries, reading.bytes) = known, read
    throttling.waiting_entries = throttling.waiting_bytes = 99
    wait(throttling, reading, topic)
    assert (throttling.waiting_entries, throttling.waiting_bytes) == waiting
