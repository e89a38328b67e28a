"""The compiled fold: events of one broker in `seq` order, applied to the State, one small rule per event type.

Law: an event either is applied whole or not at all. Before each event the fold checks that the arrays have room for whatever it could
add; if not it stops there, and its caller makes room and goes on from the same event.
"""

from typing import NamedTuple

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled
from pipeline.machines.index import EMPTY, find
from pipeline.machines.throttle.dispatching import charge, evaluate_read
from pipeline.machines.throttle.incarnations import (
    apply_to_limiter,
    close_dispatcher,
    close_topic,
    count_dispatchers,
    ensure_open,
    new_dispatcher,
    new_topic,
    open_dispatcher,
    set_subscription_rate,
)
from pipeline.machines.throttle.layout import (
    BROKER,
    D_CURSOR_KNOWN,
    D_ID,
    D_TOPIC,
    NONE,
    S_BATCH_MODE,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LEDGERS,
    S_LOSSES,
    S_STARTED,
    S_TOPICS,
    SUBSCRIPTION,
    T_ID,
    T_LOADED,
    T_ZERO,
    TOPIC,
)
from pipeline.machines.throttle.positions import (
    count_consumer,
    forget_ledger,
    known_ledger,
    mark_delete,
    meet_cursor,
    open_cursor,
    open_ledger,
    publish,
)
from pipeline.machines.throttle.state import State
from schemas.events import CODES, TOMBSTONE_CODE

BROKER_START, SETTING, DISPATCH_RATE = CODES["broker_start"], CODES["setting"], CODES["dispatch_rate"]
TOPIC_LOAD, TOPIC_UNLOAD = CODES["topic_load"], CODES["topic_unload"]
LEDGER_CLOSE, LEDGER_TRIM = CODES["ledger_close"], CODES["ledger_trim"]
CURSOR_OPEN, CURSOR_CLOSE = CODES["cursor_open"], CODES["cursor_close"]
DISPATCHER_OPEN, DISPATCHER_CLOSE = CODES["dispatcher_open"], CODES["dispatcher_close"]
CONSUMER_OPEN, CONSUMER_CLOSE = CODES["consumer_open"], CODES["consumer_close"]
PUBLISH, READ, DISPATCH, MARK_DELETE = CODES["publish"], CODES["read"], CODES["dispatch"], CODES["mark_delete"]


class Capacity(NamedTuple):
    """Rows that fit into each array that an event may add to."""

    topics: int
    dispatchers: int
    ledgers: int
    closed_dispatchers: int
    closed_limiters: int


@compiled
def fold(state: State, events: Array, start: int) -> int:
    """Apply `events[start:]` (int64 [n, LANE_COLUMNS], in order).

    Returns the position of the first event that was not applied: n, or where room ran out.
    """
    capacity = capacity_of(state)
    for position in range(start, events.shape[0]):
        event = events[position]
        code = event[fields.TYPE]
        if code == TOMBSTONE_CODE:
            state.scalars[S_LOSSES] += 1
            continue
        owner = owner_of(code, event[fields.LEVEL])
        if owner == BROKER:
            apply_to_broker(state.scalars, state.broker_limiter, event, code)
        elif owner != NONE:
            ending = 1 if code not in (TOPIC_LOAD, TOPIC_UNLOAD) else 1 + count_dispatchers(state, event[fields.TOPIC_ID])
            if not has_room(state.scalars, capacity, ending):
                return position
            t = find(state.topic_index, state.topics, T_ID, T_ZERO, event[fields.TOPIC_ID], 0)
            if t == EMPTY:
                t = new_topic(state, event[fields.TOPIC_ID])
            if owner == TOPIC:
                apply_to_topic(state, t, event, code)
                continue
            d = find(state.dispatcher_index, state.dispatchers, D_ID, D_TOPIC, event[fields.SUB_ID], event[fields.TOPIC_ID])
            if d == EMPTY:
                d = new_dispatcher(state, t, event[fields.SUB_ID])
            apply_to_subscription(state, t, d, event, code)
    return events.shape[0]


@compiled
def owner_of(code: int, level: int) -> int:
    """Whose state an event changes: BROKER, TOPIC or SUBSCRIPTION (a `dispatch_rate` says it), or NONE if there is no rule for its type."""
    if code == DISPATCH_RATE:
        return level
    if code in (BROKER_START, SETTING):
        return BROKER
    if TOPIC_LOAD <= code <= LEDGER_TRIM or code == PUBLISH:
        return TOPIC
    if CURSOR_OPEN <= code <= CONSUMER_CLOSE or READ <= code <= DISPATCH or code == MARK_DELETE:
        return SUBSCRIPTION
    return NONE


@compiled
def capacity_of(state: State) -> Capacity:
    """How much fits into the arrays as they are."""
    return Capacity(
        len(state.topics), len(state.dispatchers), len(state.ledgers), len(state.closed_dispatchers), len(state.closed_limiters)
    )


@compiled
def has_room(used: Array, capacity: Capacity, ending: int) -> bool:
    """Whether one more event can be applied that may end `ending` dispatchers and as many limiters."""
    if used[S_TOPICS] >= capacity.topics or used[S_DISPATCHERS] >= capacity.dispatchers or used[S_LEDGERS] >= capacity.ledgers:
        return False
    dispatchers_fit = used[S_CLOSED_DISPATCHERS] + ending <= capacity.closed_dispatchers
    return dispatchers_fit and used[S_CLOSED_LIMITERS] + ending <= capacity.closed_limiters


@compiled
def apply_to_broker(scalars: Array, broker_limiter: Array, event: Array, code: int) -> None:
    """The process starts, or its limiter or a setting changes."""
    if code == DISPATCH_RATE:
        apply_to_limiter(broker_limiter, 0, event, scalars[S_STARTED], scalars[S_LOSSES])
        return
    if code == BROKER_START:
        scalars[S_STARTED] = 1
    if fields.has(event, fields.BATCH_MODE):
        scalars[S_BATCH_MODE] = event[fields.BATCH_MODE]


@compiled
def apply_to_topic(state: State, t: int, event: Array, code: int) -> None:
    """Events of one topic: its load and unload, its limiter, its ledgers, what is published."""
    topics, ledgers = state.topics, state.ledgers
    if code in (TOPIC_LOAD, TOPIC_UNLOAD):
        close_topic(state, t, event[fields.TS], event[fields.NS])
        topics[t, T_LOADED] = 1 if code == TOPIC_LOAD else 0
        return
    if code == DISPATCH_RATE:
        apply_to_limiter(state.topic_limiters, t, event, topics[t, T_LOADED], state.scalars[S_LOSSES])
        return
    ledger = event[fields.LEDGER]
    g = known_ledger(ledgers, state.ledger_index, topics, t, ledger)
    if code == LEDGER_TRIM:
        if g != EMPTY:
            forget_ledger(ledgers, g)
        return
    is_new = g == EMPTY
    if code == LEDGER_CLOSE and not (is_new and event[fields.CLOSED_SNAPSHOT] == 1):
        return  # what was published in it was seen; only a snapshot tells of a ledger that is older than the log
    if is_new:
        g = open_ledger(state, t, ledger)  # all that `ledger_open` asks for
    if code == PUBLISH:
        publish(ledgers, g, topics, t, 1, event[fields.PUBLISHED_BYTES])
    elif code == LEDGER_CLOSE:
        publish(ledgers, g, topics, t, event[fields.CLOSED_ENTRIES], event[fields.CLOSED_BYTES])


@compiled
def apply_to_subscription(state: State, t: int, d: int, event: Array, code: int) -> None:
    """Events of one subscription: its cursor, its dispatcher, its consumers."""
    scalars, topics, dispatchers = state.scalars, state.topics, state.dispatchers
    if code == DISPATCH_RATE:
        set_subscription_rate(state, d, event)
        return
    if code == CURSOR_CLOSE:
        dispatchers[d, D_CURSOR_KNOWN] = 0
        return
    if code == DISPATCHER_CLOSE:
        close_dispatcher(state, t, d, event[fields.TS], event[fields.NS])
        return
    if code == CURSOR_OPEN:
        g = known_ledger(state.ledgers, state.ledger_index, topics, t, event[fields.LEDGER])
        open_cursor(state, t, d, g, event[fields.ENTRY], event[fields.CURSOR_ENTRIES])
        return
    meet_cursor(dispatchers, d, topics, t)
    if code == DISPATCHER_OPEN:
        close_dispatcher(state, t, d, event[fields.TS], event[fields.NS])
        open_dispatcher(scalars, dispatchers, d, event[fields.TS], event[fields.SUB_TYPE], topics[t, T_LOADED])
    elif code == READ:
        ensure_open(scalars, dispatchers, d, event[fields.TS])
        evaluate_read(state, t, d, event)
    elif code == DISPATCH:
        ensure_open(scalars, dispatchers, d, event[fields.TS])
        charge(state, t, d, event)
    elif code == MARK_DELETE:
        g = known_ledger(state.ledgers, state.ledger_index, topics, t, event[fields.LEDGER])
        if g != EMPTY and event[fields.MARK_PERSISTED] == 0:
            mark_delete(state, t, d, g, event[fields.ENTRY], event[fields.MARK_RESET] == 1)
    else:
        count_consumer(dispatchers, d, topics, t, code == CONSUMER_OPEN)
