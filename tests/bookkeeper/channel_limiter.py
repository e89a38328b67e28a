"""The limiter of requests after a channel is writable again (semantics 3.3, TimedSingleThreadRateLimiter). Times are whole ms."""

from dataclasses import dataclass


@dataclass
class CooldownLimiter:
    """Closed until opened. Opening neither refills it nor moves its window."""

    permits: int
    period_ms: int
    last_reset_ms: int
    remaining: int = -1
    close_at_ms: int = 0

    def __post_init__(self) -> None:
        if self.remaining < 0:
            self.remaining = self.permits

    def open(self, now_ms: int, for_ms: int) -> None:
        """It limits up to and including `now_ms + for_ms`; for nothing or less it is closed."""
        self.close_at_ms = now_ms + for_ms if for_ms > 0 else 0

    def acquire(self, wanted: int, now_ms: int) -> int:
        """How many of `wanted` are granted. Closed: all, and none of them counts."""
        if wanted < 0:
            return 0
        if now_ms > self.close_at_ms:
            return wanted
        if now_ms > self.last_reset_ms + self.period_ms:
            self.remaining, self.last_reset_ms = self.permits, now_ms
        granted = min(wanted, self.remaining)
        self.remaining -= granted
        return granted
