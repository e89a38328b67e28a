"""Channels begin and end with their connections; a channel that ends is copied, so that its row of the open window waits for its end."""

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import CONSUMING, LOST, NONE, PRODUCING
from pipeline.rules.channel.bundles import Closing, Reach
from pipeline.rules.channel.layout import NO_CHANNEL, PAUSED, STRETCH_COUNT
from pipeline.rules.channel.stretches import charge
from pipeline.rules.channel.topics import leave_topics
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records


@compiled_part
def ensure_channel(channel: Record, connection: Record, settings: Record, event: Array) -> None:
    """If the connection has just begun, its limiter is full. A channel without a connection is always blank."""
    if channel.life != connection.life:
        channel.life = connection.life
        channel.remaining, channel.last_reset_ms = settings.permits, event[fields.TS] // 1000


@compiled_part
def close_channel(
    reach: Reach, channels: Records, c: int, settings: Record, channel_settings: Record, closing: Closing, event: Array
) -> None:
    """The connection is about to end. A pause that it takes with it is not resumed, and the log will not show that its timer ends."""
    connection, channel, ns = reach.connection, reach.channel_row, event[fields.NS]
    if connection.open == 0:
        return
    has_time = False
    for stretch in range(STRETCH_COUNT):
        charge(channel, stretch, ns)
        has_time = has_time or channel.lasted_ns[stretch] > 0
    if channel.running[PAUSED] == 1:
        leave_topics(connection, reach.attachments, reach.topic_pauses, ns)
    if channel_settings.carries_throttles == 1:
        for compared in range(2):
            channel.only_modelled[compared] += 1 if channel.expected[compared] == 1 else 0
    if has_time or channel.touched == 1:
        k = closing.counts.closed_connections
        closing.counts.closed_connections += 1
        closing.closed_connections[k] = connection
        closing.closed_channels[k] = channel
        closed = closing.closed_connections[k]
        closed.closed_at = event[fields.TS]
        closed.first_attachment[PRODUCING], closed.first_attachment[CONSUMING] = NONE, NONE
        closed.losses_at_open = closed.losses_at_open if closed.losses_at_open == settings.losses else LOST
    channels[c] = NO_CHANNEL[0]
