"""Who exists, from when to when: topics, dispatchers and limiters begin, are re-applied and end (§1.1, §1.5, §1.8b).

Laws: what ends in a window is copied whole to a `closed` array before its row is cleared, so nothing of it can change afterwards; rows are written at the
window's end. Ending what does not exist changes nothing.
"""

from pipeline.machines.compiled import compiled
from pipeline.machines.index import EMPTY, find, insert
from pipeline.machines.throttle.layout import (
    BROKER,
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
    D_THROTTLED,
    D_TOPIC,
    D_TOUCHED,
    D_WAITING_BYTES,
    D_WAITING_ENTRIES,
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
    NONE,
    S_BATCH_MODE,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LOSSES,
    S_STARTED,
    S_TOPICS,
    SUBSCRIPTION,
    T_FIRST_DISPATCHER,
    T_GENERATION,
    T_ID,
    T_LOADED,
    T_PUBLISHED_BYTES,
    T_PUBLISHED_ENTRIES,
    T_ZERO,
    TOPIC,
)
from pipeline.machines.throttle.limiter import CLASSIC, TOKEN_BUCKET, apply_rate, balance, dimension_base, tick
from schemas.lane_columns import COLUMN

TS, NS, TOPIC_ID, SUB_ID, S0 = (COLUMN[c] for c in ("ts", "ns", "topic_id", "sub_id", "s0"))


@compiled
def topic_row(topics, topic_limiters, topic_index, scalars, topic_id):  # type: ignore[no-untyped-def]
    """Row of the topic, made if it is new."""
    t = find(topic_index, topics, T_ID, T_ZERO, topic_id, 0)
    if t != EMPTY:
        return t
    t = scalars[S_TOPICS]
    scalars[S_TOPICS] += 1
    topics[t, :] = 0
    topics[t, T_ID] = topic_id
    topics[t, T_FIRST_DISPATCHER] = NONE
    topic_limiters[t, :] = 0
    insert(topic_index, topic_id, 0, t)
    return t


@compiled
def dispatcher_row(topics, t, dispatchers, dispatcher_limiters, dispatcher_index, scalars, sub_id):  # type: ignore[no-untyped-def]
    """Row of the subscription under its topic, made (nothing open, cursor unknown) if it is new."""
    d = find(dispatcher_index, dispatchers, D_ID, D_TOPIC, sub_id, topics[t, T_ID])
    if d != EMPTY:
        return d
    d = scalars[S_DISPATCHERS]
    scalars[S_DISPATCHERS] += 1
    dispatchers[d, :] = 0
    clear_incarnation(dispatchers, d)
    dispatchers[d, D_ID] = sub_id
    dispatchers[d, D_TOPIC] = topics[t, T_ID]
    dispatchers[d, D_NEXT_OF_TOPIC] = topics[t, T_FIRST_DISPATCHER]
    topics[t, T_FIRST_DISPATCHER] = d
    dispatcher_limiters[d, :] = 0
    insert(dispatcher_index, sub_id, topics[t, T_ID], d)
    return d


@compiled
def count_dispatchers(topics, dispatchers, topic_index, topic_id):  # type: ignore[no-untyped-def]
    """How many subscriptions of the topic have a row."""
    t = find(topic_index, topics, T_ID, T_ZERO, topic_id, 0)
    count = 0
    d = topics[t, T_FIRST_DISPATCHER] if t != EMPTY else NONE
    while d != NONE:
        count += 1
        d = dispatchers[d, D_NEXT_OF_TOPIC]
    return count


@compiled
def clear_incarnation(dispatchers, d):  # type: ignore[no-untyped-def]
    """Nothing is open in row `d`; its cursor stays."""
    dispatchers[d, D_OPEN : D_GRANTED_BYTES + 1] = 0
    dispatchers[d, D_THROTTLED:] = 0
    dispatchers[d, D_BLOCKED_LEVEL] = NONE
    dispatchers[d, D_GRANTED_ENTRIES] = NONE
    dispatchers[d, D_GRANTED_BYTES] = NONE
    dispatchers[d, D_SUB_TYPE] = NONE
    dispatchers[d, D_CLOSED_AT] = NONE


@compiled
def open_dispatcher(scalars, dispatchers, d, ts, sub_type, complete):  # type: ignore[no-untyped-def]
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
def ensure_open(scalars, dispatchers, d, ts):  # type: ignore[no-untyped-def]
    """A dispatcher met without its `dispatcher_open` is tracked from here on, incomplete."""
    if dispatchers[d, D_OPEN] == 0:
        open_dispatcher(scalars, dispatchers, d, ts, NONE, 0)
    dispatchers[d, D_TOUCHED] = 1


@compiled
def charge_blocked_time(dispatchers, d, until_ns):  # type: ignore[no-untyped-def]
    """Charge the blocked stretch so far to the level that blocked it; it goes on from `until_ns`."""
    level = dispatchers[d, D_BLOCKED_LEVEL]
    if level == NONE:
        return
    waited = max(0, until_ns - dispatchers[d, D_BLOCKED_AT_NS])
    dispatchers[d, D_BLOCKED_NS] += waited
    dispatchers[d, D_BLOCKED_NS_BY + level] += waited
    dispatchers[d, D_BLOCKED_AT_NS] += waited


@compiled
def note_waiting(topics, t, dispatchers, d):  # type: ignore[no-untyped-def]
    """Fill in what waits beyond the read position now: nothing, if the cursor was closed."""
    if dispatchers[d, D_CURSOR_KNOWN] == 0:
        dispatchers[d, D_WAITING_ENTRIES] = 0
        dispatchers[d, D_WAITING_BYTES] = 0
        return
    dispatchers[d, D_WAITING_ENTRIES] = max(0, topics[t, T_PUBLISHED_ENTRIES] - dispatchers[d, D_READ_ENTRIES])
    dispatchers[d, D_WAITING_BYTES] = max(0, topics[t, T_PUBLISHED_BYTES] - dispatchers[d, D_READ_BYTES])


@compiled
def close_dispatcher(scalars, topics, t, dispatchers, dispatcher_limiters, d, closed_dispatchers, closed_limiters, ts, ns):  # type: ignore[no-untyped-def]
    """The dispatcher object ends, and its limiter with it."""
    if dispatchers[d, D_OPEN] == 0:
        return
    charge_blocked_time(dispatchers, d, ns)
    note_waiting(topics, t, dispatchers, d)
    dispatchers[d, D_CLOSED_AT] = ts
    dispatchers[d, D_BEGAN_COMPLETE] &= 1 if dispatchers[d, D_LOSSES_AT_OPEN] == scalars[S_LOSSES] else 0
    closed_dispatchers[scalars[S_CLOSED_DISPATCHERS], :] = dispatchers[d, :]
    scalars[S_CLOSED_DISPATCHERS] += 1
    clear_incarnation(dispatchers, d)
    close_limiter(scalars, dispatcher_limiters, d, closed_limiters, ts, ns)


@compiled
def close_limiter(scalars, limiters, r, closed_limiters, ts, ns):  # type: ignore[no-untyped-def]
    """The limiter object ends with its owner."""
    if limiters[r, L_EXISTS] == 0:
        return
    settle(limiters, r, ns)
    limiters[r, L_CLOSED_AT] = ts
    limiters[r, L_BEGAN_COMPLETE] &= 1 if limiters[r, L_LOSSES_AT_CREATION] == scalars[S_LOSSES] else 0
    closed_limiters[scalars[S_CLOSED_LIMITERS], :] = limiters[r, :]
    scalars[S_CLOSED_LIMITERS] += 1
    limiters[r, :] = 0


@compiled
def settle(limiters, r, ns):  # type: ignore[no-untyped-def]
    """Let a classic limiter's due ticks pass, so that its books are right at `ns`."""
    if limiters[r, L_KIND] == CLASSIC:
        for dimension in range(2):
            tick(limiters, r, dimension_base(dimension), ns)


@compiled
def close_topic(scalars, topics, topic_limiters, t, dispatchers, dispatcher_limiters, closed_dispatchers, closed_limiters, ts, ns):  # type: ignore[no-untyped-def]
    """The topic object ends: its dispatchers, cursors, ledgers and limiter go with it."""
    d = topics[t, T_FIRST_DISPATCHER]
    while d != NONE:
        close_dispatcher(scalars, topics, t, dispatchers, dispatcher_limiters, d, closed_dispatchers, closed_limiters, ts, ns)
        dispatchers[d, D_CURSOR_KNOWN : dispatcher_own_end()] = 0
        d = dispatchers[d, D_NEXT_OF_TOPIC]
    close_limiter(scalars, topic_limiters, t, closed_limiters, ts, ns)
    topics[t, T_LOADED] = 0
    topics[t, T_GENERATION] += 1
    topics[t, T_PUBLISHED_ENTRIES] = 0
    topics[t, T_PUBLISHED_BYTES] = 0


@compiled
def dispatcher_own_end():  # type: ignore[no-untyped-def]
    """First column after the cursor's columns."""
    return D_THROTTLED


@compiled
def set_rate(event, scalars, broker_limiter, topics, topic_limiters, dispatchers, dispatcher_limiters, topic_index, dispatcher_index):  # type: ignore[no-untyped-def]
    """`dispatch_rate`: a limiter is made, or its rate is applied again."""
    level = event[S0]
    if level == BROKER:
        apply_to_limiter(event, scalars, broker_limiter, 0, BROKER, scalars[S_STARTED])
        return
    t = topic_row(topics, topic_limiters, topic_index, scalars, event[TOPIC_ID])
    if level == TOPIC:
        apply_to_limiter(event, scalars, topic_limiters, t, TOPIC, topics[t, T_LOADED])
        return
    d = dispatcher_row(topics, t, dispatchers, dispatcher_limiters, dispatcher_index, scalars, event[SUB_ID])
    ensure_open(scalars, dispatchers, d, event[TS])
    apply_to_limiter(event, scalars, dispatcher_limiters, d, SUBSCRIPTION, dispatchers[d, D_BEGAN_COMPLETE])


@compiled
def apply_to_limiter(event, scalars, limiters, r, level, complete):  # type: ignore[no-untyped-def]
    """Make the limiter if it does not exist, then apply both rates. Slots: level, msg_rate, byte_rate, period_s, relative, limiter."""
    kind = CLASSIC if event[S0 + 5] == 1 else TOKEN_BUCKET
    is_new = limiters[r, L_EXISTS] == 0
    if is_new:
        limiters[r, :] = 0
        limiters[r, L_EXISTS] = 1
        limiters[r, L_LEVEL] = level
        limiters[r, L_TOPIC] = event[TOPIC_ID]
        limiters[r, L_SUB] = event[SUB_ID]
        limiters[r, L_CREATED_AT] = event[TS]
        limiters[r, L_CLOSED_AT] = NONE
        limiters[r, L_BEGAN_COMPLETE] = complete
        limiters[r, L_LOSSES_AT_CREATION] = scalars[S_LOSSES]
    elif limiters[r, L_KIND] != kind:
        is_new = True
    limiters[r, L_KIND] = kind
    limiters[r, L_RELATIVE] = event[S0 + 4]
    limiters[r, L_PERIOD_MS] = max(event[S0 + 3], 0 if kind == CLASSIC else 1) * 1000
    for dimension in range(2):
        base = dimension_base(dimension)
        rate = event[S0 + 1 + dimension]
        apply_rate(limiters, r, base, kind, is_new, rate, event[S0 + 3], event[NS])
        if rate > 0:
            limiters[r, base + L_APPLIED] += 1
            if limiters[r, base + L_SHOWN_RATE] == 0:
                limiters[r, base + L_PERMITS_START] = balance(limiters, r, base)
            limiters[r, base + L_SHOWN_RATE] = limiters[r, base + L_RATE]
