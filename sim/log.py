"""The event log of one epoch: the envelope of every event, and the broker's two clocks."""

from collections.abc import Sequence

from sim.agenda import Agenda, ns
from sim.faults import Carrier
from sim.scenario import ClockStep

#: The monotonic clock of the hosts at the start of a scenario: any number, only differences mean something.
HOST_NS = 5_000_000_000_000
#: Events of one instant lie this far apart, in the order in which they happened.
APART_NS = 1_000


class WallClock:
    """Time of day in µs at an instant of the scenario; it steps when it is set."""

    def __init__(self, start_us: int, steps: Sequence[ClockStep]) -> None:
        self._start_us = start_us
        self._steps = sorted((ns(step.at_s), round(step.by_s * 1_000_000)) for step in steps)

    def segments(self) -> list[tuple[int, int]]:
        """(ns of the scenario from which it holds, µs that the clock is ahead of the true time): in order, the first one from 0 on."""
        found = [(0, 0)]
        for at_ns, by_us in self._steps:
            found.append((at_ns, found[-1][1] + by_us))
        return found

    def us_at(self, at_ns: int) -> int:
        """µs since 1970 that the clock shows at `at_ns`."""
        shown = self._start_us + at_ns // 1000
        for step_ns, by_us in self._steps:
            if at_ns < step_ns:
                break
            shown += by_us
        return shown


class EventLog:
    """Events in the order of their `seq`. Take the time of an event by `stamp`, then write the event."""

    def __init__(self, broker: str, epoch_ms: int, agenda: Agenda, clock: WallClock, carrier: Carrier) -> None:
        self.broker, self.epoch_ms, self.seq = broker, epoch_ms, 0
        self._agenda, self._clock, self._carrier = agenda, clock, carrier
        self._last_ns = -1
        self._head = f'{{"v":1,"broker":"{broker}","epoch":{epoch_ms},"seq":'

    def now_ns(self) -> int:
        """The scenario's time, never before the last event."""
        return max(self._agenda.now_ns, self._last_ns)

    def now_us(self) -> int:
        """What the broker's wall clock shows now."""
        return self._clock.us_at(self.now_ns())

    def stamp(self) -> int:
        """The instant of the next event."""
        now_ns = self._agenda.now_ns
        if now_ns < self._last_ns + APART_NS:
            now_ns = self._last_ns + APART_NS
        self._last_ns = now_ns
        return now_ns

    def write(self, at_ns: int, event: str) -> None:
        """`event`: the members from `"type"` on, without the closing brace."""
        self.seq += 1
        line = f'{self._head}{self.seq},"ts":{self._clock.us_at(at_ns)},"ns":{HOST_NS + at_ns},"type":{event}}}'
        self._carrier.carry(at_ns, line)

    def add(self, event: str) -> int:
        """Stamp and write; the instant."""
        at_ns = self.stamp()
        self.write(at_ns, event)
        return at_ns

    def lost(self) -> int:
        """Events that were lost since the start: the broker's collector counts them."""
        return self._carrier.lost
