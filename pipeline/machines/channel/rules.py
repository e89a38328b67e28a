"""Backpressure event by event: channels end before the broker's rows change, everything else happens after."""

from typing import Any

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.broker.attachments import owner_of
from pipeline.machines.broker.layout import CONSUMING, NONE, PRODUCING
from pipeline.machines.channel.closing import close_channel, ensure_channel
from pipeline.machines.channel.firing import fire_due
from pipeline.machines.channel.layout import (
    COOLDOWN,
    COOLDOWN_ENDS,
    COOLDOWN_RATE,
    FIRST_COMPARED,
    OUTBOUND_BUFFER,
    PAUSE_ENDS,
    PAUSED,
    UNWRITABLE,
)
from pipeline.machines.channel.limiter import acquire
from pipeline.machines.channel.memory import bound, exceed, report
from pipeline.machines.channel.settings import take_settings
from pipeline.machines.channel.stretches import begin, end
from pipeline.machines.channel.timers import set_timer
from pipeline.machines.channel.topics import end_pause, join, leave
from pipeline.machines.channel.trackers import compare_logged, mark, mark_modelled, note_paused_producers, unmark, unmark_modelled
from pipeline.machines.channel.transitions import (
    BECAME_UNWRITABLE,
    BECAME_WRITABLE,
    COOLDOWN_OPENED,
    COOLDOWN_RESTARTED,
    LOGGED,
    REQUEST_REFUSED,
    WRITABILITY,
    Cause,
    note_transition,
)
from pipeline.machines.compiled import compiled_part
from pipeline.machines.index import EMPTY, find
from pipeline.machines.records import Record

NS_PER_MS = 1_000_000
#: Events that add a few rows.
EMITTING = ("conn_open", "conn_close", "writability", "throttle", "request")


@compiled_part
def is_due(channel_clock: Record, event: Array) -> bool:
    """Whether a timer is due before this event."""
    return channel_clock.next_due_ns <= event[fields.NS]


@compiled_part
def when_due(broker: Any, channel: Any, counts: Record, event: Array) -> None:
    """Timers come before events of the same instant (§6, trap 21)."""
    fire_due(broker, channel, counts, event[fields.NS], event[fields.SEQ])


@compiled_part
def on_broker_start(channel_settings: Record, event: Array) -> None:
    """The process starts with these settings; none of them is dynamic."""
    take_settings(channel_settings, event)


@compiled_part
def before_conn_open(broker: Any, channel: Any, counts: Record, c: int, event: Array) -> None:
    """A connection of that id that is still there ends."""
    close_channel(broker, channel, counts, c, event[fields.TS], event[fields.NS])


@compiled_part
def on_conn_open(broker: Any, channel: Any, c: int, event: Array) -> None:
    """A channel begins."""
    ensure_channel(channel.channels, broker.connections[c], channel.channel_settings[0], c, event)


@compiled_part
def before_conn_close(broker: Any, channel: Any, counts: Record, c: int, event: Array) -> None:
    """The channel ends."""
    close_channel(broker, channel, counts, c, event[fields.TS], event[fields.NS])


@compiled_part
def on_writability(broker: Any, channel: Any, counts: Record, c: int, event: Array) -> None:
    """The channel crossed a water mark: its own state, what it proves of the level of all, and the pause that follows (§3.3)."""
    connection, settings = broker.connections[c], channel.channel_settings[0]
    row = ensure_channel(channel.channels, connection, settings, c, event)
    row.touched = 1
    pending = event[fields.PENDING_BYTES]
    row.pending_bytes_max = max(row.pending_bytes_max, pending)
    row.pending_bytes_at_least = max(row.pending_bytes_at_least, pending)
    cause = Cause(WRITABILITY, event[fields.SEQ], event[fields.TS], event[fields.NS], pending)
    _note_level(broker, channel, row, event)
    if event[fields.WRITABLE] == 1:
        _become_writable(broker, channel, counts, c, cause)
    else:
        _become_unwritable(broker, channel, counts, c, cause)


@compiled_part
def _note_level(broker: Any, channel: Any, row: Record, event: Array) -> None:
    """Every other unwritable channel holds at least the low mark. Writable twice in a row: it went over the high mark in between."""
    settings, buffers, writable = channel.channel_settings[0], channel.write_buffers[0], event[fields.WRITABLE]
    low_mark = settings.low_mark if broker.settings[0].started == 1 else 0
    others = low_mark * (broker.connectivity[0].unwritable - (1 - writable))
    if writable == 1 and row.running[UNWRITABLE] == 0:
        row.pending_bytes_at_least = max(row.pending_bytes_at_least, settings.high_mark + 1)
        exceed(buffers, settings.high_mark + 1 + others)
    bound(buffers, event[fields.PENDING_BYTES] + others, event[fields.TS])


@compiled_part
def _become_unwritable(broker: Any, channel: Any, counts: Record, c: int, cause: Cause) -> None:
    connection, row, settings = broker.connections[c], channel.channels[c], channel.channel_settings[0]
    row.mark_mismatches += 1 if broker.settings[0].started == 1 and cause.pending_bytes < settings.low_mark else 0
    if row.running[UNWRITABLE] == 1:
        row.writability_repeats += 1
    else:
        row.unwritable_count += 1
        begin(row, UNWRITABLE, cause.ts_us, cause.ns)
        _note_unwritable_consumers(row, connection)
        note_transition(channel, counts, connection.id, row.throttled, BECAME_UNWRITABLE, NONE, False, cause)
    if settings.pause_enabled == 1:
        mark(broker, channel, counts, c, OUTBOUND_BUFFER, cause)
        mark_modelled(row, OUTBOUND_BUFFER, settings.carries_throttles)


@compiled_part
def _become_writable(broker: Any, channel: Any, counts: Record, c: int, cause: Cause) -> None:
    conn, row, settings = broker.connections[c].id, channel.channels[c], channel.channel_settings[0]
    row.mark_mismatches += 1 if broker.settings[0].started == 1 and cause.pending_bytes > settings.high_mark else 0
    if row.running[UNWRITABLE] == 0:
        row.writability_repeats += 1
    else:
        end(row, UNWRITABLE, cause.ns)
        note_transition(channel, counts, conn, row.throttled, BECAME_WRITABLE, NONE, False, cause)
    if settings.pause_enabled == 0:
        return
    unmark(broker, channel, counts, c, OUTBOUND_BUFFER, cause)
    unmark_modelled(row, OUTBOUND_BUFFER, settings.carries_throttles)
    if settings.cooldown_ms <= 0:
        return
    # Opened, or begun again: what is left of the permits stays.
    row.close_at_ms = cause.ts_us // 1000 + settings.cooldown_ms
    row.close_at_us = cause.ts_us + settings.cooldown_ms * 1000
    row.cooldown_end_ns = cause.ns + settings.cooldown_ms * NS_PER_MS
    change = COOLDOWN_RESTARTED
    if row.running[COOLDOWN] == 0:
        change = COOLDOWN_OPENED
        begin(row, COOLDOWN, cause.ts_us, cause.ns)
    set_timer(channel.timers, counts, channel.channel_clock[0], row, conn, c, COOLDOWN_ENDS)
    note_transition(channel, counts, conn, row.throttled, change, NONE, False, cause)


@compiled_part
def on_request(broker: Any, channel: Any, counts: Record, c: int, event: Array) -> None:
    """A request while the cooldown may be open. One that is refused is handled all the same, and the connection waits for a period."""
    connection, settings = broker.connections[c], channel.channel_settings[0]
    row = ensure_channel(channel.channels, connection, settings, c, event)
    row.touched = 1
    row.requests += 1
    if settings.pause_enabled == 0 or settings.cooldown_ms <= 0 or event[fields.KEEPS_ALIVE] == 1:
        return
    if acquire(row, settings.permits, settings.period_ms, 1, event[fields.TS] // 1000) != 0:
        return
    row.requests_limited += 1
    if row.paused_by_cooldown == 1:
        return
    row.paused_by_cooldown, row.due_ns = 1, event[fields.NS] + settings.period_ms * NS_PER_MS
    row.marked_ts, row.marked_ns = event[fields.TS], event[fields.NS]
    set_timer(channel.timers, counts, channel.channel_clock[0], row, connection.id, c, PAUSE_ENDS)
    mark_modelled(row, COOLDOWN_RATE, settings.carries_throttles)
    if settings.carries_throttles == 0:
        row.by_rule = 1
        cause = Cause(REQUEST_REFUSED, event[fields.SEQ], event[fields.TS], event[fields.NS], 0)
        mark(broker, channel, counts, c, COOLDOWN_RATE, cause)


@compiled_part
def on_throttle(broker: Any, channel: Any, counts: Record, c: int, event: Array) -> None:
    """What the broker did. The two types of PIP-434 are compared with the model; of them the outbound buffer is known by rule already."""
    connection, settings = broker.connections[c], channel.channel_settings[0]
    throttle_type, on = event[fields.THROTTLE_TYPE], event[fields.THROTTLE_ON]
    settings.carries_throttles = 1
    if throttle_type >= FIRST_COMPARED and broker.settings[0].started == 0:
        settings.pause_enabled = 1
    if connection.open == 0:
        return
    row = ensure_channel(channel.channels, connection, settings, c, event)
    row.touched = 1
    if throttle_type >= FIRST_COMPARED:
        compare_logged(row, throttle_type, on)
    elif on == 1:
        mark_modelled(row, throttle_type, 1)
    else:
        unmark_modelled(row, throttle_type, 1)
    if throttle_type == OUTBOUND_BUFFER:
        return
    was_by_rule = throttle_type == COOLDOWN_RATE and row.by_rule == 1
    if was_by_rule:
        row.by_rule = 0  # what the rule said first is the log's from here on
    cause = Cause(LOGGED, event[fields.SEQ], event[fields.TS], event[fields.NS], 0)
    if on == 0:
        unmark(broker, channel, counts, c, throttle_type, cause)
    elif not was_by_rule:
        mark(broker, channel, counts, c, throttle_type, cause)


@compiled_part
def on_heartbeat(broker: Any, channel: Any, event: Array) -> None:
    """The level of all write buffers. If one channel is unwritable most of it is that one's: every other holds at most the high mark."""
    if not fields.has(event, fields.HEARTBEAT_BYTES):
        return
    size, connectivity = event[fields.HEARTBEAT_BYTES], broker.connectivity[0]
    report(channel.write_buffers[0], size, event[fields.TS])
    if connectivity.unwritable == 1:
        c = find(broker.connections_index, broker.connections, connectivity.unwritable_ids, 0)
        least = size - channel.channel_settings[0].high_mark * (connectivity.open - 1)
        if least > 0:
            channel.channels[c].pending_bytes_at_least = max(channel.channels[c].pending_bytes_at_least, least)


@compiled_part
def before_producer_open(broker: Any, channel: Any, event: Array) -> None:
    """A producer of that id that is still there ends."""
    _end_producer(broker, channel, event)


@compiled_part
def on_producer_open(broker: Any, channel: Any, c: int, t: int, event: Array) -> None:
    """A producer, which waits at once if its connection is paused."""
    connection = broker.connections[c]
    row = ensure_channel(channel.channels, connection, channel.channel_settings[0], c, event)
    if row.running[PAUSED] == 0:
        return
    note_paused_producers(row, connection)
    a = find(broker.attachments_index, broker.attachments, event[fields.TOPIC_ID], owner_of(PRODUCING, connection.id))
    if broker.attachments[a].endpoints == 1:
        join(channel.topic_pauses[t], event[fields.TS], event[fields.NS])


@compiled_part
def before_producer_close(broker: Any, channel: Any, event: Array) -> None:
    """The producer ends."""
    _end_producer(broker, channel, event)


@compiled_part
def _end_producer(broker: Any, channel: Any, event: Array) -> None:
    """The last one of its topic on a paused connection takes the connection from those that the topic's producers wait for."""
    e = find(broker.endpoints_index, broker.endpoints, event[fields.PRODUCER], owner_of(PRODUCING, event[fields.CONN]))
    if e == EMPTY or broker.endpoints[e].attachment == NONE:
        return
    attachment = broker.attachments[broker.endpoints[e].attachment]
    if attachment.endpoints == 1 and channel.channels[attachment.connection].running[PAUSED] == 1:
        leave(channel.topic_pauses[attachment.target], event[fields.NS])


@compiled_part
def on_consumer_open(broker: Any, channel: Any, c: int, event: Array) -> None:
    """A consumer, which is hard to reach at once if its connection is unwritable."""
    connection = broker.connections[c]
    row = ensure_channel(channel.channels, connection, channel.channel_settings[0], c, event)
    if row.running[UNWRITABLE] == 1:
        _note_unwritable_consumers(row, connection)


@compiled_part
def _note_unwritable_consumers(row: Record, connection: Record) -> None:
    row.consumers_unwritable_max = max(row.consumers_unwritable_max, connection.endpoints[CONSUMING])
    row.subscriptions_unwritable_max = max(row.subscriptions_unwritable_max, connection.targets[CONSUMING])


@compiled_part
def before_topic_load(topic_pause: Record, event: Array) -> None:
    """Producers of an object of the topic that is still there go."""
    end_pause(topic_pause, event[fields.NS])


@compiled_part
def before_topic_unload(topic_pause: Record, event: Array) -> None:
    """The topic's producers go."""
    end_pause(topic_pause, event[fields.NS])
