"""What of an epoch is folded again for a range of dates, decided from the milestones that lanes left in lane_snapshots. No Spark."""

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
class Milestone:
    """A row of lane_snapshots without its state."""

    kind: str
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

    Rows of the dates are out once an event beyond `needed_seq` was folded and nothing waits. `end` is the milestone at which the epoch ends
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


def stretch_of(dates: Dates, span: EpochSpan, milestones: Iterable[Milestone]) -> Stretch | None:
    """The stretch that gives all rows of the dates; None if there are none: the epoch was over before.

    Raises NotClosed if rows of the dates may still come.

    A milestone `day` of an earlier date stands before every row of the dates: lanes had reached no later one there.
    """
    ordered = sorted(milestones, key=lambda milestone: milestone.next_seq)
    begins = [milestone.next_seq for milestone in ordered if milestone.kind == "day" and milestone.event_date < dates.first]
    first_seq = begins[-1] if begins else FIRST_SEQ
    needed_seq = span.last_seq if span.last_seq is not None else first_seq - 1
    final = next((milestone for milestone in ordered if milestone.kind in ("ended", "drained")), None)
    if final is not None and span.last_seq is None and final.event_date < dates.first:
        return None
    if final is None and not any(_closes(milestone, dates.last, needed_seq) for milestone in ordered):
        raise NotClosed(span, dates.last)
    later = [one.next_seq for one in ordered if one.kind == "day" and one.event_date > dates.last and one.next_seq > needed_seq]
    if later:
        return Stretch(span, first_seq, needed_seq, later[0], "")
    return Stretch(span, first_seq, needed_seq, END_OF_SEQ, final.kind if final else "")


def _closes(milestone: Milestone, last: date, needed_seq: int) -> bool:
    return milestone.kind == "settled" and milestone.event_date >= last and milestone.next_seq > needed_seq
