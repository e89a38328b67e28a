"""Timers of all connections against a sorted list: due first, then by connection, then by kind; what came to nothing is passed over."""

from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.layout import NONE
from pipeline.rules.channel import timers as invariants
from pipeline.rules.channel.bundles import Timing
from pipeline.rules.channel.layout import CLOCK_ROW, COOLDOWN, COOLDOWN_ENDS, NO_CHANNEL, PAUSE_ENDS, TIMER_ROW
from pipeline.rules.compiled import compiled
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record, Records, empty_rows, record

COUNTS = record("timers")
CONNECTIONS = 5


@compiled
def set_timer(timers: Records, clock: Record, counts: Record, channel: Record, conn: int, c: int, kind: int) -> None:
    invariants.set_timer(Timing(timers, clock, counts), channel, conn, c, kind)


@compiled
def take_due(timers: Records, clock: Record, counts: Record, channels: Records, until_ns: int) -> tuple[int, int, int]:
    """(due, row, kind) of the earliest timer if it is due, taken out as by who fires it; else (−1, −1, −1)."""
    timing = Timing(timers, clock, counts)
    if not invariants.is_any_due(timing, channels, until_ns):
        return -1, -1, -1
    due_ns, c, kind = timers[0].due_ns, timers[0].connection, timers[0].kind
    invariants.remove_first(timing)
    channels[c].queued_ns[kind] = NONE
    return due_ns, c, kind


@compiled
def estimated_ts(channel: Record, kind: int) -> int:
    return invariants.estimated_ts(channel, kind)


class Timers:
    """The heap, and when each timer is due in a dict."""

    def __init__(self) -> None:
        self.timers, self.clock, self.counts = empty_rows(TIMER_ROW, 1_000), empty_rows(CLOCK_ROW, 1)[0], empty_rows(COUNTS, 1)[0]
        self.clock.next_due_ns = INT64_MAX
        self.channels = empty_rows(NO_CHANNEL.dtype, CONNECTIONS)
        self.channels[:] = NO_CHANNEL[0]
        self.due: dict[tuple[int, int], int] = {}

    def set(self, c: int, kind: int, due_ns: int) -> None:
        """Due from now on at that time, earlier or later than before."""
        channel, self.due[c, kind] = self.channels[c], due_ns
        if kind == PAUSE_ENDS:
            channel.paused_by_cooldown, channel.due_ns = 1, due_ns
        else:
            channel.running[COOLDOWN], channel.cooldown_end_ns = 1, due_ns
        set_timer(self.timers, self.clock, self.counts, channel, self.conn(c), c, kind)

    def stop(self, c: int, kind: int) -> None:
        self.due.pop((c, kind), None)
        if kind == PAUSE_ENDS:
            self.channels[c].paused_by_cooldown = 0
        else:
            self.channels[c].running[COOLDOWN] = 0

    @staticmethod
    def conn(c: int) -> int:
        """Ids of connections are in another order than their rows."""
        return 100 - c

    def fire(self, until_ns: int) -> list[tuple[int, int, int]]:
        fired = []
        while (first := take_due(self.timers, self.clock, self.counts, self.channels, until_ns))[0] >= 0:
            self.stop(first[1], first[2])
            fired.append(tuple(map(int, first)))
        return fired

    def expected(self, until_ns: int) -> list[tuple[int, int, int]]:
        rows = [(due_ns, self.conn(c), kind, c) for (c, kind), due_ns in self.due.items() if due_ns <= until_ns]
        return [(due_ns, c, kind) for due_ns, _, kind, c in sorted(rows)]


SET, STOP, FIRE = range(3)
steps = st.tuples(
    st.sampled_from([SET] * 6 + [STOP, FIRE]),
    st.integers(0, CONNECTIONS - 1),
    st.sampled_from([PAUSE_ENDS, COOLDOWN_ENDS]),
    st.integers(0, 9),
)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(steps, max_size=60))
def test_timers_fire_in_order_when_they_are_due_now(todo: list[tuple[int, int, int, int]]) -> None:
    """However often one was moved back or forward, or stopped, on the way."""
    timers, now_ns = Timers(), 0
    for what, c, kind, later_ns in [*todo, (FIRE, 0, 0, 100)]:
        if what == SET:
            timers.set(c, kind, now_ns + later_ns)
        elif what == STOP:
            timers.stop(c, kind)
        else:
            now_ns += later_ns
            expected = timers.expected(now_ns)
            assert timers.fire(now_ns) == expected
        assert timers.clock.next_due_ns <= min(timers.due.values(), default=INT64_MAX), "none may be overslept"
    assert (timers.due, timers.counts.timers, timers.clock.next_due_ns) == ({}, 0, INT64_MAX)


def test_moving_a_timer_back_adds_none() -> None:
    timers = Timers()
    for due_ns in range(10, 60):
        timers.set(0, COOLDOWN_ENDS, due_ns)
    assert timers.counts.timers == 1
    assert timers.fire(58) == []
    assert timers.counts.timers == 1, "it waits again"
    assert timers.fire(59) == [(59, 0, COOLDOWN_ENDS)]


def test_of_one_instant_the_smaller_connection_comes_first_and_its_pause_before_its_cooldown() -> None:
    timers = Timers()
    for c in range(3):
        timers.set(c, COOLDOWN_ENDS, 7)
        timers.set(c, PAUSE_ENDS, 7)
    in_order = [(c, kind) for c in (2, 1, 0) for kind in (PAUSE_ENDS, COOLDOWN_ENDS)]
    assert [(c, kind) for _, c, kind in timers.fire(7)] == in_order


def test_the_wall_clock_of_a_timer_is_as_far_from_its_mark_as_the_other_clock_is() -> None:
    channel = NO_CHANNEL.copy()[0]
    channel.marked_ts, channel.marked_ns, channel.due_ns, channel.close_at_us = 1_000_000, 500, 10_000_999, 77
    assert (estimated_ts(channel, PAUSE_ENDS), estimated_ts(channel, COOLDOWN_ENDS)) == (1_010_000, 77)
