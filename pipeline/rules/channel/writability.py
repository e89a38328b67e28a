"""A channel crosses its water marks: it becomes unwritable and pauses, or writable again and begins its cooldown (§3.3)."""

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import CONSUMING, NONE
from pipeline.rules.channel.bundles import Reach, Timing
from pipeline.rules.channel.layout import COOLDOWN, COOLDOWN_ENDS, OUTBOUND_BUFFER, UNWRITABLE
from pipeline.rules.channel.memory import bound, exceed
from pipeline.rules.channel.stretches import begin, end
from pipeline.rules.channel.timers import set_timer
from pipeline.rules.channel.trackers import mark, mark_modelled, unmark, unmark_modelled
from pipeline.rules.channel.transitions import (
    BECAME_UNWRITABLE,
    BECAME_WRITABLE,
    COOLDOWN_OPENED,
    COOLDOWN_RESTARTED,
    Cause,
    note_transition,
)
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record

NS_PER_MS = 1_000_000


@compiled_part
def note_level(channel: Record, write_buffers: Record, unwritable: int, settings: Record, started: int, event: Array) -> None:
    """What the crossing proves of the channel's level and of all channels' (`unwritable` of them are, this one included).

    Every other unwritable channel holds at least the low mark. Writable twice in a row: it went over the high mark in between. The marks
    are known if the broker's start was seen (`started`).
    """
    writable, pending = event[fields.WRITABLE], event[fields.PENDING_BYTES]
    channel.pending_bytes_max = max(channel.pending_bytes_max, pending)
    channel.pending_bytes_at_least = max(channel.pending_bytes_at_least, pending)
    others = (settings.low_mark if started == 1 else 0) * (unwritable - (1 - writable))
    if started == 1 and writable == 1 and channel.running[UNWRITABLE] == 0:
        channel.pending_bytes_at_least = max(channel.pending_bytes_at_least, settings.high_mark + 1)
        exceed(write_buffers, settings.high_mark + 1 + others)
    bound(write_buffers, pending + others, event[fields.TS])
    contradicts = pending > settings.high_mark if writable == 1 else pending < settings.low_mark
    channel.mark_mismatches += 1 if started == 1 and contradicts else 0


@compiled_part
def become_unwritable(reach: Reach, settings: Record, cause: Cause) -> None:
    """Over the high mark: paused, if the feature is on."""
    channel = reach.channel_row
    if channel.running[UNWRITABLE] == 1:
        channel.writability_repeats += 1
    else:
        channel.unwritable_count += 1
        begin(channel, UNWRITABLE, cause.ts_us, cause.ns)
        note_unwritable_consumers(channel, reach.connection)
        note_transition(reach, BECAME_UNWRITABLE, NONE, False, cause)
    if settings.pause_enabled == 1:
        mark(reach, OUTBOUND_BUFFER, cause)
        mark_modelled(channel, OUTBOUND_BUFFER, settings.carries_throttles)


@compiled_part
def become_writable(reach: Reach, settings: Record, timing: Timing, c: int, cause: Cause) -> None:
    """Under the low mark: it goes on, and its requests are limited for a while."""
    channel = reach.channel_row
    if channel.running[UNWRITABLE] == 0:
        channel.writability_repeats += 1
    else:
        end(channel, UNWRITABLE, cause.ns)
        note_transition(reach, BECAME_WRITABLE, NONE, False, cause)
    if settings.pause_enabled == 0:
        return
    unmark(reach, OUTBOUND_BUFFER, cause)
    unmark_modelled(channel, OUTBOUND_BUFFER, settings.carries_throttles)
    if settings.cooldown_ms > 0:
        _open_cooldown(reach, settings.cooldown_ms, timing, c, cause)


@compiled_part
def _open_cooldown(reach: Reach, cooldown_ms: int, timing: Timing, c: int, cause: Cause) -> None:
    """Opened, or begun again: what is left of the permits stays."""
    channel, change = reach.channel_row, COOLDOWN_RESTARTED
    channel.close_at_ms = cause.ts_us // 1000 + cooldown_ms
    channel.close_at_us = cause.ts_us + cooldown_ms * 1000
    channel.cooldown_end_ns = cause.ns + cooldown_ms * NS_PER_MS
    if channel.running[COOLDOWN] == 0:
        change = COOLDOWN_OPENED
        begin(channel, COOLDOWN, cause.ts_us, cause.ns)
    set_timer(timing, channel, reach.connection.id, c, COOLDOWN_ENDS)
    note_transition(reach, change, NONE, False, cause)


@compiled_part
def note_unwritable_consumers(channel: Record, connection: Record) -> None:
    """How many consumers and subscriptions are hard to reach now."""
    channel.consumers_unwritable_max = max(channel.consumers_unwritable_max, connection.endpoints[CONSUMING])
    channel.subscriptions_unwritable_max = max(channel.subscriptions_unwritable_max, connection.targets[CONSUMING])
