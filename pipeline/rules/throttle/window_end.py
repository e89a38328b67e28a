"""What the passing of a window's border does to everything that is alive, compiled."""

from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import DIMENSION_COUNT, NONE
from pipeline.rules.broker.limiter import balance, settle
from pipeline.rules.compiled import compiled, compiled_allocating
from pipeline.rules.index import find
from pipeline.rules.records import Record, Records
from pipeline.rules.throttle.blocked import border_of_blocked_time, charge_blocked_time, note_waiting


@compiled_allocating
def pass_border(broker: Any, throttlings: Records, counts: Record, border_us: int, border_ns: int) -> Array:
    """Split blocked stretches at the border and note what waits there. Returns the subscriptions whose dispatchers need a row."""
    shown, count = np.empty(counts.subscriptions, dtype=np.int64), 0
    for s in range(counts.subscriptions):
        if broker.dispatchers[s].open == 0:
            continue
        throttling = throttlings[s]
        if throttling.blocked_level != NONE:
            charge_blocked_time(throttling, border_of_blocked_time(throttling, border_us, border_ns))
            throttling.blocked_at_ts = max(border_us, throttling.blocked_at_ts)
            if throttling.blocked_ns > 0:
                throttling.touched = 1
        if throttling.touched == 1:
            t = find(broker.topics_index, broker.topics, broker.subscriptions[s].owner, 0)
            note_waiting(throttling, broker.readings[s], broker.topics[t])
            shown[count] = s
            count += 1
    return shown[:count]


@compiled_allocating
def balances(limiters: Records, border_ns: int) -> Array:
    """Balance of both dimensions of each limiter at the border: int64 [n, 2].

    Looking changes nothing, also where classic ticks are due.
    """
    result = np.zeros((len(limiters), DIMENSION_COUNT), dtype=np.int64)
    for row in range(len(limiters)):
        seen = limiters[row : row + 1].copy()
        settle(seen[0], border_ns)
        for dimension in range(DIMENSION_COUNT):
            result[row, dimension] = balance(seen[0], dimension)
    return result


@compiled
def has_blocked(dispatchers: Records, throttlings: Records, count: int, until_ns: int) -> bool:
    """Whether any blocked stretch still has time to charge before `until_ns`."""
    for s in range(count):
        if dispatchers[s].open == 1 and throttlings[s].blocked_level != NONE and throttlings[s].blocked_at_ns < until_ns:
            return True
    return False


@compiled
def charge_blocked_until(dispatchers: Records, throttlings: Records, count: int, ts_us: int, ns: int) -> None:
    """The wall clock was set: charge blocked stretches up to `ns` to the open window; they go on from (`ts_us`, `ns`) on the new clock."""
    for s in range(count):
        if dispatchers[s].open == 1 and throttlings[s].blocked_level != NONE:
            charge_blocked_time(throttlings[s], ns)
            throttlings[s].blocked_at_ts = ts_us
