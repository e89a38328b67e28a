"""The two rate limiters of Pulsar: token bucket (PIP-322) and classic fixed window, on flat int64 arrays.

Laws. Time is an argument, in ns. A limiter is row `r` of a limiter array; a dimension (messages or bytes) is a block of columns at `base`.
Nothing here knows who asks. Sources: §1.4 of the semantics reference ([ATB], [DRT], [RL], [DRC]).
"""

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled
from pipeline.machines.integers import add, multiply_divide, subtract
from pipeline.machines.throttle.layout import (
    DIMENSION_WIDTH,
    L_ACQUIRED,
    L_KIND,
    L_LAST_NS,
    L_PENDING,
    L_PERIOD_NS,
    L_RATE,
    L_REMAINDER,
    L_TICK_NS,
    L_TOKENS,
    NONE,
)

TOKEN_BUCKET, CLASSIC = 0, 1
NS_PER_SECOND = 1_000_000_000
#: Pulsar's broker-wide clock moves in steps of at most this when it is sampled; one step is one refill's uncertainty.
CLOCK_STEP_NS = 16_000_000
UNLIMITED = -1


@compiled
def refilled(
    tokens: int, pending: int, last_ns: int, remainder: int, rate: int, period_ns: int, capacity: int, now_ns: int
) -> tuple[int, int]:
    """(tokens, remainder) after a refill at `now_ns`: whole tokens for the time since the last one, the rest of time kept ([ATB]).

    tokens = min(tokens + ⌊dur·R/T⌋ − pending, capacity), dur = now − last + remainder, remainder = dur − ⌊new·T/R⌋.
    """
    duration = add(now_ns - last_ns, remainder)
    new_tokens, _ = multiply_divide(duration, rate, period_ns)
    paid_for, _ = multiply_divide(new_tokens, period_ns, rate)
    # Neither is below 0, so their difference is exact, and a bound is met only by a result that lies beyond it.
    return min(add(tokens, new_tokens - pending), capacity), max(duration - paid_for, 0)


@compiled
def is_refill_due(last_ns: int, resolution_ns: int, now_ns: int) -> bool:
    """A bucket refills only when asked, and only strictly after its resolution has passed (A7)."""
    return now_ns - last_ns > resolution_ns


@compiled
def tick(limiters: Array, r: int, base: int, now_ns: int) -> None:
    """Apply the classic limiter's renewals due at or before `now_ns`: each gives back one period's permits (A3)."""
    next_tick = limiters[r, base + L_TICK_NS]
    period = limiters[r, base + L_PERIOD_NS]
    if next_tick == NONE or period <= 0 or now_ns < next_tick:
        return
    ticks = (now_ns - next_tick) // period + 1
    rate = limiters[r, base + L_RATE]
    acquired = limiters[r, base + L_ACQUIRED]
    given_back = acquired if ticks > acquired // rate else ticks * rate
    limiters[r, base + L_ACQUIRED] = acquired - given_back
    limiters[r, base + L_TICK_NS] = next_tick + ticks * period


@compiled
def balance(limiters: Array, r: int, base: int) -> int:
    """Permits in the books, negative = debt; nothing is refilled by looking."""
    if limiters[r, base + L_RATE] <= 0:
        return 0
    if limiters[r, L_KIND] == CLASSIC:
        return subtract(limiters[r, base + L_RATE], limiters[r, base + L_ACQUIRED])
    return subtract(limiters[r, base + L_TOKENS], limiters[r, base + L_PENDING])


@compiled
def refill_of(limiters: Array, r: int, base: int, now_ns: int) -> tuple[int, int]:
    """(tokens, remainder) of the bucket if it were refilled now; a dispatch limiter's capacity is its rate, its resolution its period."""
    rate, period_ns = limiters[r, base + L_RATE], limiters[r, base + L_PERIOD_NS]
    tokens, pending = limiters[r, base + L_TOKENS], limiters[r, base + L_PENDING]
    return refilled(tokens, pending, limiters[r, base + L_LAST_NS], limiters[r, base + L_REMAINDER], rate, period_ns, rate, now_ns)


@compiled
def ask(limiters: Array, r: int, base: int, now_ns: int) -> int:
    """What the limiter answers at `now_ns`: permits ≥ 0, or UNLIMITED without a rate. Asking a bucket may refill it."""
    rate = limiters[r, base + L_RATE]
    if rate <= 0:
        return UNLIMITED
    if limiters[r, L_KIND] == CLASSIC:
        tick(limiters, r, base, now_ns)
    elif is_refill_due(limiters[r, base + L_LAST_NS], limiters[r, base + L_PERIOD_NS], now_ns):
        tokens, remainder = refill_of(limiters, r, base, now_ns)
        limiters[r, base + L_TOKENS] = tokens
        limiters[r, base + L_PENDING] = 0
        limiters[r, base + L_LAST_NS] = now_ns
        limiters[r, base + L_REMAINDER] = remainder
    return max(0, balance(limiters, r, base))


@compiled
def look(limiters: Array, r: int, base: int, now_ns: int) -> int:
    """What `ask` would answer, without asking: a bucket stays as it is (a classic limiter's ticks are time's, not the asker's)."""
    rate = limiters[r, base + L_RATE]
    if (
        rate > 0
        and limiters[r, L_KIND] == TOKEN_BUCKET
        and is_refill_due(limiters[r, base + L_LAST_NS], limiters[r, base + L_PERIOD_NS], now_ns)
    ):
        tokens, _ = refill_of(limiters, r, base, now_ns)
        return max(0, tokens)
    return ask(limiters, r, base, now_ns)


@compiled
def consume(limiters: Array, r: int, base: int, permits: int, now_ns: int) -> int:
    """Charge `permits`; nothing is refused, debt is allowed. Returns how many of them went beyond the balance (over-delivered)."""
    if permits <= 0 or limiters[r, base + L_RATE] <= 0:
        return 0
    if limiters[r, L_KIND] == CLASSIC:
        tick(limiters, r, base, now_ns)
    before = balance(limiters, r, base)
    if limiters[r, L_KIND] == CLASSIC:
        if limiters[r, base + L_TICK_NS] == NONE and limiters[r, base + L_PERIOD_NS] > 0:
            limiters[r, base + L_TICK_NS] = add(now_ns, limiters[r, base + L_PERIOD_NS])
        limiters[r, base + L_ACQUIRED] = add(limiters[r, base + L_ACQUIRED], permits)
    else:
        limiters[r, base + L_PENDING] = add(limiters[r, base + L_PENDING], permits)
    return max(0, permits - max(0, before))


@compiled
def apply_rate(limiters: Array, r: int, base: int, kind: int, is_new: bool, rate: int, period_s: int, now_ns: int) -> None:
    """(Re-)apply a rate to one dimension. A bucket is made anew and full, also when nothing changed (A37); a classic limiter keeps
    what was acquired and restarts its timer (A5). `is_new`: the limiter has no past of this kind. rate ≤ 0 drops the dimension."""
    had_rate = limiters[r, base + L_RATE] > 0 and not is_new
    if had_rate and kind == CLASSIC:
        tick(limiters, r, base, now_ns)
    limiters[r, base + L_RATE] = max(rate, 0)
    if kind == CLASSIC:
        limiters[r, base + L_PERIOD_NS] = max(period_s, 0) * NS_PER_SECOND
        if rate > 0 and had_rate:
            running = limiters[r, base + L_PERIOD_NS] > 0
            limiters[r, base + L_TICK_NS] = add(now_ns, limiters[r, base + L_PERIOD_NS]) if running else NONE
        else:
            limiters[r, base + L_ACQUIRED] = 0
            limiters[r, base + L_TICK_NS] = NONE
        return
    limiters[r, base + L_PERIOD_NS] = max(period_s, 1) * NS_PER_SECOND
    limiters[r, base + L_TOKENS] = max(rate, 0)
    limiters[r, base + L_PENDING] = 0
    limiters[r, base + L_LAST_NS] = now_ns
    limiters[r, base + L_REMAINDER] = 0


@compiled
def clock_step_tolerance(limiters: Array, r: int, base: int) -> int:
    """Permits that one step of the broker's clock is worth: max(1, ⌈R · 16 ms / T⌉)."""
    period = limiters[r, base + L_PERIOD_NS]
    if period <= 0:
        return 1
    whole, rest = multiply_divide(limiters[r, base + L_RATE], CLOCK_STEP_NS, period)
    return max(1, whole + (1 if rest > 0 else 0))


@compiled
def dimension_base(dimension: int) -> int:
    """Offset of a dimension's block of columns."""
    return dimension * DIMENSION_WIDTH
