"""Incarnations that end: dispatchers and limiters are copied whole, so that nothing of them can change until their window's rows are due.

Invariants: ending what does not exist changes nothing. The broker resets its own rows afterwards (broker/rules.py).
"""

from typing import Any

from pipeline.rules.broker.layout import LOST, NONE
from pipeline.rules.broker.limiter import settle
from pipeline.rules.compiled import compiled, compiled_part
from pipeline.rules.records import Record, Records
from pipeline.rules.throttle.blocked import charge_blocked_time, note_waiting
from pipeline.rules.throttle.layout import NO_THROTTLING, NO_USE


@compiled_part
def close_dispatcher(broker: Any, throttle: Any, counts: Record, t: int, s: int, ts_us: int, ns: int) -> None:
    """The dispatcher of the subscription ends, and its limiter with it."""
    if broker.dispatchers[s].open == 0:
        return
    charge_blocked_time(throttle.throttlings[s], ns)
    note_waiting(throttle.throttlings[s], broker.readings[s], broker.topics[t])
    k = counts.closed_dispatchers
    counts.closed_dispatchers += 1
    throttle.closed_dispatchers[k] = broker.dispatchers[s]
    throttle.closed_throttlings[k] = throttle.throttlings[s]
    closed, losses = throttle.closed_dispatchers[k], broker.settings[0].losses
    closed.closed_at = ts_us
    closed.losses_at_open = closed.losses_at_open if closed.losses_at_open == losses else LOST
    throttle.throttlings[s] = NO_THROTTLING[0]
    close_limiter(throttle, counts, broker.subscription_limiters, throttle.subscription_limiter_uses, s, losses, ts_us, ns)


@compiled
def close_limiter(throttle: Any, counts: Record, limiters: Records, uses: Records, row: int, losses: int, ts_us: int, ns: int) -> None:
    """The limiter in `row` of `limiters` ends with its owner."""
    if limiters[row].exists == 0:
        return
    settle(limiters[row], ns)
    k = counts.closed_limiters
    counts.closed_limiters += 1
    throttle.closed_limiters[k] = limiters[row]
    throttle.closed_limiter_uses[k] = uses[row]
    closed = throttle.closed_limiters[k]
    closed.closed_at = ts_us
    closed.losses_at_creation = closed.losses_at_creation if closed.losses_at_creation == losses else LOST
    uses[row] = NO_USE[0]


@compiled_part
def close_topic(broker: Any, throttle: Any, counts: Record, t: int, ts_us: int, ns: int) -> None:
    """The topic ends: its dispatchers and its limiter."""
    s = broker.topics[t].first_subscription
    while s != NONE:
        close_dispatcher(broker, throttle, counts, t, s, ts_us, ns)
        s = broker.subscriptions[s].next_of_topic
    close_limiter(throttle, counts, broker.topic_limiters, throttle.topic_limiter_uses, t, broker.settings[0].losses, ts_us, ns)
