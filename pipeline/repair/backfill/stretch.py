"""What of an epoch is folded again for a range of dates, decided from the marks that lanes left in lane_snapshots. No Spark."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from pipeline.lanes.closed_places import END_OF_SEQ


@dataclass(frozen=True)
class Dates:
    """UTC dates of a broker, both inclusive."""

    broker: str
    first: date
    last: date


@dataclass(frozen=True)
class Mark:
    """A row of lane_snapshots without its state."""

    mark: str
    event_date: date
    next_seq: int


@dataclass(frozen=True)
class EpochSpan:
    """The events of an epoch in dispatch_events: seq of its first and last event of the dates, None if it has none."""

    broker: str
    broker_id: int
    epoch: int
    first_seq: int | None
    last_seq: int | None


#: Where an epoch stands of which nothing was applied.
FIRST_SEQ = 1


@dataclass(frozen=True)
class Stretch:
    """Events [first_seq, last_seq] of an epoch, folded from the snapshot before `first_seq` (1: from the epoch's beginning).

    Rows of the dates are out once an event beyond `needed_seq` was folded and nothing waits. `end` is the mark with which the epoch ends
    (`ended` or `drained`) if the stretch reaches its end, else empty.
    """

    span: EpochSpan
    first_seq: int
    needed_seq: int
    last_seq: int
    end: str


class NotClosed(Exception):
    """A date of a broker of which rows may still come."""

    def __init__(self, span: EpochSpan, day: date) -> None:
        super().__init__(f"{span.broker}: epoch {span.epoch} has not settled {day}")
        self.date = day


def stretch_of(dates: Dates, span: EpochSpan, marks: Iterable[Mark]) -> Stretch | None:
    """The stretch that gives all rows of the dates; None if there are none: the epoch was over before.

    Raises NotClosed if rows of the dates may still come.

    A mark `day` of an earlier date stands before every row of the dates: lanes had reached no later one there.
    """
    ordered = sorted(marks, key=lambda mark: mark.next_seq)
    begins = [mark.next_seq for mark in ordered if mark.mark == "day" and mark.event_date < dates.first]
    first_seq = begins[-1] if begins else FIRST_SEQ
    needed_seq = span.last_seq if span.last_seq is not None else first_seq - 1
    final = next((mark for mark in ordered if mark.mark in ("ended", "drained")), None)
    if final is not None and span.last_seq is None and final.event_date < dates.first:
        return None
    if final is None and not any(_closes(mark, dates.last, needed_seq) for mark in ordered):
        raise NotClosed(span, dates.last)
    later = [mark.next_seq for mark in ordered if mark.mark == "day" and mark.event_date > dates.last and mark.next_seq > needed_seq]
    if later:
        return Stretch(span, first_seq, needed_seq, later[0], "")
    return Stretch(span, first_seq, needed_seq, END_OF_SEQ, final.mark if final else "")


def _closes(mark: Mark, last: date, needed_seq: int) -> bool:
    return mark.mark == "settled" and mark.event_date >= last and mark.next_seq > needed_seq
