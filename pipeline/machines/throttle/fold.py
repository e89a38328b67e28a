"""The compiled fold: events of one broker in `seq` order, applied to the arrays of layout.py, one small rule per event type.

Law: an event either is applied whole or not at all. Before each event the fold checks that the arrays have room for whatever it could add; if not it
stops there, and its caller makes room and goes on from the same event.
"""

from pipeline.machines.compiled import compiled
from pipeline.machines.throttle.dispatching import charge, evaluate_read
from pipeline.machines.throttle.incarnations import (
    close_dispatcher,
    close_topic,
    count_dispatchers,
    dispatcher_row,
    ensure_open,
    open_dispatcher,
    set_rate,
    topic_row,
)
from pipeline.machines.throttle.layout import (
    D_CURSOR_KNOWN,
    NONE,
    S_BATCH_MODE,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LEDGERS,
    S_LOSSES,
    S_STARTED,
    S_TOPICS,
    T_LOADED,
)
from pipeline.machines.throttle.positions import (
    count_consumer,
    known_ledger,
    mark_delete,
    meet_cursor,
    open_cursor,
    open_ledger,
    publish,
    trim_ledger,
)
from schemas.events import CODES, TOMBSTONE_CODE
from schemas.lane_columns import COLUMN

BROKER_START, SETTING, DISPATCH_RATE = CODES["broker_start"], CODES["setting"], CODES["dispatch_rate"]
TOPIC_LOAD, TOPIC_UNLOAD = CODES["topic_load"], CODES["topic_unload"]
LEDGER_OPEN, LEDGER_CLOSE, LEDGER_TRIM = CODES["ledger_open"], CODES["ledger_close"], CODES["ledger_trim"]
CURSOR_OPEN, CURSOR_CLOSE = CODES["cursor_open"], CODES["cursor_close"]
DISPATCHER_OPEN, DISPATCHER_CLOSE = CODES["dispatcher_open"], CODES["dispatcher_close"]
CONSUMER_OPEN, CONSUMER_CLOSE = CODES["consumer_open"], CODES["consumer_close"]
PUBLISH, READ, DISPATCH, MARK_DELETE = CODES["publish"], CODES["read"], CODES["dispatch"], CODES["mark_delete"]
TS, NS, TYPE, TOPIC_ID, SUB_ID, MASK, S0 = (COLUMN[c] for c in ("ts", "ns", "type_code", "topic_id", "sub_id", "mask", "s0"))


@compiled
def has_room(scalars, topics, dispatchers, ledgers, closed_dispatchers, closed_limiters, topic_index, dispatcher_index, event):  # type: ignore[no-untyped-def]
    """Whether one more event can be applied without growing any array."""
    if scalars[S_TOPICS] >= topics.shape[0] or scalars[S_DISPATCHERS] >= dispatchers.shape[0] or scalars[S_LEDGERS] >= ledgers.shape[0]:
        return False
    ending = 1
    if event[TYPE] == TOPIC_UNLOAD or event[TYPE] == TOPIC_LOAD:
        ending = 1 + count_dispatchers(topics, dispatchers, topic_index, event[TOPIC_ID])
    room_for_dispatchers = scalars[S_CLOSED_DISPATCHERS] + ending <= closed_dispatchers.shape[0]
    return room_for_dispatchers and scalars[S_CLOSED_LIMITERS] + ending <= closed_limiters.shape[0]


@compiled
def fold(  # type: ignore[no-untyped-def]
    events, start, scalars, broker_limiter, topics, topic_limiters, dispatchers, dispatcher_limiters, ledgers,
    closed_dispatchers, closed_limiters, topic_index, dispatcher_index, ledger_index, answers, present, lowered,
):  # fmt: skip
    """Apply `events[start:]` (int64 [n, LANE_COLUMNS], in order). Returns the position of the first event that was not applied: n, or where room ran out."""
    for i in range(start, events.shape[0]):
        event = events[i]
        code = event[TYPE]
        if code == TOMBSTONE_CODE:
            scalars[S_LOSSES] += 1
            continue
        if code == BROKER_START or code == SETTING:
            if code == BROKER_START:
                scalars[S_STARTED] = 1
            if event[MASK] & 1:
                scalars[S_BATCH_MODE] = event[S0]
            continue
        if not is_ours(code):
            continue
        if not has_room(scalars, topics, dispatchers, ledgers, closed_dispatchers, closed_limiters, topic_index, dispatcher_index, event):
            return i
        if code == DISPATCH_RATE:
            set_rate(
                event, scalars, broker_limiter, topics, topic_limiters, dispatchers, dispatcher_limiters, topic_index, dispatcher_index
            )
            continue
        t = topic_row(topics, topic_limiters, topic_index, scalars, event[TOPIC_ID])
        if code == TOPIC_LOAD or code == TOPIC_UNLOAD:
            close_topic(
                scalars,
                topics,
                topic_limiters,
                t,
                dispatchers,
                dispatcher_limiters,
                closed_dispatchers,
                closed_limiters,
                event[TS],
                event[NS],
            )
            topics[t, T_LOADED] = 1 if code == TOPIC_LOAD else 0
        elif code == PUBLISH:
            publish(ledgers, open_ledger(ledgers, ledger_index, scalars, topics, t, event[S0]), topics, t, 1, event[S0 + 3])
        elif code == LEDGER_OPEN:
            open_ledger(ledgers, ledger_index, scalars, topics, t, event[S0])
        elif code == LEDGER_CLOSE:
            if event[S0 + 4] == 1 and known_ledger(ledgers, ledger_index, topics, t, event[S0]) == NONE:
                publish(ledgers, open_ledger(ledgers, ledger_index, scalars, topics, t, event[S0]), topics, t, event[S0 + 1], event[S0 + 2])
        elif code == LEDGER_TRIM:
            trim_ledger(ledgers, ledger_index, topics, t, event[S0])
        else:
            d = dispatcher_row(topics, t, dispatchers, dispatcher_limiters, dispatcher_index, scalars, event[SUB_ID])
            apply_to_subscription(
                event, scalars, broker_limiter, topics, topic_limiters, t, dispatchers, dispatcher_limiters, d, ledgers, ledger_index,
                closed_dispatchers, closed_limiters, answers, present, lowered,
            )  # fmt: skip
    return events.shape[0]


@compiled
def is_ours(code):  # type: ignore[no-untyped-def]
    """Whether the throttle machine has a rule for the event type."""
    return (
        code == DISPATCH_RATE
        or (TOPIC_LOAD <= code <= CONSUMER_CLOSE)
        or (PUBLISH <= code <= DISPATCH)
        or code == MARK_DELETE
    )  # fmt: skip


@compiled
def apply_to_subscription(  # type: ignore[no-untyped-def]
    event, scalars, broker_limiter, topics, topic_limiters, t, dispatchers, dispatcher_limiters, d, ledgers, ledger_index,
    closed_dispatchers, closed_limiters, answers, present, lowered,
):  # fmt: skip
    """Events of one subscription: its cursor, its dispatcher, its consumers."""
    code = event[TYPE]
    if code == CURSOR_CLOSE:
        dispatchers[d, D_CURSOR_KNOWN] = 0
        return
    if code == DISPATCHER_CLOSE:
        close_dispatcher(scalars, topics, t, dispatchers, dispatcher_limiters, d, closed_dispatchers, closed_limiters, event[TS], event[NS])
        return
    if code == CURSOR_OPEN:
        g = known_ledger(ledgers, ledger_index, topics, t, event[S0])
        open_cursor(dispatchers, d, ledgers, g, topics, t, event[S0 + 1], event[S0 + 2])
        return
    meet_cursor(dispatchers, d, topics, t)
    if code == DISPATCHER_OPEN:
        close_dispatcher(scalars, topics, t, dispatchers, dispatcher_limiters, d, closed_dispatchers, closed_limiters, event[TS], event[NS])
        open_dispatcher(scalars, dispatchers, d, event[TS], event[S0], topics[t, T_LOADED])
    elif code == READ:
        ensure_open(scalars, dispatchers, d, event[TS])
        evaluate_read(event, broker_limiter, topics, topic_limiters, t, dispatchers, dispatcher_limiters, d, answers, present, lowered)
    elif code == DISPATCH:
        ensure_open(scalars, dispatchers, d, event[TS])
        charge(event, broker_limiter, topics, topic_limiters, t, dispatchers, dispatcher_limiters, d)
    elif code == MARK_DELETE:
        g = known_ledger(ledgers, ledger_index, topics, t, event[S0])
        if g != NONE and event[S0 + 2] == 0:
            mark_delete(dispatchers, d, ledgers, g, topics, t, event[S0 + 1], event[S0 + 3] == 1)
    else:
        count_consumer(dispatchers, d, topics, t, code == CONSUMER_OPEN)
