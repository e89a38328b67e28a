"""Room in the arrays of a State: more of it when an event needs it, less when rows say nothing any more."""

from typing import Any

import numpy as np

from pipeline.machines import blocks
from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import (
    C_DELETED,
    C_ID,
    C_NEXT_OF_TOPIC,
    C_OPEN,
    C_PREVIOUS_OF_TOPIC,
    C_TOPIC,
    NONE,
    S_CURSORS,
    S_DURATIONS,
    S_TOPICS,
    T_ALIVE,
    T_BROKER_QUOTA,
    T_DECIDED,
    T_DECISION,
    T_EVICTIONS_SIZE_DURABLE,
    T_EVICTIONS_TIME_DURABLE,
    T_FIRST_CURSOR,
    T_HEAP_USED,
    T_ID,
    T_MARKS_USED,
    T_PRODUCERS,
    T_SIZE_POLICY,
    T_TIME_POLICY,
)
from pipeline.machines.backlog.state import ARENAS, LISTS, OUT_WIDTHS, OWNERS, State, indexed, with_capacity
from pipeline.machines.segments import MOVES, has_spare, with_spare

#: A topic with anything in these says something, even while it is not loaded.
_TELLING = [
    T_ALIVE,
    T_PRODUCERS,
    T_MARKS_USED,
    T_EVICTIONS_SIZE_DURABLE,
    T_EVICTIONS_TIME_DURABLE,
    T_DECIDED,
    T_DECISION,
    T_BROKER_QUOTA,
]


def with_room(state: State) -> State:
    """More rows wherever an event, or a check of every topic, could lack them; rows of topics and cursors keep their numbers."""
    used = state.scalars
    changes: dict[str, Any] = {}
    for name, (count, _) in OWNERS.items():
        rows = getattr(state, name)
        if used[count] >= len(rows):
            changes[name] = with_capacity(rows, 2 * len(rows))
    if used[S_DURATIONS] >= len(state.durations):
        changes["durations"] = np.concatenate((state.durations, np.zeros_like(state.durations)))
    needed = 2 * max(len(state.topics), len(state.cursors)) + 16
    for name, width in OUT_WIDTHS.items():
        if len(getattr(state, name)) < needed:
            changes[name] = np.zeros((needed, width), dtype=np.int64)  # they were taken before
    state = state._replace(**changes)
    for name, (owner, at, _) in ARENAS.items():
        ends = getattr(state, f"{name}_ends")
        if not has_spare(len(getattr(state, name)), ends):
            owners, count = getattr(state, owner), used[OWNERS[owner][0]]
            arena, ends = with_spare(owners, count, at, getattr(state, name), int(ends[MOVES]))
            laid_out: dict[str, Any] = {name: arena, f"{name}_ends": ends}
            state = state._replace(**laid_out)
    for name, (owner, at, _) in LISTS.items():
        lists: dict[str, Any] = {name: blocks.with_room(getattr(state, owner), used[OWNERS[owner][0]], at, getattr(state, name))}
        state = state._replace(**lists)
    return indexed(state) if "topics" in changes or "cursors" in changes else state


def compacted(state: State) -> State:
    """Without rows that carry no information (unloaded topics, closed cursors); what remains behaves the same."""
    topics, cursors = state.topics[: state.scalars[S_TOPICS]], state.cursors[: state.scalars[S_CURSORS]]
    keep_cursor = (cursors[:, C_OPEN] == 1) | (cursors[:, C_DELETED] > 0)
    keep_topic = (topics[:, _TELLING] != 0).any(axis=1) | (topics[:, [T_SIZE_POLICY, T_TIME_POLICY]] != NONE).any(axis=1)
    keep_topic |= np.isin(topics[:, T_ID], cursors[keep_cursor, C_TOPIC])
    if keep_cursor.all() and keep_topic.all():
        return state
    new_row = np.append(np.cumsum(keep_cursor) - 1, NONE)  # so that NONE, its last place, stays NONE
    _renumber_heap(state, topics[keep_topic], new_row)
    smaller = state._replace(topics=_kept(topics, keep_topic), cursors=_kept(cursors, keep_cursor))
    for rows, column, count in (
        (smaller.topics, T_FIRST_CURSOR, int(keep_topic.sum())),
        (smaller.cursors, C_NEXT_OF_TOPIC, int(keep_cursor.sum())),
        (smaller.cursors, C_PREVIOUS_OF_TOPIC, int(keep_cursor.sum())),
    ):
        rows[:count, column] = new_row[rows[:count, column]]
    state.scalars[S_TOPICS], state.scalars[S_CURSORS] = keep_topic.sum(), keep_cursor.sum()
    return indexed(smaller)


def ordered(state: State) -> State:
    """The same rows in order of their ids. A heap keeps its own order, which is Pulsar's."""
    topics, cursors = state.topics[: state.scalars[S_TOPICS]], state.cursors[: state.scalars[S_CURSORS]]
    topic_order = np.argsort(topics[:, T_ID], kind="stable")
    cursor_order = np.lexsort((cursors[:, C_ID], cursors[:, C_TOPIC]))
    new_row = np.empty(len(cursors), dtype=np.int64)
    new_row[cursor_order] = np.arange(len(cursors))
    _renumber_heap(state, topics, new_row)
    in_order = state._replace(topics=with_capacity(topics[topic_order], len(state.topics)))
    in_order = in_order._replace(cursors=with_capacity(cursors[cursor_order], len(state.cursors)))
    _chain_cursors(in_order)
    return indexed(in_order)


def _chain_cursors(state: State) -> None:
    """Chain each topic's cursors anew in the order of their rows, which are in order of topics as topics are."""
    topics, cursors = state.topics[: state.scalars[S_TOPICS]], state.cursors[: state.scalars[S_CURSORS]]
    follows = np.append(cursors[1:, C_TOPIC] == cursors[:-1, C_TOPIC], False)[: len(cursors)]
    cursors[:, C_NEXT_OF_TOPIC] = np.where(follows, np.arange(1, len(cursors) + 1), NONE)
    cursors[:, C_PREVIOUS_OF_TOPIC] = np.where(np.append(False, follows)[: len(cursors)], np.arange(-1, len(cursors) - 1), NONE)
    first = np.searchsorted(cursors[:, C_TOPIC], topics[:, T_ID])
    has_cursor = np.isin(topics[:, T_ID], cursors[:, C_TOPIC])
    topics[:, T_FIRST_CURSOR] = np.where(has_cursor, first, NONE)


def _renumber_heap(state: State, topics: Array, new_row: Array) -> None:
    """Heaps hold rows of cursors."""
    begin, used = topics[:, T_HEAP_USED - 2] + topics[:, T_HEAP_USED - 1], topics[:, T_HEAP_USED]
    places = np.repeat(begin - np.cumsum(used) + used, used) + np.arange(int(used.sum()))
    state.heap[places, 0] = new_row[state.heap[places, 0]]


def _kept(rows: Array, keep: np.ndarray) -> Array:
    kept = rows[keep]
    return with_capacity(kept, max(16, len(kept) + len(kept) // 4))
