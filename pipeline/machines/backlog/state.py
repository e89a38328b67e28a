"""The state of one epoch's backlogs: the arrays of layout.py under one name, so that a rule takes one argument.

The arrays are changed in place; a State is made anew only to give it larger or smaller ones.
"""

from typing import Any, NamedTuple

import numpy as np

from pipeline.faults import invariant
from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import (
    C_ID,
    C_TOPIC,
    C_WORDS,
    CHECK_ROW,
    CURSOR_COLUMNS,
    CURSOR_ROW,
    DECISION_ROW,
    DEFAULT_INTERVAL_S,
    LEDGER_COLUMNS,
    MARK_COLUMNS,
    MOVE_ROW,
    S_CHECK_ENABLED,
    S_CURSORS,
    S_DURATIONS,
    S_INTERVAL_S,
    S_TOPICS,
    SCALARS,
    T_HEAP,
    T_ID,
    T_LEDGERS,
    T_MARKS,
    T_ZERO,
    TOPIC_COLUMNS,
    WORD_COLUMNS,
)
from pipeline.machines.blocks import Blocks, gathered, laid_out
from pipeline.machines.index import fill, new_index
from pipeline.machines.segments import packed, unpack, with_spare

FIRST_CAPACITY = 16


class State(NamedTuple):
    """`…_ends` belong to the arena before them (segments.py); the indexes follow from the rows."""

    scalars: Array  # [SCALARS]
    topics: Array  # [capacity, TOPIC_COLUMNS]
    cursors: Array  # [capacity, CURSOR_COLUMNS]
    ledgers: Array  # arena [capacity, LEDGER_COLUMNS] of topics
    ledgers_ends: Array
    heap: Array  # arena [capacity, 1] of topics: rows of cursors
    heap_ends: Array
    marks: Blocks  # lists of MARK_COLUMNS of topics
    words: Blocks  # lists of WORD_COLUMNS of cursors
    durations: Array  # [capacity]: µs of the checks of the open window
    out_checks: Array  # [capacity, CHECK_ROW]
    out_cursors: Array  # [capacity, CURSOR_ROW]
    out_decisions: Array  # [capacity, DECISION_ROW]
    out_moves: Array  # [capacity, MOVE_ROW]
    topic_index: Array
    cursor_index: Array


#: Arenas: who owns their segments (topics or cursors), at which column of the owner, and their width.
ARENAS = {
    "ledgers": ("topics", T_LEDGERS, len(LEDGER_COLUMNS)),
    "heap": ("topics", T_HEAP, 1),
}
#: The same of lists in blocks.
LISTS = {"marks": ("topics", T_MARKS, len(MARK_COLUMNS)), "words": ("cursors", C_WORDS, len(WORD_COLUMNS))}
OWNERS = {"topics": (S_TOPICS, len(TOPIC_COLUMNS)), "cursors": (S_CURSORS, len(CURSOR_COLUMNS))}
OUT_WIDTHS = {"out_checks": len(CHECK_ROW), "out_cursors": len(CURSOR_ROW), "out_decisions": len(DECISION_ROW), "out_moves": len(MOVE_ROW)}


def empty_state() -> State:
    """The state before the first event, with Pulsar's defaults."""
    scalars = np.zeros(len(SCALARS), dtype=np.int64)
    scalars[S_CHECK_ENABLED] = 1
    scalars[S_INTERVAL_S] = DEFAULT_INTERVAL_S
    nothing = {name: np.zeros((0, width), dtype=np.int64) for name, (_, _, width) in (ARENAS | LISTS).items()}
    nothing |= {name: np.zeros((0, width), dtype=np.int64) for name, (_, width) in OWNERS.items()}
    return restored_state({"scalars": scalars, "durations": np.zeros(0, dtype=np.int64), **nothing})


def saved_arrays(state: State) -> dict[str, Array]:
    """The whole state by name, packed: rows in use, without places. Rows on their way out must have been taken."""
    arrays = {name: getattr(state, name)[: state.scalars[count]].copy() for name, (count, _) in OWNERS.items()}
    for name, (owner, at, _) in (ARENAS | LISTS).items():
        owners, rows = arrays[owner], getattr(state, name)
        together = packed if name in ARENAS else gathered
        arrays[name] = together(owners, len(owners), at, rows)
        owners[:, at : at + 2] = 0
        owners[:, at + 3] = 0  # the place follows from the rows in use
    return {"scalars": state.scalars.copy(), "durations": state.durations[: state.scalars[S_DURATIONS]].copy(), **arrays}


def restored_state(arrays: dict[str, Array]) -> State:
    """The state that `saved_arrays` was taken of. Raises BrokenInvariant for an array of another width."""
    rows: dict[str, Any] = {}
    for name, (count, width) in OWNERS.items():
        kept = arrays[name]
        invariant(kept.ndim == 2 and kept.shape[1] == width, f"state array {name} has shape {kept.shape}, expected (n, {width})")
        invariant(len(kept) == arrays["scalars"][count], f"state array {name} has {len(kept)} rows, its scalar says otherwise")
        rows[name] = with_capacity(kept, max(FIRST_CAPACITY, len(kept) + len(kept) // 4))
    arenas: dict[str, Any] = {}
    for name, (owner, at, width) in (ARENAS | LISTS).items():
        kept = arrays[name]
        invariant(kept.ndim == 2 and kept.shape[1] == width, f"state array {name} has shape {kept.shape}, expected (n, {width})")
        if name in LISTS:
            arenas[name] = laid_out(rows[owner], len(arrays[owner]), at, kept)
            continue
        unpack(rows[owner], len(arrays[owner]), at)
        arenas[name], arenas[f"{name}_ends"] = with_spare(rows[owner], len(arrays[owner]), at, kept)
    durations = np.zeros(len(arrays["durations"]) + 64, dtype=np.int64)
    durations[: len(arrays["durations"])] = arrays["durations"]
    out: dict[str, Any] = {name: np.zeros((FIRST_CAPACITY, width), dtype=np.int64) for name, width in OUT_WIDTHS.items()}
    none = new_index(0)
    return indexed(
        State(scalars=arrays["scalars"].copy(), durations=durations, topic_index=none, cursor_index=none, **rows, **arenas, **out)
    )


def indexed(state: State) -> State:
    """The same rows with new indexes that fit them: after topics or cursors were replaced."""
    topic_index, cursor_index = new_index(len(state.topics)), new_index(len(state.cursors))
    fill(topic_index, state.topics, state.scalars[S_TOPICS], T_ID, T_ZERO)
    fill(cursor_index, state.cursors, state.scalars[S_CURSORS], C_ID, C_TOPIC)
    return state._replace(topic_index=topic_index, cursor_index=cursor_index)


def with_capacity(rows: Array, capacity: int) -> Array:
    """The rows, and empty ones up to `capacity`."""
    larger = np.zeros((capacity, rows.shape[1]), dtype=np.int64)
    larger[: len(rows)] = rows
    return larger
