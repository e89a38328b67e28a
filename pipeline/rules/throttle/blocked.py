"""Blocked time, and what waits: charged while a dispatcher lives, split at borders (docs/design/throttling.md)."""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def charge_blocked_time(throttling: Record, until_ns: int) -> None:
    """Charge the blocked stretch so far to the level that blocked it; it goes on from `until_ns`."""
    level = throttling.blocked_level
    if level == NONE:
        return
    waited = max(0, until_ns - throttling.blocked_at_ns)
    throttling.blocked_ns += waited
    throttling.blocked_ns_by[level] += waited
    throttling.blocked_at_ns += waited


@compiled_part
def border_of_blocked_time(throttling: Record, border_us: int, border_ns: int) -> int:
    """Where on the monotonic clock the wall-clock border falls, for one blocked stretch.

    Never before its start, never after `border_ns`.
    """
    estimate = throttling.blocked_at_ns + max(0, border_us - throttling.blocked_at_ts) * 1000
    return max(throttling.blocked_at_ns, min(estimate, border_ns))


@compiled_part
def note_waiting(throttling: Record, reading: Record, topic: Record) -> None:
    """Fill in what waits beyond the read position now: nothing, if the cursor was closed."""
    throttling.waiting_entries = max(0, topic.end_entries - reading.entries) if reading.known == 1 else 0
    throttling.waiting_bytes = max(0, topic.end_bytes - reading.bytes) if reading.known == 1 else 0
