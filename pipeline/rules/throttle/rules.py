"""What limiters did, event by event: incarnations end before the broker's rows change, reads and deliveries are counted after."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.attachments import is_unwritable
from pipeline.rules.broker.layout import BROKER, DIMENSION_COUNT, LEVEL_COUNT, MSG, NONE, TOPIC
from pipeline.rules.broker.limiter import balance, consume
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record, Records
from pipeline.rules.throttle.closing import close_dispatcher, close_topic
from pipeline.rules.throttle.layout import NO_THROTTLING
from pipeline.rules.throttle.reads import Limiters, LimiterUses, Waiting, evaluate_read, limiter_of, use_of

#: Events that may end incarnations: as many as their topic has subscriptions.
ENDING = ("topic_load", "topic_unload", "dispatcher_open", "dispatcher_close")
#: Consumers had no more than one permit.
ONE_PERMIT = fields.question("read", "one_permit")


@compiled_part
def before_topic_load(broker: Any, throttle: Any, counts: Record, t: int, event: Array) -> None:
    """An object of the topic that is still there ends."""
    close_topic(broker, throttle, counts, t, event[fields.TS], event[fields.NS])


@compiled_part
def before_topic_unload(broker: Any, throttle: Any, counts: Record, t: int, event: Array) -> None:
    """The topic's dispatchers and limiters end."""
    close_topic(broker, throttle, counts, t, event[fields.TS], event[fields.NS])


@compiled_part
def before_dispatcher_open(broker: Any, throttle: Any, counts: Record, t: int, s: int, event: Array) -> None:
    """A dispatcher that is still there ends."""
    close_dispatcher(broker, throttle, counts, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def before_dispatcher_close(broker: Any, throttle: Any, counts: Record, t: int, s: int, event: Array) -> None:
    """The dispatcher ends."""
    close_dispatcher(broker, throttle, counts, t, s, event[fields.TS], event[fields.NS])


@compiled_part
def on_dispatcher_open(throttling: Record) -> None:
    """A row is due even if nothing more happens."""
    throttling.touched = 1


@compiled_part
def on_dispatch_rate(broker: Any, throttle: Any, t: int, s: int, event: Array) -> None:
    """A rate was applied: what the limiter shows in this window, and with how many permits it began."""
    level = event[fields.LEVEL]
    if level == BROKER:
        _note_applied(broker.broker_limiter[0], throttle.broker_limiter_use[0], event)
    elif level == TOPIC:
        _note_applied(broker.topic_limiters[t], throttle.topic_limiter_uses[t], event)
    else:
        throttle.throttlings[s].touched = 1
        _note_applied(broker.subscription_limiters[s], throttle.subscription_limiter_uses[s], event)


@compiled_part
def _note_applied(limiter: Record, use: Record, event: Array) -> None:
    for dimension in range(DIMENSION_COUNT):
        if event[fields.MSG_RATE if dimension == MSG else fields.BYTE_RATE] > 0:
            use.applied[dimension] += 1
            if use.shown_rate[dimension] == 0:
                use.permits_start[dimension] = balance(limiter, dimension)
            use.shown_rate[dimension] = limiter.rate[dimension]


@compiled_part
def needs_before_read(subscription: Record, connectivity: Record, event: Array) -> bool:
    """Whether the read may have been cut to one entry by unwritable channels."""
    is_of_one = event[fields.WANT_LEFT] >> fields.WANT_SHIFT == 1 and not fields.has(event, ONE_PERMIT)
    return is_of_one and connectivity.unwritable > 0 and subscription.first_attachment != NONE


@compiled_part
def before_read(
    throttling: Record, subscription: Record, connectivity: Record, attachments: Records, connections: Records, event: Array
) -> None:
    """A dispatcher none of whose consumers' channels is writable reads one entry (§1.2, step 2), paused or not (C11)."""
    if is_unwritable(subscription, connectivity, attachments, connections):
        throttling.reads_by_unwritable_channel += 1


@inlined_part
def on_read(
    topic: Record,
    reading: Record,
    throttling: Record,
    limiters: Limiters,
    limiter_uses: LimiterUses,
    working: Record,
    event: Array,
) -> None:
    """One evaluation of the read limits."""
    throttling.touched = 1
    waiting = Waiting(topic.end_entries - reading.entries, topic.end_bytes - reading.bytes)
    evaluate_read(throttling, waiting, limiters, limiter_uses, working, event)


@inlined_part
def on_dispatch(dispatcher: Record, throttling: Record, limiters: Limiters, limiter_uses: LimiterUses, event: Array) -> None:
    """A delivery: counted, and charged alike to every limiter that exists (unless `charged=false`)."""
    entries, msgs, size = event[fields.ENTRIES], event[fields.MSGS], event[fields.SIZE]
    throttling.touched = 1
    throttling.dispatches += 1
    throttling.dispatched_entries = add(throttling.dispatched_entries, entries)
    throttling.dispatched_msgs = add(throttling.dispatched_msgs, msgs)
    throttling.dispatched_bytes = add(throttling.dispatched_bytes, size)
    if throttling.granted_entries != NONE and (entries > throttling.granted_entries or size > throttling.granted_bytes):
        throttling.oversized_dispatches += 1
    if fields.has(event, fields.CHARGED) and event[fields.CHARGED] == 0:
        throttling.uncharged_msgs = add(throttling.uncharged_msgs, msgs)
        return
    permits = entries if dispatcher.batch_mode == 1 else msgs
    for level in range(LEVEL_COUNT):
        limiter, use = limiter_of(limiters, level), use_of(limiter_uses, level)
        if limiter.exists == 0:
            continue
        for dimension in range(DIMENSION_COUNT):
            used = permits if dimension == MSG else size
            beyond = consume(limiter, dimension, used, event[fields.NS])
            use.over_delivered[dimension] = add(use.over_delivered[dimension], beyond)
            if limiter.rate[dimension] > 0:
                use.used[dimension] = add(use.used[dimension], used)
                throttling.charged[dimension, level] = add(throttling.charged[dimension, level], used)


@compiled_part
def on_new_subscription(throttlings: Records, s: int) -> None:
    """Nothing was read yet."""
    throttlings[s] = NO_THROTTLING[0]
