"""Room in the arrays of a State: more of it when an event needs it, less when rows say nothing any more."""

from typing import Any

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.throttle.layout import (
    D_CURSOR_KNOWN,
    D_ID,
    D_NEXT_OF_TOPIC,
    D_OPEN,
    D_TOPIC,
    G_GENERATION,
    G_LEDGER,
    G_TOPIC,
    L_EXISTS,
    NONE,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LEDGERS,
    S_TOPICS,
    T_FIRST_DISPATCHER,
    T_GENERATION,
    T_ID,
    T_LOADED,
    T_PUBLISHED_ENTRIES,
)
from pipeline.machines.throttle.state import State, indexed, with_capacity, with_spare_rows

_CLOSED = ("closed_dispatchers", "closed_limiters")


def with_room(state: State) -> State:
    """Twice as many rows of what is full; rows keep their numbers."""
    used = state.scalars
    if used[S_TOPICS] >= len(state.topics):
        return _doubled(state, "topics", "topic_limiters")
    if used[S_DISPATCHERS] >= len(state.dispatchers):
        return _doubled(state, "dispatchers", "dispatcher_limiters")
    if used[S_LEDGERS] >= len(state.ledgers):
        return _doubled(state, "ledgers")
    return _doubled(state, *_CLOSED)


def with_room_to_end(state: State) -> State:
    """Room to close everything that may be alive."""
    used = state.scalars
    while (
        used[S_CLOSED_DISPATCHERS] + used[S_DISPATCHERS] > len(state.closed_dispatchers)
        or used[S_CLOSED_LIMITERS] + used[S_TOPICS] + used[S_DISPATCHERS] + 1 > len(state.closed_limiters)
    ):  # fmt: skip
        state = _doubled(state, *_CLOSED)
    return state


def _doubled(state: State, *names: str) -> State:
    larger: dict[str, Any] = {name: with_capacity(getattr(state, name), 2 * len(getattr(state, name))) for name in names}
    return indexed(state._replace(**larger))


def compacted(state: State) -> State:
    """Without rows that carry no information (unloaded topics, gone subscriptions, trimmed ledgers); what remains behaves the same."""
    used = state.scalars
    keep_topic, keep_dispatcher, keep_ledger = _rows_to_keep(state)
    if keep_dispatcher.all() and keep_topic.all() and keep_ledger.all():
        return state
    smaller = state._replace(
        topics=_kept(state.topics, keep_topic),
        topic_limiters=_kept(state.topic_limiters, keep_topic),
        dispatchers=_kept(state.dispatchers, keep_dispatcher),
        dispatcher_limiters=_kept(state.dispatcher_limiters, keep_dispatcher),
        ledgers=_kept(state.ledgers, keep_ledger),
    )
    for count, keep in ((S_TOPICS, keep_topic), (S_DISPATCHERS, keep_dispatcher), (S_LEDGERS, keep_ledger)):
        used[count] = keep.sum()
    _chain_dispatchers(smaller)
    return indexed(smaller)


def ordered(state: State) -> State:
    """The same rows in order of their ids; those that ended in the open window stay in the order in which they did."""
    used = state.scalars
    topics = np.argsort(state.topics[: used[S_TOPICS], T_ID], kind="stable")
    dispatchers = _order(state.dispatchers[: used[S_DISPATCHERS]], D_TOPIC, D_ID)
    ledgers = _order(state.ledgers[: used[S_LEDGERS]], G_TOPIC, G_LEDGER)
    in_order = state._replace(
        topics=with_spare_rows(state.topics[topics]),
        topic_limiters=with_spare_rows(state.topic_limiters[topics]),
        dispatchers=with_spare_rows(state.dispatchers[dispatchers]),
        dispatcher_limiters=with_spare_rows(state.dispatcher_limiters[dispatchers]),
        ledgers=with_spare_rows(state.ledgers[ledgers]),
    )
    _chain_dispatchers(in_order)
    return indexed(in_order)


def _order(rows: Array, first: int, second: int) -> Array:
    return np.lexsort((rows[:, second], rows[:, first]))


def _rows_to_keep(state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One flag per row in use, of topics, dispatchers and ledgers."""
    topics = state.topics[: state.scalars[S_TOPICS]]
    dispatchers = state.dispatchers[: state.scalars[S_DISPATCHERS]]
    ledgers = state.ledgers[: state.scalars[S_LEDGERS]]
    keep_dispatcher = (dispatchers[:, D_OPEN] == 1) | (dispatchers[:, D_CURSOR_KNOWN] == 1)
    has_dispatcher = np.isin(topics[:, T_ID], dispatchers[keep_dispatcher, D_TOPIC])
    has_limiter = state.topic_limiters[: len(topics), L_EXISTS] == 1
    keep_topic = has_dispatcher | has_limiter | (topics[:, T_LOADED] == 1) | (topics[:, T_PUBLISHED_ENTRIES] > 0)
    generations = dict(zip(topics[keep_topic, T_ID].tolist(), topics[keep_topic, T_GENERATION].tolist(), strict=True))
    no_generation = NONE - 1
    of_topic = np.array([generations.get(topic, no_generation) for topic in ledgers[:, G_TOPIC].tolist()], dtype=np.int64)
    return keep_topic, keep_dispatcher, ledgers[:, G_GENERATION] == of_topic


def _kept(rows: Array, keep: np.ndarray) -> Array:
    return with_spare_rows(rows[: len(keep)][keep])


def _chain_dispatchers(state: State) -> None:
    """Rebuild each topic's chain of dispatchers after rows moved."""
    topics, dispatchers = state.topics, state.dispatchers
    row_of_topic = {topic: t for t, topic in enumerate(topics[: state.scalars[S_TOPICS], T_ID].tolist())}
    topics[:, T_FIRST_DISPATCHER] = NONE
    for d in range(state.scalars[S_DISPATCHERS]):
        t = row_of_topic[int(dispatchers[d, D_TOPIC])]
        dispatchers[d, D_NEXT_OF_TOPIC] = topics[t, T_FIRST_DISPATCHER]
        topics[t, T_FIRST_DISPATCHER] = d
