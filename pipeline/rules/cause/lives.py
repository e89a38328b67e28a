"""What begins and ends: topics, cursors, dispatchers, consumers. Nothing is known of what begins; what ended is charged up to its end."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.cursors import is_of_subscription
from pipeline.rules.cause import fields as own
from pipeline.rules.cause.caps import note_consumer_left
from pipeline.rules.cause.doubt import prove
from pipeline.rules.cause.layout import (
    KEY_SHARED,
    NO_CHAIN,
    NO_CHARGE,
    PERMITS_KNOWN,
    PERMITS_STALE,
    PERMITS_UNKNOWN,
    SHARED,
)
from pipeline.rules.cause.progress import note_progress
from pipeline.rules.cause.rare_events import (
    end_cursor,
    end_topic,
    forget_cursor,
    forget_dispatcher,
    judge_row,
    settle_row,
    take_all_back,
)
from pipeline.rules.cause.waiting import forget_delivered
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records


@compiled_part
def on_new_topic(chains: Records, t: int) -> None:
    """No subscription is known."""
    chains[t] = NO_CHAIN[0]


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
    charge.placed = 1 if is_of_subscription(cursor) else 0
    prove(charge, broker.settings[0], event[fields.NS])
    charge.certain_lost = broker.settings[0].events_lost
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
    _forget_if_nobody(broker, cause, s)


@compiled_part
def on_dispatcher_close(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """The dispatcher is gone."""
    on_dispatcher_open(broker, cause, t, s, event)


@compiled_part
def on_consumer_open(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A consumer: it has granted no permits yet. A dispatcher with one active consumer may ask this one from now on."""
    settle_row(broker, cause, t, s, event[fields.NS])
    charge, losses = cause.charges[s], broker.settings[0].losses
    if charge.losses != losses:
        charge.permits_known, charge.granted_known = PERMITS_UNKNOWN, 0
        prove(charge, broker.settings[0], event[fields.NS])
    elif broker.readings[s].consumers == 1:
        forget_dispatcher(charge, event[fields.NS])
        charge.granted_known, charge.granted = 1, 0
    elif broker.dispatchers[s].sub_type not in (SHARED, KEY_SHARED):
        _note_others_are_asked(charge)
    charge.had_consumer, charge.is_attached = 1, 0
    note_progress(charge, event[fields.NS])
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_consumer_close(broker: Any, cause: Any, t: int, s: int, event: Array) -> None:
    """A consumer is gone; with the last one what was in flight goes back. Which permits the others have is known at the next read."""
    settle_row(broker, cause, t, s, event[fields.NS])
    charge = cause.charges[s]
    charge.is_attached = 0
    _note_others_are_asked(charge)
    note_consumer_left(charge, broker.readings[s])
    note_progress(charge, event[fields.NS])
    if broker.readings[s].consumers == 0:
        forget_dispatcher(charge, event[fields.NS])
        take_all_back(broker, cause, t, s)
    judge_row(broker, cause, t, s, event[fields.TS], event[fields.NS])
    _forget_if_nobody(broker, cause, s)


@compiled_part
def _forget_if_nobody(broker: Any, cause: Any, s: int) -> None:
    """Without a cursor and a consumer there is nothing to know. Threads of the broker may write of them later than of the cursor's end."""
    if broker.cursors[s].open == 0 and broker.readings[s].consumers == 0:
        forget_cursor(cause.charges[s])


@compiled_part
def _note_others_are_asked(charge: Record) -> None:
    """The permits that were granted may be those of a consumer that the dispatcher does not ask: gone, or not the active one."""
    charge.granted_known = 0
    if charge.permits_known == PERMITS_KNOWN:
        charge.permits_known = PERMITS_STALE
