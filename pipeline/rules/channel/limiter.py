"""The limiter of requests after a channel became writable again (TimedSingleThreadRateLimiter, §3.3), on whole ms of the wall clock.

Invariants: opening it refills nothing; both edges are strict (a permit is refilled *after* the period, free *after* the cooldown); a closed
one grants everything and counts nothing.
"""

from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record


@compiled
def acquire(limiter: Record, permits: int, period_ms: int, wanted: int, now_ms: int) -> int:
    """How many of the `wanted` permits are granted, of `permits` in each period. `limiter`: remaining, last_reset_ms, close_at_ms."""
    if wanted < 0:
        return 0
    if now_ms > limiter.close_at_ms:
        return wanted
    if now_ms > limiter.last_reset_ms + period_ms:
        limiter.remaining, limiter.last_reset_ms = permits, now_ms
    if limiter.remaining > wanted:
        limiter.remaining -= wanted
        return wanted
    granted: int = limiter.remaining
    limiter.remaining = 0
    return granted
