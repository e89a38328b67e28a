"""Caps of unacknowledged messages: of a consumer, and of a subscription whose consumers share its entries (§1.2)."""

from typing import Any

from pipeline.rules.compiled import inlined_part
from pipeline.rules.records import Record


@inlined_part
def check_caps(replay: Any, sub: Record) -> bool:
    """Set or clear the caps; whether one was cleared, so that the dispatcher may read again. Exclusive and Failover have none."""
    if sub.is_single == 1:
        return False
    clock, cleared = replay.clock[0], False
    for c in range(sub.first_consumer, sub.first_consumer + sub.consumers):
        consumer = replay.consumers[c]
        is_capped = _is_over(consumer.unacked_msgs, clock.consumer_cap, consumer.is_capped)
        cleared = cleared or is_capped < consumer.is_capped
        consumer.is_capped = is_capped
    is_capped = _is_over(sub.unacked_msgs, clock.subscription_cap, sub.is_capped)
    cleared = cleared or is_capped < sub.is_capped
    sub.is_capped = is_capped
    return cleared


@inlined_part
def _is_over(unacked_msgs: int, cap: int, is_capped: int) -> int:
    """1 from the cap on, until it is down to half of it."""
    if cap <= 0:
        return 0
    return 1 if (unacked_msgs > cap // 2 if is_capped == 1 else unacked_msgs >= cap) else 0
