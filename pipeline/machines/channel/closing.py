"""Channels begin and end with their connections; a channel that ends is copied, so that its row of the open window waits for its end."""

from typing import Any

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.channel.layout import NO_CHANNEL, PAUSED, STRETCH_COUNT
from pipeline.machines.channel.stretches import charge
from pipeline.machines.channel.topics import leave_topics
from pipeline.machines.compiled import compiled_part
from pipeline.machines.records import Record, Records


@compiled_part
def ensure_channel(channels: Records, connection: Record, settings: Record, c: int, event: Array) -> Record:
    """The channel of an open connection: a new one, if the connection has just begun."""
    if channels[c].life != connection.life:
        channels[c] = NO_CHANNEL[0]
        channels[c].life = connection.life
        channels[c].remaining, channels[c].last_reset_ms = settings.permits, event[fields.TS] // 1000
    return channels[c]


@compiled_part
def close_channel(broker: Any, channel: Any, counts: Record, c: int, ts_us: int, ns: int) -> None:
    """The connection is about to end. A pause that it takes with it is not resumed, and the log will not show that its timer ends."""
    connection, row = broker.connections[c], channel.channels[c]
    if connection.open == 0:
        return
    has_time = False
    for stretch in range(STRETCH_COUNT):
        charge(row, stretch, ns)
        has_time = has_time or row.lasted_ns[stretch] > 0
    if row.running[PAUSED] == 1:
        leave_topics(broker, channel, c, ns)
    if channel.channel_settings[0].carries_throttles == 1:
        for compared in range(2):
            row.only_modelled[compared] += 1 if row.expected[compared] == 1 else 0
    if has_time or row.touched == 1:
        k = counts.closed_connections
        counts.closed_connections += 1
        channel.closed_connections[k] = connection
        channel.closed_channels[k] = row
        closed = channel.closed_connections[k]
        closed.closed_at = ts_us
        closed.began_complete &= 1 if closed.losses_at_open == broker.settings[0].losses else 0
    channel.channels[c] = NO_CHANNEL[0]
