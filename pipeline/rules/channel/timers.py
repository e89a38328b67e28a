"""Timers of all connections, earliest due first, then by connection: a binary heap in a list.

A connection has at most one timer of a kind in it that counts (`channel.queued_ns`). When its time comes the channel's row has the
truth: it may be due later now, or be gone. So moving a timer back costs nothing, and nothing is ever searched.
"""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.channel.bundles import Timing
from pipeline.rules.channel.layout import COOLDOWN, COOLDOWN_ENDS, PAUSE_ENDS
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record, Records


@compiled_part
def set_timer(timing: Timing, channel: Record, conn: int, c: int, kind: int) -> None:
    """Look at the connection's timer of this kind when it is due, or earlier."""
    due_ns = due_of(channel, kind)
    if channel.queued_ns[kind] == NONE or due_ns < channel.queued_ns[kind]:
        channel.queued_ns[kind] = due_ns
        timers, k = timing.timers, timing.counts.timers
        timing.counts.timers += 1
        timers[k].due_ns, timers[k].conn, timers[k].kind, timers[k].connection = due_ns, conn, kind, c
        _rise(timers, k)
        timing.channel_clock.next_due_ns = timers[0].due_ns


@compiled_part
def remove_first(timing: Timing) -> None:
    """Take the earliest timer out."""
    timers = timing.timers
    timing.counts.timers -= 1
    timers[0] = timers[timing.counts.timers]
    _sink(timers, timing.counts.timers)
    timing.channel_clock.next_due_ns = timers[0].due_ns if timing.counts.timers > 0 else INT64_MAX


@compiled_part
def due_of(channel: Record, kind: int) -> int:
    """When the channel's timer of this kind is due now; INT64_MAX: it has none."""
    if kind == PAUSE_ENDS:
        return channel.due_ns if channel.paused_by_cooldown == 1 else INT64_MAX
    return channel.cooldown_end_ns if channel.running[COOLDOWN] == 1 else INT64_MAX


@compiled_part
def estimated_ts(channel: Record, kind: int) -> int:
    """The wall clock at that moment, as far as the log shows it."""
    if kind == COOLDOWN_ENDS:
        return channel.close_at_us
    return channel.marked_ts + (channel.due_ns - channel.marked_ns) // 1000


@compiled_part
def _is_before(a: Record, b: Record) -> bool:
    if a.due_ns != b.due_ns:
        return a.due_ns < b.due_ns
    return a.conn < b.conn if a.conn != b.conn else a.kind < b.kind


@compiled_part
def _swap(timers: Records, a: int, b: int) -> None:
    due_ns, conn, kind, connection = timers[a].due_ns, timers[a].conn, timers[a].kind, timers[a].connection
    timers[a] = timers[b]
    timers[b].due_ns, timers[b].conn, timers[b].kind, timers[b].connection = due_ns, conn, kind, connection


@compiled_part
def _rise(timers: Records, k: int) -> None:
    while k > 0 and _is_before(timers[k], timers[(k - 1) // 2]):
        _swap(timers, k, (k - 1) // 2)
        k = (k - 1) // 2


@compiled_part
def _sink(timers: Records, count: int) -> None:
    k = 0
    while 2 * k + 1 < count:
        child = 2 * k + 1
        if child + 1 < count and _is_before(timers[child + 1], timers[child]):
            child += 1
        if not _is_before(timers[child], timers[k]):
            return
        _swap(timers, k, child)
        k = child


@compiled_part
def is_any_due(timing: Timing, channels: Records, until_ns: int) -> bool:
    """Whether the earliest timer is due by `until_ns`. Those that came to nothing on the way are dropped, those due later moved back."""
    timers = timing.timers
    if timing.counts.timers == 0:  # a state that an earlier version kept may have the time of a timer that is gone
        timing.channel_clock.next_due_ns = INT64_MAX
    while timing.channel_clock.next_due_ns <= until_ns:
        due_ns, conn, kind, c = timers[0].due_ns, timers[0].conn, timers[0].kind, timers[0].connection
        channel = channels[c]
        is_replaced = channel.queued_ns[kind] != due_ns
        now_due_ns = due_of(channel, kind)
        if not is_replaced and now_due_ns == due_ns:
            return True
        remove_first(timing)
        if not is_replaced:
            channel.queued_ns[kind] = NONE
            if now_due_ns != INT64_MAX:
                set_timer(timing, channel, conn, c, kind)
    return False
