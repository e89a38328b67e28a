"""Why a subscription is behind, event by event: what lasted is charged first, then what the event changes is noted, then it is judged anew.

docs/design/causes.md has the rule of each cause. Most events touch one subscription. A publish touches those for which nothing waited.
"""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.cursors import backlog_entries, is_of_subscription, is_whole
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause import fields as own
from pipeline.rules.cause.caps import note_cap, note_read_of_one_consumer
from pipeline.rules.cause.case import Case, Cases
from pipeline.rules.cause.charging import advance_area, backlog_of, correct_waterfall, settle, settle_if_due
from pipeline.rules.cause.doubt import has_lost
from pipeline.rules.cause.judging import judge, judge_anew
from pipeline.rules.cause.layout import (
    ENDED,
    OPEN,
    PERMITS_UNKNOWN,
)
from pipeline.rules.cause.lives import before_cursor_close as before_cursor_close
from pipeline.rules.cause.lives import before_cursor_open as before_cursor_open
from pipeline.rules.cause.lives import before_topic_load as before_topic_load
from pipeline.rules.cause.lives import before_topic_unload as before_topic_unload
from pipeline.rules.cause.lives import on_broker_start as on_broker_start
from pipeline.rules.cause.lives import on_consumer_close as on_consumer_close
from pipeline.rules.cause.lives import on_consumer_open as on_consumer_open
from pipeline.rules.cause.lives import on_cursor_open as on_cursor_open
from pipeline.rules.cause.lives import on_dispatcher_close as on_dispatcher_close
from pipeline.rules.cause.lives import on_dispatcher_open as on_dispatcher_open
from pipeline.rules.cause.lives import on_new_subscription as on_new_subscription
from pipeline.rules.cause.lives import on_new_topic as on_new_topic
from pipeline.rules.cause.majority import let_look
from pipeline.rules.cause.margins import MarginTable, note_margin
from pipeline.rules.cause.progress import note_moved, note_progress
from pipeline.rules.cause.rare_events import (
    judge_consumers_of,
    judge_row,
    settle_row,
    wake_row,
)
from pipeline.rules.cause.reads import (
    measure_turnaround,
    note_alive,
    note_asked_in_vain,
    note_came_back,
    note_done,
    note_read,
    note_taken,
    note_whether_parked,
)
from pipeline.rules.cause.repeats import forget_given_back, limit_to
from pipeline.rules.cause.stalls import is_fruitless
from pipeline.rules.cause.stated import before_state as before_state
from pipeline.rules.cause.stated import before_topic_state as before_topic_state
from pipeline.rules.cause.stated import needs_before_topic_state as needs_before_topic_state
from pipeline.rules.cause.stated import needs_on_consumer_state as needs_on_consumer_state
from pipeline.rules.cause.stated import needs_on_state as needs_on_state
from pipeline.rules.cause.stated import needs_on_topic_state as needs_on_topic_state
from pipeline.rules.cause.stated import on_consumer_state as on_consumer_state
from pipeline.rules.cause.stated import on_state as on_state
from pipeline.rules.cause.stated import on_topic_state as on_topic_state
from pipeline.rules.cause.transitions import is_due as is_due
from pipeline.rules.cause.transitions import when_due as when_due
from pipeline.rules.cause.waiting import ask_again, forget_delivered, forget_removed, note_span, waiting_now
from pipeline.rules.cause.waking import wake
from pipeline.rules.cause.watching import look_at_channels, may_be_over, may_be_unwritable, watch
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record, Records
from pipeline.rules.throttle.reads import Limiters
from schemas.events import TRANSACTION_ACTIONS

PUBLISHED_IN_TRANSACTION = TRANSACTION_ACTIONS.index("publish")
ENDS_OF_TRANSACTIONS = (TRANSACTION_ACTIONS.index("commit"), TRANSACTION_ACTIONS.index("abort"))


@inlined_part
def before_publish(chain: Record, topic: Record, event: Array) -> None:
    """All backlogs of the topic are about to grow."""
    advance_area(chain, topic, event[fields.NS])


@compiled_part
def needs_on_publish(chain: Record) -> bool:
    """Whether nothing waited for a subscription of the topic."""
    return chain.first_in_chain != NONE


@inlined_part
def on_publish(cases: Cases, event: Array) -> None:
    """Subscriptions for which nothing waited have something to read now."""
    wake(cases, event[fields.TS], event[fields.NS])


#: As a publish: the ledger may have more entries than were seen.
before_ledger_close, needs_on_ledger_close = before_publish, needs_on_publish


@compiled_part
def on_ledger_close(broker: Any, cause: Any, t: int, event: Array) -> None:
    """The ledger may have more entries than were seen."""
    wake_row(broker, cause, t, event[fields.TS], event[fields.NS])


@compiled_part
def on_ledger_trim(broker: Any, cause: Any, t: int, event: Array) -> None:
    """Entries that somebody still had to read may be gone."""
    s = broker.topics[t].first_cursor
    while s != NONE:
        settle_row(broker, cause, t, s, event[fields.NS])
        judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])
        s = broker.cursors[s].next_of_topic


@compiled_part
def needs_before_read(subscription: Record, connectivity: Record) -> bool:
    """Whether all connections of the subscription may be unwritable."""
    return may_be_unwritable(subscription, connectivity)


@compiled_part
def before_read(subscription: Record, connectivity: Record, attachments: Records, connections: Records) -> None:
    """Note whether they are."""
    look_at_channels(subscription, connectivity, attachments, connections)


@inlined_part
def on_read(case: Case, throttling: Record, limiters: Limiters, working: Record, margin_table: MarginTable, event: Array) -> None:
    """The dispatcher asks for entries: a limiter blocks it, or a read is out until something is delivered."""
    charge, pace, ns = case.charge, case.pace, event[fields.NS]
    pace.largest_read = max(pace.largest_read, event[fields.WANT_LEFT] >> fields.WANT_SHIFT)
    settle_if_due(case, ns)
    note_alive(charge, case.cursor, case.reading, case.settings, ns)
    note_read_of_one_consumer(charge, case.reading)
    note_read(charge, throttling, working, event)
    note_asked_in_vain(charge, case.dispatcher, ns)
    if charge.running == 1:
        judge(case, True, event[fields.TS], ns)
    if charge.running == 1 and charge.blocked != NONE and charge.account == charge.blocked:
        note_margin(margin_table, case, limiters, working, event)
    note_whether_parked(charge)


#: A delivery asks the same as a read.
needs_before_dispatch, before_dispatch = needs_before_read, before_read


@inlined_part
def on_dispatch(case: Case, ledgers: Records, event: Array) -> None:
    """Entries went to consumers: the read that was out came back, permits are used up."""
    charge, topic, cursor, settings, pace, ns = case.charge, case.topic, case.cursor, case.settings, case.pace, event[fields.NS]
    note_came_back(charge, pace, ns)
    settle_if_due(case, ns)
    if has_lost(charge, settings, pace, ns):
        charge.permits_known = PERMITS_UNKNOWN
    note_alive(charge, cursor, case.reading, settings, ns)
    measure_turnaround(charge, pace, ns)
    note_taken(charge, cursor, event[fields.ENTRIES], ns)
    charge.permits -= event[fields.MSGS]
    charge.granted -= event[fields.MSGS]
    charge.delivered = add(charge.delivered, event[fields.ENTRIES])
    if is_whole(cursor, settings) == 0 and fields.has(event, fields.LAST_ENTRY):
        note_span(charge, topic, ledgers, settings, backlog_of(topic, cursor, charge), event[fields.LAST_LEDGER], event[fields.LAST_ENTRY])
    if charge.running == 1:
        judge(case, True, event[fields.TS], ns)


@compiled_part
def needs_on_ack(charge: Record, cursor: Record) -> bool:
    """Whether the backlog may be over, or most of it may be elsewhere now."""
    return cursor.acknowledged >= cursor.look_at and may_be_over(charge, cursor)


@compiled_part
def on_ack(case: Case, attachments: Records, connections: Records, event: Array) -> None:
    """The backlog may be over, or its time may go elsewhere."""
    charge, ns = case.charge, event[fields.NS]
    settle_if_due(case, ns)
    if is_fruitless(charge):
        charge.progress_ns, charge.fruitless = ns, 0
    judge_anew(case, attachments, connections, event[fields.TS], ns)


#: The broker acknowledged for the subscription: what waits may be less, without any delivery.
on_broker_ack = on_ack


@compiled_part
def needs_before_mark_delete(charge: Record, event: Array) -> bool:
    """Whether the backlog may fall by many."""
    return event[fields.MARK_PERSISTED] == 0 and charge.running == 1


@compiled_part
def before_mark_delete(case: Case, event: Array) -> None:
    """The backlog was what it is until now."""
    settle(case, event[fields.NS])


@compiled_part
def needs_on_mark_delete(charge: Record, cursor: Record, settings: Record, event: Array) -> bool:
    """Whether the move is more than what acknowledgements have brought about, or the backlog may be over, or is not certain."""
    if event[fields.MARK_PERSISTED] == 1:
        return False
    if event[fields.MARK_RESET] == 1 or charge.placed == 0 or is_whole(cursor, settings) == 0:
        return True
    return cursor.evicted + cursor.expired != charge.removed_seen or may_be_over(charge, cursor)


@compiled_part
def on_mark_delete(case: Case, ledgers: Records, attachments: Records, connections: Records, event: Array) -> None:
    """The cursor was moved: by a seek, an eviction, TTL, or acknowledgements of all that it had."""
    charge, topic, cursor, settings = case.charge, case.topic, case.cursor, case.settings
    if charge.placed == 0 and not is_of_subscription(cursor):
        return
    if charge.placed == 0:  # what was lost before its position was known is no reason to doubt what is seen of it
        charge.placed, charge.certain_lost = 1, settings.events_lost
    if is_whole(cursor, settings) == 0:
        correct_waterfall(charge, topic, cursor, backlog_entries(topic, ledgers, cursor))
    if event[fields.MARK_RESET] == 1 or backlog_of(topic, cursor, charge) == 0:
        charge.certain_lost = settings.events_lost
    if event[fields.MARK_RESET] == 1:
        forget_delivered(charge, cursor)
        forget_given_back(charge)
        note_progress(charge, max(charge.moved_ns, event[fields.NS]))
    elif cursor.evicted + cursor.expired != charge.removed_seen:
        forget_removed(charge, topic, cursor, case.reading, backlog_of(topic, cursor, charge))
    judge_anew(case, attachments, connections, event[fields.TS], event[fields.NS])


@compiled_part
def on_flow(case: Case, event: Array) -> None:
    """A consumer granted permits. A dispatcher that had none reads at once."""
    charge = case.charge
    settle(case, event[fields.NS])
    let_look(charge, case.pace, case.s)
    before = charge.granted
    charge.granted = add(charge.granted, event[own.GRANTED_PERMITS])
    if charge.granted_known == 1 and before <= 0 < charge.granted and charge.is_out == 0 and charge.permits <= 0:
        note_progress(charge, event[fields.NS])


@compiled_part
def on_consumer_blocked(case: Case, attachments: Records, connections: Records, event: Array) -> None:
    """A cap of unacknowledged messages stops deliveries, or does no longer."""
    settle(case, event[fields.NS])
    note_cap(case.charge, case.reading, event[own.CAP], event[own.CAP_ON])
    note_progress(case.charge, event[fields.NS])
    judge_anew(case, attachments, connections, event[fields.TS], event[fields.NS])


@compiled_part
def on_delayed(case: Case, attachments: Records, connections: Records, event: Array) -> None:
    """So many entries are held for later delivery."""
    settle(case, event[fields.NS])
    note_moved(case, event[fields.NS])
    case.charge.delayed = event[own.DELAYED_ENTRIES]
    judge_anew(case, attachments, connections, event[fields.TS], event[fields.NS])


@compiled_part
def on_redeliver(case: Case, attachments: Records, connections: Records, event: Array) -> None:
    """Entries that were delivered wait again: so many, or all of them."""
    charge = case.charge
    settle(case, event[fields.NS])
    note_moved(case, event[fields.NS])
    waiting_now(case)
    ask_again(charge, event[own.REDELIVERED_ENTRIES] if fields.has(event, own.REDELIVERED_ENTRIES) else charge.delivered)
    judge_anew(case, attachments, connections, event[fields.TS], event[fields.NS])


@compiled_part
def on_read_done(case: Case, event: Array) -> None:
    """Storage gave what was asked for. A read that failed is tried again: it stays out."""
    charge, pace, ns = case.charge, case.pace, event[fields.NS]
    if event[own.FAILED] == 1:
        pace.slow_ns = max(pace.slow_ns, ns)
        return
    note_came_back(charge, pace, ns)
    settle(case, ns)
    measure_turnaround(charge, pace, ns)
    note_done(charge, event[own.DONE_ENTRIES], event[own.DONE_REPLAY], ns)
    limit_to(charge, waiting_now(case))
    watch(charge, case.cursor)


@compiled_part
def on_transaction(chain: Record, event: Array) -> None:
    """Something was published in a transaction: nothing behind it may be read until it ends. Which one ends no log of 1.1 has."""
    if chain.counts_transactions == 1:
        return
    action = event[own.TRANSACTION_ACTION]
    if action == PUBLISHED_IN_TRANSACTION:
        chain.transaction = OPEN
    elif action in ENDS_OF_TRANSACTIONS:
        chain.transaction = ENDED


@compiled_part
def on_transaction_open(chain: Record, event: Array) -> None:
    """A transaction began or ended, and so many are open."""
    chain.counts_transactions = 1
    chain.transaction = OPEN if event[own.OPEN_TRANSACTIONS] > 0 else ENDED


#: As a beginning: it has how many are left open.
on_transaction_end = on_transaction_open


@compiled_part
def on_writability(broker: Any, cause: Any, c: int, event: Array) -> None:
    """The channel crossed a water mark: all subscriptions with consumers on it are judged anew."""
    judge_consumers_of(broker, cause, c, event[fields.TS], event[fields.NS])
