"""What the passing of a window's border does to everything that is alive, compiled."""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.compiled import compiled
from pipeline.machines.index import find
from pipeline.machines.throttle.incarnations import charge_blocked_time, note_waiting, settle
from pipeline.machines.throttle.layout import (
    D_BLOCKED_AT_NS,
    D_BLOCKED_AT_TS,
    D_BLOCKED_LEVEL,
    D_BLOCKED_NS,
    D_OPEN,
    D_TOPIC,
    D_TOUCHED,
    FIRST_WINDOW_COUNTER,
    L_EXISTS,
    L_PERMITS_START,
    L_RATE,
    L_SHOWN_RATE,
    LAST_WINDOW_COUNTER,
    NONE,
    S_DISPATCHERS,
    T_ID,
    T_ZERO,
)
from pipeline.machines.throttle.limiter import balance, dimension_base
from pipeline.machines.throttle.state import State


@compiled
def border_of_blocked_time(blocked_at_ns: int, blocked_at_ts: int, border_us: int, border_ns: int) -> int:
    """Where on the monotonic clock the wall-clock border falls, for one blocked stretch.

    Never before its start, never after `border_ns`.
    """
    estimate = blocked_at_ns + max(0, border_us - blocked_at_ts) * 1000
    return max(blocked_at_ns, min(estimate, border_ns))


@compiled
def pass_border(state: State, border_us: int, border_ns: int) -> None:
    """Split blocked stretches at the border and note what waits there; touched afterwards is what needs a row."""
    topics, dispatchers = state.topics, state.dispatchers
    for d in range(state.scalars[S_DISPATCHERS]):
        if dispatchers[d, D_OPEN] == 0:
            continue
        if dispatchers[d, D_BLOCKED_LEVEL] != NONE:
            until = border_of_blocked_time(dispatchers[d, D_BLOCKED_AT_NS], dispatchers[d, D_BLOCKED_AT_TS], border_us, border_ns)
            charge_blocked_time(dispatchers, d, until)
            dispatchers[d, D_BLOCKED_AT_TS] = max(border_us, dispatchers[d, D_BLOCKED_AT_TS])
            if dispatchers[d, D_BLOCKED_NS] > 0:
                dispatchers[d, D_TOUCHED] = 1
        if dispatchers[d, D_TOUCHED] == 1:
            note_waiting(dispatchers, d, topics, find(state.topic_index, topics, T_ID, T_ZERO, dispatchers[d, D_TOPIC], 0))


@compiled
def balances(limiters: Array, count: int, border_ns: int) -> Array:
    """Balance of both dimensions of each limiter at the border: int64 [count, 2].

    Looking changes nothing, also where classic ticks are due.
    """
    result = np.zeros((count, 2), dtype=np.int64)
    for r in range(count):
        if limiters[r, L_EXISTS] == 1:
            seen = limiters[r : r + 1].copy()
            settle(seen, 0, border_ns)
            for dimension in range(2):
                result[r, dimension] = balance(seen, 0, dimension_base(dimension))
    return result


@compiled
def restart_limiters(limiters: Array, count: int, permits: Array) -> None:
    """A new window: counters at 0, the balances at the border (`permits`) carried over."""
    for r in range(count):
        if limiters[r, L_EXISTS] == 1:
            for dimension in range(2):
                base = dimension_base(dimension)
                limiters[r, base + FIRST_WINDOW_COUNTER : base + LAST_WINDOW_COUNTER + 1] = 0
                limiters[r, base + L_SHOWN_RATE] = limiters[r, base + L_RATE]
                limiters[r, base + L_PERMITS_START] = permits[r, dimension]


@compiled
def has_blocked(state: State, until_ns: int) -> bool:
    """Whether any blocked stretch still has time to charge before `until_ns`."""
    dispatchers = state.dispatchers
    for d in range(state.scalars[S_DISPATCHERS]):
        if dispatchers[d, D_OPEN] == 1 and dispatchers[d, D_BLOCKED_LEVEL] != NONE and dispatchers[d, D_BLOCKED_AT_NS] < until_ns:
            return True
    return False


@compiled
def charge_blocked_until(state: State, ts_us: int, ns: int) -> None:
    """The wall clock was set: charge blocked stretches up to `ns` to the open window; they go on from (`ts_us`, `ns`) on the new clock."""
    dispatchers = state.dispatchers
    for d in range(state.scalars[S_DISPATCHERS]):
        if dispatchers[d, D_OPEN] == 1 and dispatchers[d, D_BLOCKED_LEVEL] != NONE:
            charge_blocked_time(dispatchers, d, ns)
            dispatchers[d, D_BLOCKED_AT_TS] = ts_us
