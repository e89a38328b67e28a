"""Who exists, from when to when: topics, dispatchers and limiters begin, are re-applied and end (§1.1, §1.5, §1.8b).

Laws: what ends in a window is copied whole to a `closed` array before its row is cleared, so nothing of it can change afterwards; rows
are written at the window's end. Ending what does not exist changes nothing.
"""

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled
from pipeline.machines.index import EMPTY, find, insert
from pipeline.machines.throttle.layout import (
    D_BATCH_MODE,
    D_BEGAN_COMPLETE,
    D_BLOCKED_AT_NS,
    D_BLOCKED_LEVEL,
    D_BLOCKED_NS,
    D_BLOCKED_NS_BY,
    D_CLOSED_AT,
    D_CURSOR_KNOWN,
    D_GRANTED_BYTES,
    D_GRANTED_ENTRIES,
    D_ID,
    D_LOSSES_AT_OPEN,
    D_NEXT_OF_TOPIC,
    D_OPEN,
    D_OPENED_AT,
    D_READ_BYTES,
    D_READ_ENTRIES,
    D_SUB_TYPE,
    D_TOPIC,
    D_TOUCHED,
    D_WAITING_BYTES,
    D_WAITING_ENTRIES,
    FIRST_COUNTER,
    FIRST_CURSOR_COLUMN,
    FIRST_INCARNATION_COLUMN,
    L_APPLIED,
    L_BEGAN_COMPLETE,
    L_CLOSED_AT,
    L_CREATED_AT,
    L_EXISTS,
    L_KIND,
    L_LEVEL,
    L_LOSSES_AT_CREATION,
    L_PERIOD_MS,
    L_PERMITS_START,
    L_RATE,
    L_RELATIVE,
    L_SHOWN_RATE,
    L_SUB,
    L_TOPIC,
    LAST_CURSOR_COLUMN,
    LAST_INCARNATION_COLUMN,
    MSG,
    NONE,
    S_BATCH_MODE,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LOSSES,
    S_TOPICS,
    T_FIRST_DISPATCHER,
    T_GENERATION,
    T_ID,
    T_LOADED,
    T_PUBLISHED_BYTES,
    T_PUBLISHED_ENTRIES,
    T_ZERO,
)
from pipeline.machines.throttle.limiter import CLASSIC, TOKEN_BUCKET, apply_rate, balance, dimension_base, tick
from pipeline.machines.throttle.state import State


@compiled
def new_topic(state: State, topic_id: int) -> int:
    """Row for a topic that has none."""
    t = state.scalars[S_TOPICS]
    state.scalars[S_TOPICS] += 1
    state.topics[t, :] = 0
    state.topics[t, T_ID] = topic_id
    state.topics[t, T_FIRST_DISPATCHER] = NONE
    state.topic_limiters[t, :] = 0
    insert(state.topic_index, topic_id, 0, t)
    return t


@compiled
def new_dispatcher(state: State, t: int, sub_id: int) -> int:
    """Row for a subscription of the topic that has none: nothing open, cursor unknown."""
    topics, dispatchers = state.topics, state.dispatchers
    d = state.scalars[S_DISPATCHERS]
    state.scalars[S_DISPATCHERS] += 1
    dispatchers[d, :] = 0
    clear_incarnation(dispatchers, d)
    dispatchers[d, D_ID] = sub_id
    dispatchers[d, D_TOPIC] = topics[t, T_ID]
    dispatchers[d, D_NEXT_OF_TOPIC] = topics[t, T_FIRST_DISPATCHER]
    topics[t, T_FIRST_DISPATCHER] = d
    state.dispatcher_limiters[d, :] = 0
    insert(state.dispatcher_index, sub_id, topics[t, T_ID], d)
    return d


@compiled
def count_dispatchers(state: State, topic_id: int) -> int:
    """How many subscriptions of the topic have a row."""
    t = find(state.topic_index, state.topics, T_ID, T_ZERO, topic_id, 0)
    count = 0
    d = state.topics[t, T_FIRST_DISPATCHER] if t != EMPTY else NONE
    while d != NONE:
        count += 1
        d = state.dispatchers[d, D_NEXT_OF_TOPIC]
    return count


@compiled
def clear_incarnation(dispatchers: Array, d: int) -> None:
    """Nothing is open in row `d`; its cursor stays."""
    dispatchers[d, FIRST_INCARNATION_COLUMN : LAST_INCARNATION_COLUMN + 1] = 0
    dispatchers[d, FIRST_COUNTER:] = 0
    dispatchers[d, D_BLOCKED_LEVEL] = NONE
    dispatchers[d, D_GRANTED_ENTRIES] = NONE
    dispatchers[d, D_GRANTED_BYTES] = NONE
    dispatchers[d, D_SUB_TYPE] = NONE
    dispatchers[d, D_CLOSED_AT] = NONE


@compiled
def open_dispatcher(scalars: Array, dispatchers: Array, d: int, ts: int, sub_type: int, complete: int) -> None:
    """A new dispatcher object: six counters at 0, no limiter yet, batch mode frozen as it is now (§1.3)."""
    clear_incarnation(dispatchers, d)
    dispatchers[d, D_OPEN] = 1
    dispatchers[d, D_OPENED_AT] = ts
    dispatchers[d, D_SUB_TYPE] = sub_type
    dispatchers[d, D_BEGAN_COMPLETE] = complete
    dispatchers[d, D_LOSSES_AT_OPEN] = scalars[S_LOSSES]
    dispatchers[d, D_BATCH_MODE] = scalars[S_BATCH_MODE]
    dispatchers[d, D_TOUCHED] = 1


@compiled
def ensure_open(scalars: Array, dispatchers: Array, d: int, ts: int) -> None:
    """A dispatcher met without its `dispatcher_open` is tracked from here on, incomplete."""
    if dispatchers[d, D_OPEN] == 0:
        open_dispatcher(scalars, dispatchers, d, ts, NONE, 0)
    dispatchers[d, D_TOUCHED] = 1


@compiled
def charge_blocked_time(dispatchers: Array, d: int, until_ns: int) -> None:
    """Charge the blocked stretch so far to the level that blocked it; it goes on from `until_ns`."""
    level = dispatchers[d, D_BLOCKED_LEVEL]
    if level == NONE:
        return
    waited = max(0, until_ns - dispatchers[d, D_BLOCKED_AT_NS])
    dispatchers[d, D_BLOCKED_NS] += waited
    dispatchers[d, D_BLOCKED_NS_BY + level] += waited
    dispatchers[d, D_BLOCKED_AT_NS] += waited


@compiled
def note_waiting(dispatchers: Array, d: int, topics: Array, t: int) -> None:
    """Fill in what waits beyond the read position now: nothing, if the cursor was closed."""
    if dispatchers[d, D_CURSOR_KNOWN] == 0:
        dispatchers[d, D_WAITING_ENTRIES] = 0
        dispatchers[d, D_WAITING_BYTES] = 0
        return
    dispatchers[d, D_WAITING_ENTRIES] = max(0, topics[t, T_PUBLISHED_ENTRIES] - dispatchers[d, D_READ_ENTRIES])
    dispatchers[d, D_WAITING_BYTES] = max(0, topics[t, T_PUBLISHED_BYTES] - dispatchers[d, D_READ_BYTES])


@compiled
def close_dispatcher(state: State, t: int, d: int, ts: int, ns: int) -> None:
    """The dispatcher object ends, and its limiter with it."""
    dispatchers, scalars = state.dispatchers, state.scalars
    if dispatchers[d, D_OPEN] == 0:
        return
    charge_blocked_time(dispatchers, d, ns)
    note_waiting(dispatchers, d, state.topics, t)
    dispatchers[d, D_CLOSED_AT] = ts
    dispatchers[d, D_BEGAN_COMPLETE] &= 1 if dispatchers[d, D_LOSSES_AT_OPEN] == scalars[S_LOSSES] else 0
    state.closed_dispatchers[scalars[S_CLOSED_DISPATCHERS], :] = dispatchers[d, :]
    scalars[S_CLOSED_DISPATCHERS] += 1
    clear_incarnation(dispatchers, d)
    close_limiter(state, state.dispatcher_limiters, d, ts, ns)


@compiled
def close_limiter(state: State, limiters: Array, r: int, ts: int, ns: int) -> None:
    """The limiter object in row `r` of `limiters` ends with its owner."""
    if limiters[r, L_EXISTS] == 0:
        return
    settle(limiters, r, ns)
    limiters[r, L_CLOSED_AT] = ts
    limiters[r, L_BEGAN_COMPLETE] &= 1 if limiters[r, L_LOSSES_AT_CREATION] == state.scalars[S_LOSSES] else 0
    state.closed_limiters[state.scalars[S_CLOSED_LIMITERS], :] = limiters[r, :]
    state.scalars[S_CLOSED_LIMITERS] += 1
    limiters[r, :] = 0


@compiled
def settle(limiters: Array, r: int, ns: int) -> None:
    """Let a classic limiter's due ticks pass, so that its books are right at `ns`."""
    if limiters[r, L_KIND] == CLASSIC:
        for dimension in range(2):
            tick(limiters, r, dimension_base(dimension), ns)


@compiled
def close_topic(state: State, t: int, ts: int, ns: int) -> None:
    """The topic object ends: its dispatchers, cursors, ledgers and limiter go with it."""
    topics, dispatchers = state.topics, state.dispatchers
    d = topics[t, T_FIRST_DISPATCHER]
    while d != NONE:
        close_dispatcher(state, t, d, ts, ns)
        dispatchers[d, FIRST_CURSOR_COLUMN : LAST_CURSOR_COLUMN + 1] = 0
        d = dispatchers[d, D_NEXT_OF_TOPIC]
    close_limiter(state, state.topic_limiters, t, ts, ns)
    topics[t, T_LOADED] = 0
    topics[t, T_GENERATION] += 1
    topics[t, T_PUBLISHED_ENTRIES] = 0
    topics[t, T_PUBLISHED_BYTES] = 0


@compiled
def close_all(state: State, ts: int, ns: int) -> None:
    """The process ends: every topic, and the broker's limiter."""
    for t in range(state.scalars[S_TOPICS]):
        close_topic(state, t, ts, ns)
    close_limiter(state, state.broker_limiter, 0, ts, ns)


@compiled
def set_subscription_rate(state: State, d: int, event: Array) -> None:
    """`dispatch_rate` of a subscription belongs to its dispatcher."""
    ensure_open(state.scalars, state.dispatchers, d, event[fields.TS])
    apply_to_limiter(state.dispatcher_limiters, d, event, state.dispatchers[d, D_BEGAN_COMPLETE], state.scalars[S_LOSSES])


@compiled
def apply_to_limiter(limiters: Array, r: int, event: Array, complete: int, losses: int) -> None:
    """`dispatch_rate`: make the limiter if it does not exist (beginning with `complete` and `losses`), then apply both rates."""
    kind = CLASSIC if event[fields.LIMITER] == CLASSIC else TOKEN_BUCKET
    is_new = limiters[r, L_EXISTS] == 0
    if is_new:
        limiters[r, :] = 0
        limiters[r, L_EXISTS] = 1
        limiters[r, L_LEVEL] = event[fields.LEVEL]
        limiters[r, L_TOPIC] = event[fields.TOPIC_ID]
        limiters[r, L_SUB] = event[fields.SUB_ID]
        limiters[r, L_CREATED_AT] = event[fields.TS]
        limiters[r, L_CLOSED_AT] = NONE
        limiters[r, L_BEGAN_COMPLETE] = complete
        limiters[r, L_LOSSES_AT_CREATION] = losses
    elif limiters[r, L_KIND] != kind:
        is_new = True
    limiters[r, L_KIND] = kind
    limiters[r, L_RELATIVE] = event[fields.RELATIVE]
    limiters[r, L_PERIOD_MS] = max(event[fields.PERIOD_S], 0 if kind == CLASSIC else 1) * 1000
    for dimension in range(2):
        base = dimension_base(dimension)
        rate = event[fields.MSG_RATE if dimension == MSG else fields.BYTE_RATE]
        apply_rate(limiters, r, base, kind, is_new, rate, event[fields.PERIOD_S], event[fields.NS])
        if rate > 0:
            limiters[r, base + L_APPLIED] += 1
            if limiters[r, base + L_SHOWN_RATE] == 0:
                limiters[r, base + L_PERMITS_START] = balance(limiters, r, base)
            limiters[r, base + L_SHOWN_RATE] = limiters[r, base + L_RATE]
