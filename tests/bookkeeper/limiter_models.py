"""Pulsar's two limiter models for one dimension, from semantics §1.4, with whole Python numbers.

`look` and `balance` never change anything; `ask` may refill a token bucket.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from bookkeeper.longs import LONG_MAX, saturated

SECOND_NS = 1_000_000_000
#: One step of Pulsar's monotonic clock snapshot: answers this close count as equal but for the clock.
CLOCK_STEP_NS = 16_000_000


class LimiterModel(Protocol):
    """What both models can do. `now` is monotonic time in ns, `n` permits."""

    rate: int
    period_ns: int

    def ask(self, now: int) -> int:
        """The permits a read sees; a token bucket refills if it is due."""

    def look(self, now: int) -> int:
        """The permits it would answer, without asking."""

    def balance(self, now: int) -> int:
        """Permits in the books, negative = debt."""

    def consume(self, n: int, now: int) -> None:
        """Take `n` > 0 permits, whether they are there or not."""


@dataclass
class TokenBucket:
    """PIP-322 bucket: full when made; refilled only by asks, strictly later than one period after the last refill."""

    rate: int
    period_ns: int
    tokens: int
    last: int
    remainder: int = 0
    pending: int = 0

    @classmethod
    def made(cls, rate: int, period_s: int, now: int) -> "TokenBucket":
        """A full bucket. A period below 1 s is 1 s."""
        return cls(rate=rate, period_ns=max(period_s, 1) * SECOND_NS, tokens=rate, last=now)

    def balance(self, now: int) -> int:
        """Tokens less what was consumed since the last refill: looking refills nothing."""
        return saturated(self.tokens - self.pending)

    def look(self, now: int) -> int:
        """What `ask` would answer, asked of a copy."""
        return replace(self).ask(now)

    def ask(self, now: int) -> int:
        """Refill if more than a period passed since the last refill, then answer."""
        if now > self.last + self.period_ns:
            duration = now - self.last + self.remainder
            new = min(LONG_MAX, duration * self.rate // self.period_ns)
            self.last = now
            self.remainder = duration - new * self.period_ns // self.rate
            self.tokens = min(saturated(self.tokens + new - self.pending), self.rate)
            self.pending = 0
        return max(0, self.balance(now))

    def consume(self, n: int, now: int) -> None:
        """Note `n` as consumed; it is netted at the next refill."""
        self.pending = saturated(self.pending + n)


@dataclass
class ClassicWindow:
    """Classic fixed window: `acquired` falls by `rate` at every tick; the timer starts at the first consumption or at a re-application."""

    rate: int
    period_ns: int
    acquired: int = 0
    next_tick: int | None = None

    @classmethod
    def made(cls, rate: int, period_s: int) -> "ClassicWindow":
        """An unused window with an idle timer."""
        return cls(rate=rate, period_ns=period_s * SECOND_NS)

    def _ticks_due(self, now: int) -> int:
        if self.next_tick is None or self.next_tick > now:
            return 0
        return (now - self.next_tick) // self.period_ns + 1

    def _tick(self, now: int) -> None:
        ticks = self._ticks_due(now)
        if ticks and self.next_tick is not None:
            self.acquired = max(0, self.acquired - ticks * self.rate)
            self.next_tick += ticks * self.period_ns

    def _start_timer(self, now: int) -> None:
        self.next_tick = now + self.period_ns if self.period_ns > 0 else None

    def balance(self, now: int) -> int:
        """Rate less what is acquired, as if every tick due at or before `now` had happened."""
        return saturated(self.rate - max(0, self.acquired - self._ticks_due(now) * self.rate))

    def look(self, now: int) -> int:
        """As `balance`, debt shown as 0."""
        return max(0, self.balance(now))

    def ask(self, now: int) -> int:
        """Take the ticks due, then answer."""
        self._tick(now)
        return self.look(now)

    def consume(self, n: int, now: int) -> None:
        """Take the ticks due, start an idle timer, acquire `n`."""
        self._tick(now)
        if self.next_tick is None:
            self._start_timer(now)
        self.acquired = saturated(self.acquired + n)

    def reapply(self, rate: int, period_s: int, now: int) -> None:
        """A rate update: ticks due happen with the old rate, `acquired` is kept, the timer restarts."""
        self._tick(now)
        self.rate = rate
        self.period_ns = period_s * SECOND_NS
        self._start_timer(now)


def clock_step_tolerance(model: LimiterModel) -> int:
    """How far an answer may be off for one clock step: max(1, ⌈rate · 16 ms / period⌉); 1 for a limiter without ticks."""
    if model.period_ns <= 0:
        return 1
    return max(1, -(-model.rate * CLOCK_STEP_NS // model.period_ns))
