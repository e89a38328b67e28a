"""Why a subscription is behind, event by event: what lasted is charged first, then what the event changes is noted, then it is judged anew.

docs/causes.md has the rule of each cause. Most events touch one subscription. A publish touches those for which nothing waited.
"""

from typing import Any

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.broker.cursors import backlog_entries
from pipeline.machines.broker.layout import BYTES, CONSUMING, DIMENSION_COUNT, LEVEL_COUNT, MSG, NONE
from pipeline.machines.cause import fields as own
from pipeline.machines.cause.around import end_cursor, end_topic, forget_dispatcher, judge_row, settle_row, topic_of
from pipeline.machines.cause.charging import backlog_of, is_whole, settle
from pipeline.machines.cause.layout import BROKER_CAP, CONSUMER_CAP, NO_CHARGE, SUBSCRIPTION_CAP, THROTTLED
from pipeline.machines.cause.pace import measure
from pipeline.machines.cause.verdict import judge
from pipeline.machines.cause.waiting import forget_delivered, waiting_entries
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import add, narrow_to_int32
from pipeline.machines.records import Record, Records
from pipeline.machines.throttle.layout import MODELLED, OBSERVED

#: Two threads may write a publish and its delivery in the other order, this far apart at most.
LATE_NS = 10_000_000


@compiled_part
def on_new_topic(chains: Records, t: int) -> None:
    """No subscription is known."""
    chains[t].first_in_chain = NONE


@compiled_part
def on_new_subscription(charges: Records, s: int) -> None:
    """Nothing is known."""
    charges[s] = NO_CHARGE[0]


@compiled_part
def on_broker_start(pace: Record, event: Array) -> None:
    """Whether this log has what happens to deliveries."""
    pace.tells_deliveries = event[own.TELLS_DELIVERIES]


@compiled_part
def before_topic_load(broker: Any, cause: Any, t: int, event: Array) -> None:
    """An object of the topic that is still there ends."""
    end_topic(broker, cause, t, event[fields.NS])


@compiled_part
def before_topic_unload(broker: Any, cause: Any, t: int, event: Array) -> None:
    """Nobody knows what happens to the backlog until the topic is loaded again."""
    end_topic(broker, cause, t, event[fields.NS])


@compiled_part
def before_cursor_open(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A cursor that is still there ends."""
    end_cursor(broker, cause, t, s, event[fields.NS])


@compiled_part
def on_cursor_open(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A cursor of a subscription; Pulsar's own have no consumers that could be late."""
    charge, cursor = cause.charges[s], broker.cursors[s]
    charge.placed = 1 if cursor.cursor_owner == 0 else 0
    charge.losses = broker.settings[0].losses
    forget_delivered(charge, cursor)
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def before_cursor_close(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """Unsubscribed, or the reader is gone."""
    end_cursor(broker, cause, t, s, event[fields.NS])


@compiled_part
def on_dispatcher_open(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A new dispatcher."""
    settle_row(broker, cause, t, s, event[fields.NS])
    forget_dispatcher(cause.charges[s], event[fields.NS])
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_dispatcher_close(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """The dispatcher is gone."""
    on_dispatcher_open(broker, cause, t, s, event)


@compiled_part
def on_consumer_open(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A consumer: it has granted no permits yet."""
    settle_row(broker, cause, t, s, event[fields.NS])
    charge, losses = cause.charges[s], broker.settings[0].losses
    if charge.losses != losses:
        charge.permits_known, charge.granted_known, charge.losses = 0, 0, losses
    elif broker.readings[s].consumers == 1:
        forget_dispatcher(charge, event[fields.NS])
        charge.granted_known, charge.granted = 1, 0
    charge.had_consumer, charge.is_attached, charge.moved_ns = 1, 0, event[fields.NS]
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_consumer_close(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A consumer is gone; with the last one what was in flight goes back. Whose permits the others have is not known until the next read."""
    settle_row(broker, cause, t, s, event[fields.NS])
    charge = cause.charges[s]
    charge.granted_known, charge.is_attached, charge.moved_ns = 0, 0, event[fields.NS]
    if broker.readings[s].consumers == 0:
        forget_dispatcher(charge, event[fields.NS])
        forget_delivered(charge, broker.cursors[s])
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def needs_on_publish(chain: Record) -> bool:
    """Whether nothing waited for a subscription of the topic."""
    return chain.first_in_chain != NONE


@compiled_part
def on_publish(
    charges: Records,
    chain: Record,
    topic: Record,
    subscriptions: Records,
    cursors: Records,
    readings: Records,
    dispatchers: Records,
    settings: Record,
    pace: Record,
    connectivity: Record,
    attachments: Records,
    connections: Records,
    event: Array,
) -> None:
    """Subscriptions for which nothing waited have something to read now."""
    ts, ns = event[fields.TS], event[fields.NS]
    s = chain.first_in_chain
    chain.first_in_chain = NONE
    while s != NONE:
        charge, cursor = charges[s], cursors[s]
        following = charge.next_in_chain
        charge.in_chain, charge.next_in_chain = 0, NONE
        if cursor.open == 1:
            settle(charge, topic, cursor, dispatchers[s], settings, pace, ns)
            if charge.running == 0 and ns > charge.moved_ns + LATE_NS:
                charge.delivered = 0
            charge.moved_ns = max(charge.moved_ns, ns)
            judge(charges, chain, s, topic, subscriptions[s], cursor, readings[s], settings, connectivity, attachments, connections, ts, ns)
        s = following


@compiled_part
def needs_on_ledger_close(chain: Record) -> bool:
    """As a publish: the ledger may have more entries than were seen."""
    return chain.first_in_chain != NONE


@compiled_part
def on_ledger_close(
    charges: Records,
    chain: Record,
    topic: Record,
    subscriptions: Records,
    cursors: Records,
    readings: Records,
    dispatchers: Records,
    settings: Record,
    pace: Record,
    connectivity: Record,
    attachments: Records,
    connections: Records,
    event: Array,
) -> None:
    """The ledger may have more entries than were seen."""
    on_publish(
        charges, chain, topic, subscriptions, cursors, readings, dispatchers, settings, pace, connectivity, attachments, connections, event
    )  # fmt: skip


@compiled_part
def on_ledger_trim(broker: Any, cause: Any, t: int, event: Array) -> None:
    """Entries that somebody still had to read may be gone."""
    s = broker.topics[t].first_cursor
    while s != NONE:
        settle_row(broker, cause, t, s, event[fields.NS])
        judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])
        s = broker.cursors[s].next_of_topic


@compiled_part
def on_read(
    charges: Records,
    chain: Record,
    s: int,
    topic: Record,
    subscription: Record,
    cursor: Record,
    reading: Record,
    dispatcher: Record,
    settings: Record,
    pace: Record,
    connectivity: Record,
    attachments: Records,
    connections: Records,
    throttling: Record,
    working: Record,
    event: Array,
) -> None:
    """The dispatcher asks for entries: a limiter blocks it, or a read is out until something is delivered."""
    charge, ns = charges[s], event[fields.NS]
    settle(charge, topic, cursor, dispatcher, settings, pace, ns)
    _note_alive(charge, cursor, reading, settings)
    if throttling.blocked_level != NONE:
        charge.blocked, charge.is_out, charge.moved_ns = _blocked_account(throttling.blocked_level, working), 0, ns
    else:
        charge.blocked = NONE
        if charge.is_out == 0:
            charge.is_out, charge.moved_ns = 1, ns
    charge.permits_known = 1 if fields.has(event, own.READ_PERMITS) else 0
    charge.permits = event[own.READ_PERMITS]
    if charge.running == 1:
        judge(charges, chain, s, topic, subscription, cursor, reading, settings, connectivity, attachments, connections, event[fields.TS], ns)


@compiled_part
def _note_alive(charge: Record, cursor: Record, reading: Record, settings: Record) -> None:
    """Who reads or is served has a consumer. One that was not seen coming counts, unless the count of consumers is whole: then the last one
    has just left, and this is the work of another thread.
    """
    charge.losses = settings.losses
    if reading.consumers == 0 and charge.is_attached == 0:
        charge.is_attached = 0 if is_whole(cursor, settings) == 1 and charge.had_consumer == 1 else 1


@compiled_part
def _blocked_account(level: int, working: Record) -> int:
    """The account of the limiter that left nothing: of its messages, if both ran out."""
    is_observed = False
    for each in range(LEVEL_COUNT):
        is_observed = is_observed or working.present[OBSERVED, each] == 1
    answers = OBSERVED if is_observed else MODELLED
    no_bytes = working.answers[answers, level, BYTES] == 0
    no_messages = narrow_to_int32(working.answers[answers, level, MSG]) == 0
    return THROTTLED + DIMENSION_COUNT * level + (BYTES if no_bytes and not no_messages else MSG)


@compiled_part
def on_dispatch(
    charges: Records,
    chain: Record,
    s: int,
    topic: Record,
    subscription: Record,
    cursor: Record,
    reading: Record,
    dispatcher: Record,
    settings: Record,
    pace: Record,
    connectivity: Record,
    attachments: Records,
    connections: Records,
    event: Array,
) -> None:
    """Entries went to consumers: the read that was out came back, permits are used up."""
    charge, ns = charges[s], event[fields.NS]
    settle(charge, topic, cursor, dispatcher, settings, pace, ns)
    if charge.losses != settings.losses:
        charge.permits_known = 0
    _note_alive(charge, cursor, reading, settings)
    if charge.is_out == 1 and charge.running == 1 and ns > charge.moved_ns:
        measure(pace, ns - charge.moved_ns)
    charge.is_out, charge.moved_ns = 0, ns
    charge.permits -= event[fields.MSGS]
    charge.granted -= event[fields.MSGS]
    charge.delivered = add(charge.delivered, event[fields.ENTRIES])
    if charge.running == 1:
        judge(charges, chain, s, topic, subscription, cursor, reading, settings, connectivity, attachments, connections, event[fields.TS], ns)


@compiled_part
def needs_on_ack(charge: Record, cursor: Record) -> bool:
    """Whether the backlog may be over: as many entries were acknowledged as it had."""
    return charge.running == 1 and cursor.acknowledged - charge.acknowledged_seen >= charge.backlog_seen


@compiled_part
def on_ack(
    charges: Records,
    chain: Record,
    s: int,
    topic: Record,
    subscription: Record,
    cursor: Record,
    reading: Record,
    dispatcher: Record,
    settings: Record,
    pace: Record,
    connectivity: Record,
    attachments: Records,
    connections: Records,
    event: Array,
) -> None:
    """The backlog may be over."""
    ts, ns = event[fields.TS], event[fields.NS]
    settle(charges[s], topic, cursor, dispatcher, settings, pace, ns)
    judge(charges, chain, s, topic, subscription, cursor, reading, settings, connectivity, attachments, connections, ts, ns)


@compiled_part
def needs_before_mark_delete(charge: Record, event: Array) -> bool:
    """Whether the backlog may fall by many."""
    return charge.running == 1 and event[fields.MARK_PERSISTED] == 0


@compiled_part
def before_mark_delete(charge: Record, topic: Record, cursor: Record, dispatcher: Record, settings: Record, pace: Record, event: Array) -> None:
    """The backlog was what it is until now."""
    settle(charge, topic, cursor, dispatcher, settings, pace, event[fields.NS])


@compiled_part
def needs_on_mark_delete(charge: Record, cursor: Record, settings: Record, event: Array) -> bool:
    """Whether the move is more than what acknowledgements have brought about, or the backlog may be over, or is not certain."""
    if event[fields.MARK_PERSISTED] == 1:
        return False
    if event[fields.MARK_RESET] == 1 or charge.placed == 0 or is_whole(cursor, settings) == 0:
        return True
    is_removed = cursor.evicted + cursor.expired != charge.removed_seen
    return is_removed or (charge.running == 1 and cursor.acknowledged - charge.acknowledged_seen >= charge.backlog_seen)


@compiled_part
def on_mark_delete(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """The cursor was moved: by a seek, an eviction, TTL, or acknowledgements of all that it had."""
    charge, topic, cursor, reading = cause.charges[s], broker.topics[t], broker.cursors[s], broker.readings[s]
    if charge.placed == 0 and cursor.cursor_owner != 0:
        return
    charge.placed = 1
    if is_whole(cursor, broker.settings[0]) == 0:
        charge.offset = 0
        gone = cursor.acknowledged + cursor.evicted + cursor.expired
        waterfall = cursor.opened_backlog + topic.end_entries - cursor.opened_end - gone + cursor.sought
        charge.offset = backlog_entries(topic, broker.ledgers, cursor) - waterfall
    if event[fields.MARK_RESET] == 1:
        forget_delivered(charge, cursor)
        charge.moved_ns = max(charge.moved_ns, event[fields.NS])
    elif cursor.evicted + cursor.expired != charge.removed_seen:
        _forget_removed(charge, topic, cursor, reading)
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def _forget_removed(charge: Record, topic: Record, cursor: Record, reading: Record) -> None:
    """Of the entries that were removed some had been delivered: all before the read position."""
    removed = cursor.evicted + cursor.expired - charge.removed_seen
    if charge.is_redelivered == 1 or reading.known == 0:
        charge.delivered = max(0, charge.delivered - removed)
        return
    beyond = max(0, topic.end_entries - reading.entries)
    charge.delivered = min(charge.delivered, max(0, backlog_of(topic, cursor, charge) - beyond))


@compiled_part
def on_flow(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A consumer granted permits. A dispatcher that had none reads at once."""
    charge = cause.charges[s]
    settle_row(broker, cause, t, s, event[fields.NS])
    before = charge.granted
    charge.granted = add(charge.granted, event[own.GRANTED_PERMITS])
    if before <= 0 < charge.granted and charge.is_out == 0 and charge.permits <= 0:
        charge.moved_ns = event[fields.NS]


@compiled_part
def on_consumer_blocked(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A cap of unacknowledged messages stops deliveries, or does no longer."""
    charge, cap, is_on = cause.charges[s], event[own.CAP], event[own.CAP_ON]
    settle_row(broker, cause, t, s, event[fields.NS])
    if cap == CONSUMER_CAP:
        charge.consumers_capped = max(0, charge.consumers_capped + (1 if is_on == 1 else -1))
    elif cap == SUBSCRIPTION_CAP or cap == BROKER_CAP:
        charge.is_capped = charge.is_capped | (1 << cap) if is_on == 1 else charge.is_capped & ~(1 << cap)
    charge.moved_ns = event[fields.NS]
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_delayed(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """So many entries are held for later delivery."""
    charge = cause.charges[s]
    settle_row(broker, cause, t, s, event[fields.NS])
    charge.delayed, charge.moved_ns = event[own.DELAYED_ENTRIES], event[fields.NS]
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_redeliver(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """Entries that were delivered wait again: so many, or all of them."""
    charge, topic, cursor = cause.charges[s], broker.topics[t], broker.cursors[s]
    settle_row(broker, cause, t, s, event[fields.NS])
    waiting_entries(charge, topic, cursor, broker.readings[s], backlog_of(topic, cursor, charge))
    again = event[own.REDELIVERED_ENTRIES] if fields.has(event, own.REDELIVERED_ENTRIES) else charge.delivered
    charge.delivered, charge.is_redelivered = max(0, charge.delivered - again), 1
    charge.moved_ns = event[fields.NS]
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_read_done(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """Storage gave what was asked for. A read that failed is tried again: it stays out."""
    charge, ns = cause.charges[s], event[fields.NS]
    if event[own.FAILED] == 1:
        return
    settle_row(broker, cause, t, s, ns)
    if charge.is_out == 1 and charge.running == 1 and ns > charge.moved_ns:
        measure(cause.pace[0], ns - charge.moved_ns)
    charge.is_out, charge.moved_ns = 0, ns


@compiled_part
def on_writability(broker: Any, cause: Any, c: int, event: Array) -> None:
    """The channel crossed a water mark: all subscriptions with consumers on it are judged anew."""
    a = broker.connections[c].first_attachment[CONSUMING]
    while a != NONE:
        s = broker.attachments[a].target
        t = topic_of(broker, s)
        settle_row(broker, cause, t, s, event[fields.NS])
        if cause.charges[s].running == 1:
            cause.charges[s].moved_ns = max(cause.charges[s].moved_ns, event[fields.NS])
            judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])
        a = broker.attachments[a].next_of_connection
