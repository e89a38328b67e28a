"""What is planned, the earliest first: a binary heap of (instant, order of planning)."""

from typing import Any

from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def plan(replay: Any, at_ns: int, kind: int, who: int, life: int) -> None:
    """Plan an event of `kind`; one whose `life` is over when it comes is void."""
    clock, agenda = replay.clock[0], replay.agenda
    place = clock.planned
    if place == agenda.shape[0]:
        clock.full = 1
        return
    clock.planned += 1
    clock.order += 1
    row = agenda[place]
    row.at_ns, row.order, row.kind, row.who, row.life = at_ns, clock.order, kind, who, life
    while place > 0:
        above = (place - 1) // 2
        if _is_before(agenda[above], agenda[place]):
            break
        _swap(agenda[above], agenda[place])
        place = above


@compiled_part
def drop_first(replay: Any) -> None:
    """Take the earliest one out."""
    clock, agenda = replay.clock[0], replay.agenda
    clock.planned -= 1
    used, place = clock.planned, 0
    _swap(agenda[0], agenda[used])
    while True:
        least = place
        for below in (2 * place + 1, 2 * place + 2):
            if below < used and _is_before(agenda[below], agenda[least]):
                least = below
        if least == place:
            return
        _swap(agenda[least], agenda[place])
        place = least


@compiled_part
def _is_before(one: Record, other: Record) -> bool:
    return one.at_ns < other.at_ns or (one.at_ns == other.at_ns and one.order < other.order)


@compiled_part
def _swap(one: Record, other: Record) -> None:
    one.at_ns, other.at_ns = other.at_ns, one.at_ns
    one.order, other.order = other.order, one.order
    one.kind, other.kind = other.kind, one.kind
    one.who, other.who = other.who, one.who
    one.life, other.life = other.life, one.life
