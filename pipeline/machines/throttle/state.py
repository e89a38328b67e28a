"""The state of one epoch's limiters: the arrays of layout.py under one name, so that a rule takes one argument.

The arrays are changed in place; a State is made anew only to give it larger or smaller ones.
"""

from typing import NamedTuple

import numpy as np

from pipeline.faults import invariant
from pipeline.machines.array import Array
from pipeline.machines.index import fill, new_index
from pipeline.machines.throttle.layout import (
    D_ID,
    D_TOPIC,
    DISPATCHER_COLUMNS,
    G_LEDGER,
    G_TOPIC,
    LEDGER_COLUMNS,
    LIMITER_COLUMNS,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LEDGERS,
    S_TOPICS,
    SCALARS,
    T_ID,
    T_ZERO,
    TOPIC_COLUMNS,
)

FIRST_CAPACITY = 16


class Scratch(NamedTuple):
    """Space for one read's working, filled anew for each."""

    answers: Array  # [observed or modelled, level, dimension]: what limiters answered
    present: Array  # [observed or modelled, level]: 1 if the level takes part in the walk
    lowered: Array  # [level, dimension]: 1 if the level lowered what is read


class Limiters(NamedTuple):
    """The limiter arrays of the three levels, in their order."""

    broker: Array
    topics: Array
    dispatchers: Array


class State(NamedTuple):
    """Row k of a limiter array belongs to row k of its owner; the indexes follow from the rows.

    Handing a State to a compiled function costs a reference count for each array in it: what runs several times per event takes only the
    arrays it needs.
    """

    scalars: Array  # [SCALARS]
    broker_limiter: Array  # [1, LIMITER_COLUMNS]
    topics: Array  # [capacity, TOPIC_COLUMNS]
    topic_limiters: Array
    dispatchers: Array  # [capacity, DISPATCHER_COLUMNS]
    dispatcher_limiters: Array
    ledgers: Array  # [capacity, LEDGER_COLUMNS]
    closed_dispatchers: Array  # incarnations that ended in the open window
    closed_limiters: Array
    topic_index: Array
    dispatcher_index: Array
    ledger_index: Array
    scratch: Scratch


#: Arrays with a row per thing that exists: the scalar that says how many rows are in use, and their width.
ROW_ARRAYS = {
    "topics": (S_TOPICS, len(TOPIC_COLUMNS)),
    "topic_limiters": (S_TOPICS, len(LIMITER_COLUMNS)),
    "dispatchers": (S_DISPATCHERS, len(DISPATCHER_COLUMNS)),
    "dispatcher_limiters": (S_DISPATCHERS, len(LIMITER_COLUMNS)),
    "ledgers": (S_LEDGERS, len(LEDGER_COLUMNS)),
    "closed_dispatchers": (S_CLOSED_DISPATCHERS, len(DISPATCHER_COLUMNS)),
    "closed_limiters": (S_CLOSED_LIMITERS, len(LIMITER_COLUMNS)),
}


def empty_state() -> State:
    """The state before the first event."""
    rows = {name: np.zeros((FIRST_CAPACITY, width), dtype=np.int64) for name, (_, width) in ROW_ARRAYS.items()}
    return _state(np.zeros(len(SCALARS), dtype=np.int64), np.zeros((1, len(LIMITER_COLUMNS)), dtype=np.int64), rows)


def restored_state(arrays: dict[str, Array]) -> State:
    """The state that `saved_arrays` was taken of. Raises BrokenInvariant for an array of another width."""
    rows = {}
    for name, (_, width) in ROW_ARRAYS.items():
        kept = arrays[name]
        invariant(kept.ndim == 2 and kept.shape[1] == width, f"state array {name} has shape {kept.shape}, expected (n, {width})")
        rows[name] = with_spare_rows(kept)
    return _state(arrays["scalars"].copy(), arrays["broker_limiter"].copy(), rows)


def saved_arrays(state: State) -> dict[str, Array]:
    """Copies of the rows in use, by name."""
    used = state.scalars
    rows = {name: getattr(state, name)[: used[count]].copy() for name, (count, _) in ROW_ARRAYS.items()}
    return {"scalars": used.copy(), "broker_limiter": state.broker_limiter.copy(), **rows}


def indexed(state: State) -> State:
    """The same rows with new indexes that fit them: after any array was replaced."""
    used = state.scalars
    topic_index = new_index(len(state.topics))
    dispatcher_index = new_index(len(state.dispatchers))
    ledger_index = new_index(len(state.ledgers))
    fill(topic_index, state.topics, used[S_TOPICS], T_ID, T_ZERO)
    fill(dispatcher_index, state.dispatchers, used[S_DISPATCHERS], D_ID, D_TOPIC)
    fill(ledger_index, state.ledgers, used[S_LEDGERS], G_TOPIC, G_LEDGER)
    return state._replace(topic_index=topic_index, dispatcher_index=dispatcher_index, ledger_index=ledger_index)


def with_capacity(rows: Array, capacity: int) -> Array:
    """The rows, and empty ones up to `capacity`."""
    larger = np.zeros((capacity, rows.shape[1]), dtype=np.int64)
    larger[: len(rows)] = rows
    return larger


def with_spare_rows(rows: Array) -> Array:
    """The rows with room for a quarter more."""
    return with_capacity(rows, max(FIRST_CAPACITY, len(rows) + len(rows) // 4))


def _state(scalars: Array, broker_limiter: Array, rows: dict[str, Array]) -> State:
    none = new_index(0)
    bare = State(
        scalars=scalars,
        broker_limiter=broker_limiter,
        topic_index=none,
        dispatcher_index=none,
        ledger_index=none,
        scratch=Scratch(
            answers=np.zeros((2, 3, 2), dtype=np.int64), present=np.zeros((2, 3), dtype=np.int64), lowered=np.zeros((3, 2), dtype=np.int64)
        ),
        **rows,
    )
    return indexed(bare)
