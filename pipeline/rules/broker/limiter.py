"""The two rate limiters of Pulsar: token bucket (PIP-322) and classic fixed window, on one limiter's row.

Invariants. Time is an argument, in ns. A dimension is MSG or BYTES. Nothing here knows who asks.
Sources: §1.4 of the semantics reference ([ATB], [DRT], [RL], [DRC]).
"""

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import DIMENSION_COUNT, MSG, NONE
from pipeline.rules.compiled import compiled
from pipeline.rules.integers import add, multiply_divide, subtract
from pipeline.rules.records import Record

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
def tick(limiter: Record, dimension: int, now_ns: int) -> None:
    """Apply the classic limiter's renewals due at or before `now_ns`: each gives back one period's permits (A3)."""
    next_tick = limiter.tick_ns[dimension]
    period = limiter.period_ns[dimension]
    if next_tick == NONE or period <= 0 or now_ns < next_tick:
        return
    ticks = (now_ns - next_tick) // period + 1
    limiter.untimely[dimension] = limiter.acquired[dimension]
    if limiter.next_rate[dimension] > 0:
        _give_back(limiter, dimension, 1)  # by the rate of the period that is over (A6)
        limiter.rate[dimension] = limiter.next_rate[dimension]
        _give_back(limiter, dimension, ticks - 1)
    else:
        _give_back(limiter, dimension, ticks)
    limiter.tick_ns[dimension] = next_tick + ticks * period


@compiled
def _give_back(limiter: Record, dimension: int, ticks: int) -> None:
    rate, acquired = limiter.rate[dimension], limiter.acquired[dimension]
    limiter.acquired[dimension] = acquired - (acquired if ticks > acquired // rate else ticks * rate)


@compiled
def balance(limiter: Record, dimension: int) -> int:
    """Permits in the books, negative = debt; nothing is refilled by looking."""
    if limiter.rate[dimension] <= 0:
        return 0
    if limiter.kind == CLASSIC:
        return subtract(limiter.rate[dimension], limiter.acquired[dimension])
    return subtract(limiter.tokens[dimension], limiter.pending[dimension])


@compiled
def charged_after(limiter: Record, dimension: int, asked_ns: int) -> int:
    """What was charged after a read asked, whose event is written only now."""
    return limiter.charge[dimension] if limiter.charge_ns[dimension] > asked_ns else 0


@compiled
def set_balance(limiter: Record, dimension: int, permits: int, asked_ns: int) -> None:
    """Put the books on what the log has in them, unless they are from before a charge, or before a timer that was late."""
    if limiter.charge_ns[dimension] > asked_ns:
        return
    if limiter.kind == CLASSIC:
        acquired = max(0, subtract(limiter.rate[dimension], permits))
        if acquired != limiter.untimely[dimension]:
            limiter.acquired[dimension] = acquired
    else:
        limiter.tokens[dimension] = add(permits, limiter.pending[dimension])


@compiled
def refill_of(limiter: Record, dimension: int, now_ns: int) -> tuple[int, int]:
    """(tokens, remainder) of the bucket if it were refilled now; a dispatch limiter's capacity is its rate, its resolution its period."""
    rate, period_ns = limiter.rate[dimension], limiter.period_ns[dimension]
    tokens, pending = limiter.tokens[dimension], limiter.pending[dimension]
    return refilled(tokens, pending, limiter.last_ns[dimension], limiter.remainder[dimension], rate, period_ns, rate, now_ns)


@compiled
def ask(limiter: Record, dimension: int, now_ns: int) -> int:
    """What the limiter answers at `now_ns`: permits ≥ 0, or UNLIMITED without a rate. Asking a bucket may refill it."""
    rate = limiter.rate[dimension]
    if rate <= 0:
        return UNLIMITED
    if limiter.kind == CLASSIC:
        tick(limiter, dimension, now_ns)
    elif is_refill_due(limiter.last_ns[dimension], limiter.period_ns[dimension], now_ns):
        tokens, remainder = refill_of(limiter, dimension, now_ns)
        limiter.tokens[dimension] = tokens
        limiter.pending[dimension] = 0
        limiter.last_ns[dimension] = now_ns
        limiter.remainder[dimension] = remainder
    return max(0, balance(limiter, dimension))


@compiled
def look(limiter: Record, dimension: int, now_ns: int) -> int:
    """What `ask` would answer, without asking: a bucket stays as it is (a classic limiter's ticks are time's, not the asker's)."""
    rate = limiter.rate[dimension]
    if rate > 0 and limiter.kind == TOKEN_BUCKET and is_refill_due(limiter.last_ns[dimension], limiter.period_ns[dimension], now_ns):
        tokens, _ = refill_of(limiter, dimension, now_ns)
        return max(0, tokens)
    return ask(limiter, dimension, now_ns)


@compiled
def consume(limiter: Record, dimension: int, permits: int, now_ns: int) -> int:
    """Charge `permits`; nothing is refused, debt is allowed. Returns how many of them went beyond the balance (over-delivered)."""
    if permits <= 0 or limiter.rate[dimension] <= 0:
        return 0
    if limiter.kind == CLASSIC:
        tick(limiter, dimension, now_ns)
    before = balance(limiter, dimension)
    limiter.charge[dimension], limiter.charge_ns[dimension] = permits, now_ns
    if limiter.kind == CLASSIC:
        limiter.untimely[dimension] = NONE
        if limiter.tick_ns[dimension] == NONE and limiter.period_ns[dimension] > 0:
            limiter.tick_ns[dimension] = add(now_ns, limiter.period_ns[dimension])
        limiter.acquired[dimension] = add(limiter.acquired[dimension], permits)
    else:
        limiter.pending[dimension] = add(limiter.pending[dimension], permits)
    return max(0, permits - max(0, before))


@compiled
def apply_rate(limiter: Record, dimension: int, kind: int, is_new: bool, rate: int, period_s: int, now_ns: int) -> None:
    """(Re-)apply a rate to one dimension. A bucket is made anew and full, also when nothing changed (A37); a classic limiter keeps
    what was acquired and restarts its timer (A5). `is_new`: the limiter has no past of this kind. rate ≤ 0 drops the dimension."""
    had_rate = limiter.rate[dimension] > 0 and not is_new
    if had_rate and kind == CLASSIC:
        tick(limiter, dimension, now_ns)
    limiter.rate[dimension] = max(rate, 0)
    if kind == CLASSIC:
        limiter.period_ns[dimension] = max(period_s, 0) * NS_PER_SECOND
        if rate > 0 and had_rate:
            running = limiter.period_ns[dimension] > 0
            limiter.tick_ns[dimension] = add(now_ns, limiter.period_ns[dimension]) if running else NONE
        else:
            limiter.acquired[dimension] = 0
            limiter.tick_ns[dimension] = NONE
        return
    limiter.period_ns[dimension] = max(period_s, 1) * NS_PER_SECOND
    limiter.tokens[dimension] = max(rate, 0)
    limiter.pending[dimension] = 0
    limiter.last_ns[dimension] = now_ns
    limiter.remainder[dimension] = 0


@compiled
def clock_step_tolerance(limiter: Record, dimension: int) -> int:
    """Permits that one step of the broker's clock is worth: max(1, ⌈R · 16 ms / T⌉)."""
    period = limiter.period_ns[dimension]
    if period <= 0:
        return 1
    whole, rest = multiply_divide(limiter.rate[dimension], CLOCK_STEP_NS, period)
    return max(1, whole + (1 if rest > 0 else 0))


@compiled
def settle(limiter: Record, now_ns: int) -> None:
    """Let a classic limiter's due ticks pass, so that its books are right at `now_ns`."""
    if limiter.kind == CLASSIC:
        for dimension in range(DIMENSION_COUNT):
            tick(limiter, dimension, now_ns)


@compiled
def apply_dispatch_rate(limiter: Record, event: Array, complete: bool, losses: int) -> None:
    """`dispatch_rate`: make the limiter if it does not exist (beginning with `complete` and `losses`), then apply both rates."""
    kind = CLASSIC if event[fields.LIMITER] == CLASSIC else TOKEN_BUCKET
    is_new = limiter.exists == 0 or limiter.kind != kind
    if limiter.exists == 0:
        limiter.exists = 1
        limiter.level, limiter.topic, limiter.sub = event[fields.LEVEL], event[fields.TOPIC_ID], event[fields.SUB_ID]
        limiter.created_at, limiter.closed_at = event[fields.TS], NONE
        limiter.began_complete, limiter.losses_at_creation = 1 if complete else 0, losses
    limiter.kind, limiter.relative, limiter.follows = kind, event[fields.RELATIVE], 0
    limiter.period_ms = max(event[fields.PERIOD_S], 0 if kind == CLASSIC else 1) * 1000
    for dimension in range(DIMENSION_COUNT):
        rate = event[fields.MSG_RATE if dimension == MSG else fields.BYTE_RATE]
        limiter.configured[dimension], limiter.next_rate[dimension] = max(rate, 0), 0
        apply_rate(limiter, dimension, kind, is_new, rate, event[fields.PERIOD_S], event[fields.NS])


@compiled
def follow_average(limiter: Record, average: Array, is_applied: bool) -> None:
    """A relative rate is added to the publish average (§1.4). A classic limiter does so from its next tick on. A bucket does so whenever it
    is asked: what it has stays, until the next refill cuts it to the new rate (A12); one that was just made (`is_applied`) is full of it.
    """
    if limiter.exists == 0 or limiter.relative == 0:
        return
    limiter.follows = 1
    for dimension in range(DIMENSION_COUNT):
        rate = add(limiter.configured[dimension], average[dimension])
        if limiter.configured[dimension] <= 0:
            continue
        if limiter.kind == CLASSIC:
            limiter.next_rate[dimension] = rate
            continue
        limiter.rate[dimension] = rate
        if is_applied:
            limiter.tokens[dimension] = rate
