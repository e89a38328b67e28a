"""Dispatch limiters as Pulsar has them (semantics §1.4): the token bucket, and the classic fixed window. Times in ns."""

from sim.agenda import NS_PER_S


class TokenBucket:
    """Refilled only when it is asked, and only when more than a period has passed since the last refill."""

    __slots__ = ("last_ns", "pending", "period_ns", "rate", "remainder_ns", "tokens")

    def __init__(self, rate: int, period_ns: int, now_ns: int) -> None:
        self.rate, self.period_ns = rate, period_ns
        self.tokens, self.pending, self.last_ns, self.remainder_ns = rate, 0, now_ns, 0

    def ask(self, now_ns: int) -> int:
        """Permits that may be taken: never below 0."""
        if now_ns > self.last_ns + self.period_ns:
            duration_ns = now_ns - self.last_ns + self.remainder_ns
            new = duration_ns * self.rate // self.period_ns
            self.last_ns = now_ns
            self.remainder_ns = duration_ns - new * self.period_ns // self.rate
            self.tokens = min(self.tokens + new - self.pending, self.rate)
            self.pending = 0
        return max(0, self.tokens - self.pending)

    def consume(self, permits: int, now_ns: int) -> None:
        """Takes permits that were delivered, also those that are not there."""
        self.pending += permits

    def balance(self) -> int:
        """Permits in the books; below 0 is debt."""
        return self.tokens - self.pending


class FixedWindow:
    """The classic limiter: its timer starts with the first consumption; each tick gives back up to one window's permits."""

    __slots__ = ("acquired", "next_tick_ns", "period_ns", "rate")

    def __init__(self, rate: int, period_ns: int, now_ns: int) -> None:
        self.rate, self.period_ns, self.acquired = rate, period_ns, 0
        self.next_tick_ns: int | None = None

    def apply(self, rate: int, period_ns: int, now_ns: int) -> None:
        """Another rate: what was acquired stays, the timer starts anew."""
        self._tick(now_ns)
        self.rate, self.period_ns, self.next_tick_ns = rate, period_ns, now_ns + period_ns

    def _tick(self, now_ns: int) -> None:
        if self.next_tick_ns is not None and self.next_tick_ns <= now_ns:
            ticks = (now_ns - self.next_tick_ns) // self.period_ns + 1
            self.acquired = max(0, self.acquired - ticks * self.rate)
            self.next_tick_ns += ticks * self.period_ns

    def ask(self, now_ns: int) -> int:
        """Permits that may be taken: never below 0."""
        self._tick(now_ns)
        return max(0, self.rate - self.acquired)

    def consume(self, permits: int, now_ns: int) -> None:
        """Takes permits that were delivered, also those that are not there."""
        self._tick(now_ns)
        if self.next_tick_ns is None:
            self.next_tick_ns = now_ns + self.period_ns
        self.acquired += permits

    def balance(self) -> int:
        """Permits in the books; below 0 is debt."""
        return self.rate - self.acquired


KINDS = ("token_bucket", "classic")


class Limiter:
    """The limiter of a level: messages and bytes, each with a rate or without one. Nobody asks it before a policy is applied."""

    __slots__ = ("applied", "bytes", "kind", "msgs")

    def __init__(self, kind: str) -> None:
        self.kind, self.applied = kind, False
        self.msgs: TokenBucket | FixedWindow | None = None
        self.bytes: TokenBucket | FixedWindow | None = None

    def apply(self, msg_rate: int, byte_rate: int, period_s: int, now_ns: int) -> None:
        """A policy is applied (a rate ≤ 0 is no limit): a bucket is new and full, a classic window keeps what was acquired."""
        self.applied = True
        self.msgs = self._applied(self.msgs, msg_rate, period_s * NS_PER_S, now_ns)
        self.bytes = self._applied(self.bytes, byte_rate, period_s * NS_PER_S, now_ns)

    def _applied(
        self, before: TokenBucket | FixedWindow | None, rate: int, period_ns: int, now_ns: int
    ) -> TokenBucket | FixedWindow | None:
        if rate <= 0:
            return None
        if self.kind == "token_bucket":
            return TokenBucket(rate, period_ns, now_ns)
        if isinstance(before, FixedWindow):
            before.apply(rate, period_ns, now_ns)
            return before
        return FixedWindow(rate, period_ns, now_ns)

    def consume(self, msgs: int, size_bytes: int, now_ns: int) -> None:
        """A delivery is charged."""
        if self.msgs is not None and msgs:
            self.msgs.consume(msgs, now_ns)
        if self.bytes is not None and size_bytes:
            self.bytes.consume(size_bytes, now_ns)
