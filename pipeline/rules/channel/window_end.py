"""What the passing of a window's border, or a step of the wall clock, does to all channels, compiled."""

from pipeline.rules.channel.bundles import AllChannels, Timing
from pipeline.rules.channel.due_timers import fire_before_border, fire_due
from pipeline.rules.channel.layout import COOLDOWN, COOLDOWN_ENDS
from pipeline.rules.channel.stretches import pass_border, step_clock
from pipeline.rules.channel.timers import set_timer
from pipeline.rules.channel.topics import charge_pause, pass_pause_border
from pipeline.rules.compiled import compiled


@compiled
def pass_borders(every: AllChannels, border_us: int, border_ns: int, seq: int) -> None:
    """Timers before the border fire, what runs is split there. Touched afterwards is what needs a row."""
    fire_before_border(every, border_us, border_ns, seq)
    for c in range(every.counts.connections):
        if every.connections[c].open == 1 and pass_border(every.channels[c], border_us, border_ns):
            every.channels[c].touched = 1
    for t in range(every.counts.topics):
        pass_pause_border(every.topic_pauses[t], border_us, border_ns)


@compiled
def step_clocks(every: AllChannels, ts_us: int, ns: int, seq: int) -> None:
    """The wall clock was set: what runs goes on from (`ts_us`, `ns`). The cooldown's limiter lives on the wall clock: its end moves."""
    fire_due(every, ns, seq)
    for c in range(every.counts.connections):
        channel = every.channels[c]
        step_clock(channel, ts_us, ns)
        if channel.paused_by_cooldown == 1:
            channel.marked_ts, channel.marked_ns = ts_us, ns
        if channel.running[COOLDOWN] == 1:
            channel.close_at_us = max(channel.close_at_us, ts_us)
            channel.cooldown_end_ns = ns + (channel.close_at_us - ts_us) * 1000
            set_timer(Timing(every.timers, every.channel_clock, every.counts), channel, every.connections[c].id, c, COOLDOWN_ENDS)
    for t in range(every.counts.topics):
        if every.topic_pauses[t].paused_connections > 0:
            charge_pause(every.topic_pauses[t], ns)
            every.topic_pauses[t].began_ts = ts_us
