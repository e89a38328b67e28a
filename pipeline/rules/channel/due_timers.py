"""What timers do when their time comes: before the next event, or before the border of a window if that comes first."""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.channel.bundles import AllChannels, Reach, Timing
from pipeline.rules.channel.layout import COOLDOWN, COOLDOWN_RATE, PAUSE_ENDS
from pipeline.rules.channel.stretches import end
from pipeline.rules.channel.timers import due_of, estimated_ts, is_any_due, remove_first, set_timer
from pipeline.rules.channel.trackers import unmark, unmark_modelled
from pipeline.rules.channel.transitions import COOLDOWN_CLOSED, COOLDOWN_OVER, COOLDOWN_TIMER, Cause, note_transition
from pipeline.rules.compiled import allocating_part, compiled_part


@compiled_part
def fire_due(every: AllChannels, until_ns: int, seq: int) -> None:
    """Fire all timers that are due by `until_ns`; `seq` is that of the event that comes next."""
    timing = Timing(every.timers, every.channel_clock, every.counts)
    while is_any_due(timing, every.channels, until_ns):
        c, kind = every.timers[0].connection, every.timers[0].kind
        remove_first(timing)
        every.channels[c].queued_ns[kind] = NONE
        _fire(every, c, kind, seq)


@allocating_part
def fire_before_border(every: AllChannels, border_us: int, until_ns: int, seq: int) -> None:
    """Of the timers that are due by `until_ns`, fire those whose time is before the border on the wall clock."""
    if every.channel_clock.next_due_ns > until_ns:
        return
    timing = Timing(every.timers, every.channel_clock, every.counts)
    waiting = every.timers[: every.counts.timers].copy()
    count = 0
    while is_any_due(timing, every.channels, until_ns):
        c, kind = every.timers[0].connection, every.timers[0].kind
        is_later = estimated_ts(every.channels[c], kind) >= border_us
        if is_later:
            waiting[count] = every.timers[0]
            count += 1
        remove_first(timing)
        every.channels[c].queued_ns[kind] = NONE
        if not is_later:
            _fire(every, c, kind, seq)
    for k in range(count):
        c = waiting[k].connection
        set_timer(timing, every.channels[c], waiting[k].conn, c, waiting[k].kind)


@compiled_part
def _fire(every: AllChannels, c: int, kind: int, seq: int) -> None:
    reach, channel = (
        Reach(every.connections[c], every.channels[c], every.attachments, every.topic_pauses, every.out_transitions, every.counts),
        every.channels[c],
    )
    ts_us, due_ns = estimated_ts(channel, kind), due_of(channel, kind)
    if kind == PAUSE_ENDS:
        channel.paused_by_cooldown, channel.touched = 0, 1
        unmark_modelled(channel, COOLDOWN_RATE, every.channel_settings.carries_throttles)
        if channel.by_rule == 1:
            channel.by_rule = 0
            unmark(reach, COOLDOWN_RATE, Cause(COOLDOWN_TIMER, seq, ts_us, due_ns, 0))
        return
    end(channel, COOLDOWN, due_ns)
    note_transition(reach, COOLDOWN_CLOSED, NONE, False, Cause(COOLDOWN_OVER, seq, ts_us, due_ns, 0))
