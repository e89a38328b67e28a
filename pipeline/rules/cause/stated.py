"""What the broker says it holds (`state`, from version 1.2 on): the proof of what was charged since the proof before.

Where the books say the same, nothing that was lost since was about this subscription: all of it is charged as in a whole log.
"""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.cursors import backlog_entries, is_of_subscription
from pipeline.rules.broker.layout import NONE
from pipeline.rules.broker.state_rules import needs_on_consumer_state as needs_on_consumer_state
from pipeline.rules.broker.state_rules import needs_on_state as needs_on_state
from pipeline.rules.broker.state_rules import needs_on_topic_state as needs_on_topic_state
from pipeline.rules.broker.stated import stated_delivered
from pipeline.rules.cause import fields as own
from pipeline.rules.cause.caps import note_caps_unseen, note_stated_cap
from pipeline.rules.cause.charging import advance_area, backlog_of, correct_waterfall
from pipeline.rules.cause.doubt import prove
from pipeline.rules.cause.layout import ENDED, KEY_SHARED, OPEN, OUT, PARKED, PERMITS_KNOWN, PERMITS_UNKNOWN, PROOF_LASTS_NS
from pipeline.rules.cause.progress import note_progress
from pipeline.rules.cause.rare_events import judge_row, settle_row, wake_row
from pipeline.rules.cause.waiting import waiting_entries
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def before_state(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """What lasted is charged: where the books agree with the broker nothing was lost, else it is in doubt."""
    cause.pace[0].tells_states, cause.pace[0].tells_deliveries = 1, 1
    topic, settings, cursor, charge = broker.topics[t], broker.settings[0], broker.cursors[s], cause.charges[s]
    if cursor.open == 0 or not needs_on_state(topic, cursor, settings, event):
        return
    if charge.losses != settings.losses and _agree(broker, charge, t, s, event):
        charge.stated = settings.losses
        prove(charge, settings, event[fields.NS])
        note_caps_unseen(charge)
    settle_row(broker, cause, t, s, event[fields.NS])


@compiled_part
def on_state(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """The books are put right, and judged."""
    topic, settings, cursor, charge = broker.topics[t], broker.settings[0], broker.cursors[s], cause.charges[s]
    delivered = stated_delivered(topic, broker.ledgers, event)
    if charge.losses != settings.losses:
        charge.granted_known, charge.consumers_capped = 0, 0
        note_caps_unseen(charge)
    if delivered >= 0:
        charge.stated = settings.losses
        prove(charge, settings, event[fields.NS])
    charge.placed = 1 if is_of_subscription(cursor) else 0  # of another one nothing is charged
    correct_waterfall(charge, topic, cursor, event[fields.BACKLOG_ENTRIES])
    _put_right(charge, broker, t, s, delivered, event)
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_consumer_state(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A consumer may be on a channel that is known to be unwritable."""
    settle_row(broker, cause, t, s, event[fields.NS])
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


needs_before_topic_state = needs_on_topic_state


@compiled_part
def before_topic_state(chain: Record, topic: Record, event: Array) -> None:
    """All backlogs of the topic may be about to grow."""
    advance_area(chain, topic, event[fields.NS])


@compiled_part
def on_topic_state(broker: Any, cause: Any, t: int, event: Array) -> None:
    """There may be more to read than was seen, and other transactions open than those that were."""
    chain = cause.chains[t]
    if fields.has(event, own.STATED_TRANSACTIONS):
        chain.counts_transactions = 1
        if event[own.STATED_TRANSACTIONS] > 0:
            chain.transaction = OPEN
        elif chain.transaction == OPEN:
            chain.transaction = ENDED
    wake_row(broker, cause, t, event[fields.TS], event[fields.NS])


@compiled_part
def _agree(broker: Any, charge: Record, t: int, s: int, event: Array) -> bool:
    """Whether the books say of the subscription what the broker says: what it has, where it stands, and who could take it."""
    topic, cursor, reading = broker.topics[t], broker.cursors[s], broker.readings[s]
    waiting = waiting_entries(charge, topic, cursor, reading, backlog_of(topic, cursor, charge))
    delivered = stated_delivered(topic, broker.ledgers, event)
    if cursor.ledger != event[fields.LEDGER] or cursor.entry != event[fields.ENTRY] or charge.delivered != delivered:
        return False
    # More may have been published unseen: that changes nothing, where something waited.
    if (waiting > 0) != (event[fields.BACKLOG_ENTRIES] > delivered):
        return False
    has_permits, is_stated = charge.permits > 0, event[fields.PERMITS] > 0
    if charge.permits_known == PERMITS_KNOWN and has_permits != is_stated:
        return False
    has_consumers = reading.consumers > 0 or charge.is_attached == 1
    return has_consumers == (event[fields.CONSUMERS] > 0) and charge.delayed == event[fields.DELAYED]


@compiled_part
def _put_right(charge: Record, broker: Any, t: int, s: int, delivered: int, event: Array) -> None:
    topic, cursor = broker.topics[t], broker.cursors[s]
    charge.is_attached, charge.delayed = 0, event[fields.DELAYED]
    if event[fields.CONSUMERS] > 0:
        charge.had_consumer = 1
    asks_no_more = event[fields.NS] - charge.moved_ns > PROOF_LASTS_NS
    if delivered != charge.delivered or cursor.acknowledged != charge.acknowledged_seen:
        note_progress(charge, event[fields.NS])
    # The read position says what waits where the log knows all entries behind it, too.
    knows_end = delivered >= 0 and backlog_entries(topic, broker.ledgers, cursor) == event[fields.BACKLOG_ENTRIES]
    charge.is_redelivered = 0 if knows_end else 1
    if delivered >= 0:
        charge.delivered = delivered
        is_by_key = broker.dispatchers[s].sub_type == KEY_SHARED
        charge.aside, charge.again = (event[fields.REPLAY], 0) if is_by_key else (0, event[fields.REPLAY])
        if fields.has(event, fields.IS_EXACT):
            charge.certain_lost = broker.settings[0].events_lost
    charge.acknowledged_seen, charge.removed_seen = cursor.acknowledged, cursor.evicted + cursor.expired
    charge.repeats_seen = cursor.acknowledged
    charge.permits_known = PERMITS_KNOWN if fields.has(event, fields.PERMITS) else PERMITS_UNKNOWN
    charge.permits = event[fields.PERMITS]
    # Whom a limiter blocks asks with permits, again and again, and has no read out.
    if charge.permits <= 0 or fields.has(event, fields.IS_READ_OUT) or asks_no_more:
        charge.blocked = NONE
    note_stated_cap(charge, fields.has(event, fields.IS_BLOCKED))
    charge.is_out = 0
    if fields.has(event, fields.IS_READ_OUT):
        charge.is_out = PARKED if fields.has(event, fields.IS_READ_WAITING) else OUT
