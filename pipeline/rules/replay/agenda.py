"""What is planned, the earliest first: a binary heap of (instant, order of planning)."""

from typing import Any

from pipeline.rules.compiled import inlined_part
from pipeline.rules.records import Record


@inlined_part
def plan(replay: Any, at_ns: int, kind: int, who: int, life: int) -> None:
    """Plan an event of `kind`; one whose `life` is over when it comes is void."""
    clock, agenda = replay.clock[0], replay.agenda
    place = clock.planned
    if place == agenda.shape[0]:
        clock.full = 1
        return
    clock.planned += 1
    clock.order += 1
    # The new one goes up from the end. It was planned last, so one at the same instant stays above it.
    while place > 0:
        above = (place - 1) // 2
        if agenda[above].at_ns <= at_ns:
            break
        _copy(agenda[above], agenda[place])
        place = above
    row = agenda[place]
    row.at_ns, row.order, row.kind, row.who, row.life = at_ns, clock.order, kind, who, life


@inlined_part
def drop_first(replay: Any) -> None:
    """Take the earliest one out: the last one takes its place, and goes down."""
    clock, agenda = replay.clock[0], replay.agenda
    clock.planned -= 1
    used, place = clock.planned, 0
    last = agenda[used]
    while True:
        least = 2 * place + 1
        if least >= used:
            break
        if least + 1 < used and _is_before(agenda[least + 1], agenda[least]):
            least += 1
        if _is_before(last, agenda[least]):
            break
        _copy(agenda[least], agenda[place])
        place = least
    _copy(last, agenda[place])


@inlined_part
def _is_before(one: Record, other: Record) -> bool:
    return one.at_ns < other.at_ns or (one.at_ns == other.at_ns and one.order < other.order)


@inlined_part
def _copy(one: Record, other: Record) -> None:
    """Make `other` what `one` is."""
    other.at_ns, other.order, other.kind, other.who, other.life = one.at_ns, one.order, one.kind, one.who, one.life
