"""Backpressure event by event: channels end before the broker's rows change, everything else happens after."""

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.attachments import owner_of
from pipeline.rules.broker.layout import NONE, PRODUCING
from pipeline.rules.channel.bundles import AllChannels, Closing, Reach, Timing
from pipeline.rules.channel.closing import close_channel, ensure_channel
from pipeline.rules.channel.due_timers import fire_due
from pipeline.rules.channel.fields import HEARTBEAT_BYTES, KEEPS_ALIVE
from pipeline.rules.channel.layout import COOLDOWN_RATE, FIRST_COMPARED, NO_CHANNEL, OUTBOUND_BUFFER, PAUSE_ENDS, PAUSED, UNWRITABLE
from pipeline.rules.channel.limiter import acquire
from pipeline.rules.channel.memory import report
from pipeline.rules.channel.settings import take_settings
from pipeline.rules.channel.timers import set_timer
from pipeline.rules.channel.topics import end_pause, join, leave
from pipeline.rules.channel.trackers import compare_logged, mark, mark_modelled, note_paused_producers, unmark, unmark_modelled
from pipeline.rules.channel.transitions import LOGGED, REQUEST_REFUSED, WRITABILITY, Cause
from pipeline.rules.channel.writability import become_unwritable, become_writable, note_level, note_unwritable_consumers
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import EMPTY, find
from pipeline.rules.records import Record, Records

NS_PER_MS = 1_000_000
#: Events that add a few rows.
EMITTING = ("conn_open", "conn_close", "writability", "throttle", "request")


@compiled_part
def is_due(channel_clock: Record, event: Array) -> bool:
    """Whether a timer is due before this event."""
    return channel_clock.next_due_ns <= event[fields.NS]


@compiled_part
def when_due(all_channels: AllChannels, event: Array) -> None:
    """Timers come before events of the same instant (§6, trap 21)."""
    fire_due(all_channels, event[fields.NS], event[fields.SEQ])


@compiled_part
def on_new_connection(channels: Records, c: int) -> None:
    """Nothing has happened to it yet."""
    channels[c] = NO_CHANNEL[0]


@compiled_part
def on_broker_start(channel_settings: Record, event: Array) -> None:
    """The process starts with these settings; none of them is dynamic."""
    take_settings(channel_settings, event)


@compiled_part
def before_conn_open(
    reach: Reach, channels: Records, c: int, settings: Record, channel_settings: Record, closing: Closing, event: Array
) -> None:
    """A connection of that id that is still there ends."""
    close_channel(reach, channels, c, settings, channel_settings, closing, event)


@compiled_part
def on_conn_open(connection: Record, channel_row: Record, channel_settings: Record, event: Array) -> None:
    """A channel begins."""
    ensure_channel(channel_row, connection, channel_settings, event)


@compiled_part
def before_conn_close(
    reach: Reach, channels: Records, c: int, settings: Record, channel_settings: Record, closing: Closing, event: Array
) -> None:
    """The channel ends."""
    close_channel(reach, channels, c, settings, channel_settings, closing, event)


@compiled_part
def on_writability(
    reach: Reach,
    timing: Timing,
    c: int,
    channel_settings: Record,
    settings: Record,
    connectivity: Record,
    write_buffers: Record,
    event: Array,
) -> None:
    """The channel crossed a water mark: its own state, what it proves of the level of all, and the pause that follows (§3.3)."""
    channel_row = reach.channel_row
    ensure_channel(channel_row, reach.connection, channel_settings, event)
    channel_row.touched = 1
    note_level(channel_row, write_buffers, connectivity.unwritable, channel_settings, settings.started, event)
    cause = Cause(WRITABILITY, event[fields.SEQ], event[fields.TS], event[fields.NS], event[fields.PENDING_BYTES])
    if event[fields.WRITABLE] == 1:
        become_writable(reach, channel_settings, timing, c, cause)
    else:
        become_unwritable(reach, channel_settings, cause)


@compiled_part
def on_request(reach: Reach, timing: Timing, c: int, channel_settings: Record, event: Array) -> None:
    """A request while the cooldown may be open. One that is refused is handled all the same, and the connection waits for a period."""
    row, rules = reach.channel_row, channel_settings
    ensure_channel(row, reach.connection, rules, event)
    row.touched = 1
    row.requests += 1
    if rules.pause_enabled == 0 or rules.cooldown_ms <= 0 or event[KEEPS_ALIVE] == 1:
        return
    if acquire(row, rules.permits, rules.period_ms, 1, event[fields.TS] // 1000) != 0:
        return
    row.requests_limited += 1
    if row.paused_by_cooldown == 1:
        return
    row.paused_by_cooldown, row.due_ns = 1, event[fields.NS] + rules.period_ms * NS_PER_MS
    row.marked_ts, row.marked_ns = event[fields.TS], event[fields.NS]
    set_timer(timing, row, reach.connection.id, c, PAUSE_ENDS)
    mark_modelled(row, COOLDOWN_RATE, rules.carries_throttles)
    if rules.carries_throttles == 0:
        row.by_rule = 1
        mark(reach, COOLDOWN_RATE, Cause(REQUEST_REFUSED, event[fields.SEQ], event[fields.TS], event[fields.NS], 0))


@compiled_part
def on_throttle(reach: Reach, channel_settings: Record, settings: Record, event: Array) -> None:
    """What the broker did. The two types of PIP-434 are compared with the model; of them the outbound buffer is known by rule already."""
    throttle_type, on = event[fields.THROTTLE_TYPE], event[fields.THROTTLE_ON]
    channel_settings.carries_throttles = 1
    if throttle_type >= FIRST_COMPARED and settings.started == 0:
        channel_settings.pause_enabled = 1
    channel_row = reach.channel_row
    if reach.connection.open == 0:
        return
    ensure_channel(channel_row, reach.connection, channel_settings, event)
    channel_row.touched = 1
    if throttle_type >= FIRST_COMPARED:
        compare_logged(channel_row, throttle_type, on)
    elif on == 1:
        mark_modelled(channel_row, throttle_type, 1)
    else:
        unmark_modelled(channel_row, throttle_type, 1)
    if throttle_type == OUTBOUND_BUFFER:
        return
    was_by_rule = throttle_type == COOLDOWN_RATE and channel_row.by_rule == 1
    if was_by_rule:
        channel_row.by_rule = 0  # what the rule found first is the log's from here on
    cause = Cause(LOGGED, event[fields.SEQ], event[fields.TS], event[fields.NS], 0)
    if on == 0:
        unmark(reach, throttle_type, cause)
    elif not was_by_rule:
        mark(reach, throttle_type, cause)


@compiled_part
def on_heartbeat(
    connections: Records,
    connections_index: Array,
    channels: Records,
    connectivity: Record,
    settings: Record,
    channel_settings: Record,
    write_buffers: Record,
    event: Array,
) -> None:
    """The level of all write buffers. If one channel is unwritable most of it is that one's: every other holds at most the high mark, which
    is known if the broker's start was seen.
    """
    if not fields.has(event, HEARTBEAT_BYTES):
        return
    size = event[HEARTBEAT_BYTES]
    report(write_buffers, size, event[fields.TS])
    if connectivity.unwritable == 1 and settings.started == 1:
        c = find(connections_index, connections, connectivity.unwritable_ids, 0)
        least = size - channel_settings.high_mark * (connectivity.open - 1)
        channels[c].pending_bytes_at_least = max(channels[c].pending_bytes_at_least, least)


@compiled_part
def before_producer_open(
    endpoints: Records, endpoints_index: Array, attachments: Records, channels: Records, topic_pauses: Records, event: Array
) -> None:
    """A producer of that id that is still there ends."""
    _end_producer(endpoints, endpoints_index, attachments, channels, topic_pauses, event)


@compiled_part
def on_producer_open(
    connection: Record,
    channel_row: Record,
    channel_settings: Record,
    attachments: Records,
    attachments_index: Array,
    topic_pause: Record,
    event: Array,
) -> None:
    """A producer, which waits at once if its connection is paused."""
    ensure_channel(channel_row, connection, channel_settings, event)
    if channel_row.running[PAUSED] == 0:
        return
    note_paused_producers(channel_row, connection)
    a = find(attachments_index, attachments, event[fields.TOPIC_ID], owner_of(PRODUCING, connection.id))
    if attachments[a].endpoints == 1:
        join(topic_pause, event[fields.TS], event[fields.NS])


@compiled_part
def before_producer_close(
    endpoints: Records, endpoints_index: Array, attachments: Records, channels: Records, topic_pauses: Records, event: Array
) -> None:
    """The producer ends."""
    _end_producer(endpoints, endpoints_index, attachments, channels, topic_pauses, event)


@compiled_part
def _end_producer(
    endpoints: Records, endpoints_index: Array, attachments: Records, channels: Records, topic_pauses: Records, event: Array
) -> None:
    """The last one of its topic on a paused connection takes the connection from those that the topic's producers wait for."""
    e = find(endpoints_index, endpoints, event[fields.PRODUCER], owner_of(PRODUCING, event[fields.CONN]))
    if e == EMPTY or endpoints[e].attachment == NONE:
        return
    attachment = attachments[endpoints[e].attachment]
    if attachment.endpoints == 1 and channels[attachment.connection].running[PAUSED] == 1:
        leave(topic_pauses[attachment.target], event[fields.NS])


@compiled_part
def on_consumer_open(connection: Record, channel_row: Record, channel_settings: Record, event: Array) -> None:
    """A consumer, which is hard to reach at once if its connection is unwritable."""
    ensure_channel(channel_row, connection, channel_settings, event)
    if channel_row.running[UNWRITABLE] == 1:
        note_unwritable_consumers(channel_row, connection)


@compiled_part
def before_topic_load(topic_pause: Record, event: Array) -> None:
    """Producers of an object of the topic that is still there go."""
    end_pause(topic_pause, event[fields.NS])


@compiled_part
def before_topic_unload(topic_pause: Record, event: Array) -> None:
    """The topic's producers go."""
    end_pause(topic_pause, event[fields.NS])
