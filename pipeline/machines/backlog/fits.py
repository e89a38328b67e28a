"""Whether what an event may add still fits into the arrays of a State: asked before each event, so it takes numbers, not the State."""

from typing import NamedTuple

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import (
    S_CURSORS,
    S_DURATIONS,
    S_OUT_CHECKS,
    S_OUT_CURSORS,
    S_OUT_DECISIONS,
    S_OUT_MOVES,
    S_TOPICS,
)
from pipeline.machines.backlog.state import State
from pipeline.machines.blocks import Blocks, fits_one_more
from pipeline.machines.compiled import compiled_part
from pipeline.machines.segments import has_spare


class Capacity(NamedTuple):
    """Rows that fit into each array that an event may add to."""

    topics: int
    cursors: int
    ledgers: int
    heap: int
    durations: int
    checks: int
    cursor_checks: int
    decisions: int
    moves: int


@compiled_part
def capacity_of(state: State) -> Capacity:
    """How much fits into the arrays as they are."""
    return Capacity(
        len(state.topics), len(state.cursors), len(state.ledgers), len(state.heap), len(state.durations),
        len(state.out_checks), len(state.out_cursors), len(state.out_decisions), len(state.out_moves),
    )  # fmt: skip


@compiled_part
def has_room(scalars: Array, capacity: Capacity, ledgers_ends: Array, heap_ends: Array, marks: Blocks, words: Blocks) -> bool:
    """Whether one more event can be applied that adds to topics, cursors, durations or segments."""
    if scalars[S_TOPICS] >= capacity.topics or scalars[S_CURSORS] >= capacity.cursors or scalars[S_DURATIONS] >= capacity.durations:
        return False
    lists_fit = has_spare(capacity.ledgers, ledgers_ends) and has_spare(capacity.heap, heap_ends)
    return lists_fit and fits_one_more(marks) and fits_one_more(words)


@compiled_part
def has_room_for_check(scalars: Array, capacity: Capacity, cursors: int) -> bool:
    """Whether a check of a topic with that many cursors, and two decisions that end, fit into what goes out."""
    if scalars[S_OUT_CHECKS] >= capacity.checks or scalars[S_OUT_DECISIONS] + 2 > capacity.decisions:
        return False
    return scalars[S_OUT_CURSORS] + cursors <= capacity.cursor_checks and scalars[S_OUT_MOVES] + 2 * cursors <= capacity.moves


@compiled_part
def has_room_for_all(scalars: Array, capacity: Capacity) -> bool:
    """The same for a check of every topic."""
    topics, cursors = scalars[S_TOPICS], scalars[S_CURSORS]
    checks_fit = scalars[S_OUT_CHECKS] + topics <= capacity.checks and scalars[S_OUT_DECISIONS] + topics <= capacity.decisions
    return checks_fit and scalars[S_OUT_CURSORS] + cursors <= capacity.cursor_checks and scalars[S_OUT_MOVES] + cursors <= capacity.moves
