"""The time that all charts of a page share, and where the log has gaps in it. In percent from the left. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

_MOST_TICKS = 7
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: A gap is seen, however short it is.
_LEAST_GAP = 0.4
#: From the first to the last instant of which events are lost.
Lost = tuple[datetime, datetime]


class Tick(NamedTuple):
    """A place on an axis in percent of it, and its value: a number, or an instant."""

    at: float
    value: Any


class Gap(NamedTuple):
    """A part of the axis of which events are lost."""

    x: float
    width: float
    start: datetime
    end: datetime


class Axis(NamedTuple):
    """From `start` to `end`. `lost`: stretches of which events are lost, in order, apart from each other."""

    start: datetime
    end: datetime
    lost: tuple[Lost, ...] = ()

    def place(self, at: datetime) -> float:
        """Percent from the left, within the axis."""
        return round(min(100.0, max(0.0, (at - self.start) / (self.end - self.start) * 100)), 2)

    def ticks(self) -> list[Tick]:
        """On round times, seven at most."""
        length_s = (self.end - self.start).total_seconds()
        step = next((one for one in _STEPS_S if length_s / one <= _MOST_TICKS), ceil(length_s / _MOST_TICKS))
        first = ceil((self.start - _EPOCH).total_seconds() / step)
        instants = (_EPOCH + timedelta(seconds=number * step) for number in range(first, first + _MOST_TICKS + 1))
        return [Tick(self.place(at), at) for at in instants if at <= self.end]

    def gaps(self) -> list[Gap]:
        """Where charts are hatched."""
        found = []
        for start, end in self.lost:
            x, until = self.place(start), self.place(end)
            found.append(Gap(min(x, 100 - _LEAST_GAP), round(max(until - x, _LEAST_GAP), 2), start, end))
        return found

    def is_lost_between(self, start: datetime, end: datetime) -> bool:
        """Whether a gap lies between two instants, in part at least."""
        return any(first < end and last > start for first, last in self.lost)


def axis(start: datetime, end: datetime, lost: Sequence[Lost] = ()) -> Axis:
    """From `start` to `end`, and a second at least. Of `lost` remains the part within it, joined where it touches."""
    end = max(end, start + timedelta(seconds=1))
    joined: list[Lost] = []
    for first, last in sorted((max(start, first), min(end, last)) for first, last in lost if first < end and last > start):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return Axis(start, end, tuple(joined))
