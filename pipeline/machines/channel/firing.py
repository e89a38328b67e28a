"""What timers do when their time comes: before the next event, or before the border of a window if that comes first."""

from typing import Any

from pipeline.machines.broker.layout import NONE
from pipeline.machines.channel.layout import COOLDOWN, COOLDOWN_RATE, PAUSE_ENDS
from pipeline.machines.channel.stretches import end
from pipeline.machines.channel.timers import due_of, estimated_ts, is_any_due, remove_first, set_timer
from pipeline.machines.channel.trackers import unmark, unmark_modelled
from pipeline.machines.channel.transitions import COOLDOWN_CLOSED, COOLDOWN_OVER, COOLDOWN_TIMER, Cause, note_transition
from pipeline.machines.compiled import compiled_part
from pipeline.machines.records import Record


@compiled_part
def fire_due(broker: Any, channel: Any, counts: Record, until_ns: int, seq: int) -> None:
    """Fire all timers that are due by `until_ns`; `seq` is that of the event that comes next."""
    clock = channel.channel_clock[0]
    while is_any_due(channel.timers, counts, clock, channel.channels, until_ns):
        c, kind = channel.timers[0].connection, channel.timers[0].kind
        remove_first(channel.timers, counts, clock)
        channel.channels[c].queued_ns[kind] = NONE
        _fire(broker, channel, counts, c, kind, seq)


@compiled_part
def fire_before_border(broker: Any, channel: Any, counts: Record, border_us: int, until_ns: int, seq: int) -> None:
    """Of the timers that are due by `until_ns`, fire those whose time is before the border on the wall clock."""
    clock = channel.channel_clock[0]
    if clock.next_due_ns > until_ns:
        return
    waiting = channel.timers[: counts.timers].copy()
    count = 0
    while is_any_due(channel.timers, counts, clock, channel.channels, until_ns):
        c, kind = channel.timers[0].connection, channel.timers[0].kind
        if estimated_ts(channel.channels[c], kind) >= border_us:
            waiting[count] = channel.timers[0]
            count += 1
        remove_first(channel.timers, counts, clock)
        channel.channels[c].queued_ns[kind] = NONE
        if estimated_ts(channel.channels[c], kind) < border_us:
            _fire(broker, channel, counts, c, kind, seq)
    for k in range(count):
        c = waiting[k].connection
        set_timer(channel.timers, counts, clock, channel.channels[c], waiting[k].conn, c, waiting[k].kind)


@compiled_part
def _fire(broker: Any, channel: Any, counts: Record, c: int, kind: int, seq: int) -> None:
    row = channel.channels[c]
    ts_us, due_ns = estimated_ts(row, kind), due_of(row, kind)
    if kind == PAUSE_ENDS:
        row.paused_by_cooldown, row.touched = 0, 1
        unmark_modelled(row, COOLDOWN_RATE, channel.channel_settings[0].carries_throttles)
        if row.by_rule == 1:
            row.by_rule = 0
            unmark(broker, channel, counts, c, COOLDOWN_RATE, Cause(COOLDOWN_TIMER, seq, ts_us, due_ns, 0))
        return
    end(row, COOLDOWN, due_ns)
    cause = Cause(COOLDOWN_OVER, seq, ts_us, due_ns, 0)
    note_transition(channel, counts, broker.connections[c].id, row.throttled, COOLDOWN_CLOSED, NONE, False, cause)
