"""What the passing of a window's border, or a step of the wall clock, does to all channels, compiled."""

from typing import Any

from pipeline.machines.channel.firing import fire_before_border, fire_due
from pipeline.machines.channel.layout import COOLDOWN, COOLDOWN_ENDS
from pipeline.machines.channel.stretches import pass_border, step_clock
from pipeline.machines.channel.timers import set_timer
from pipeline.machines.channel.topics import charge_pause, pass_pause_border
from pipeline.machines.compiled import compiled
from pipeline.machines.records import Record


@compiled
def pass_borders(broker: Any, channel: Any, counts: Record, border_us: int, border_ns: int, seq: int) -> None:
    """Timers before the border fire, what runs is split there. Touched afterwards is what needs a row."""
    fire_before_border(broker, channel, counts, border_us, border_ns, seq)
    for c in range(counts.connections):
        if broker.connections[c].open == 1 and pass_border(channel.channels[c], border_us, border_ns):
            channel.channels[c].touched = 1
    for t in range(counts.topics):
        pass_pause_border(channel.topic_pauses[t], border_us, border_ns)


@compiled
def step_clocks(broker: Any, channel: Any, counts: Record, ts_us: int, ns: int, seq: int) -> None:
    """The wall clock was set: what runs goes on from (`ts_us`, `ns`). The cooldown's limiter lives on the wall clock: its end moves."""
    fire_due(broker, channel, counts, ns, seq)
    for c in range(counts.connections):
        row = channel.channels[c]
        step_clock(row, ts_us, ns)
        if row.paused_by_cooldown == 1:
            row.marked_ts, row.marked_ns = ts_us, ns
        if row.running[COOLDOWN] == 1:
            row.close_at_us = max(row.close_at_us, ts_us)
            row.cooldown_end_ns = ns + (row.close_at_us - ts_us) * 1000
            set_timer(channel.timers, counts, channel.channel_clock[0], row, broker.connections[c].id, c, COOLDOWN_ENDS)
    for t in range(counts.topics):
        if channel.topic_pauses[t].paused_connections > 0:
            charge_pause(channel.topic_pauses[t], ns)
            channel.topic_pauses[t].began_ts = ts_us
