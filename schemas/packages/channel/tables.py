"""Backpressure on connections (PIP-434): channels, their changes, the topics that waited, the level of all write buffers."""

import re

from schemas.completeness import completeness_of_life
from schemas.events import THROTTLE_TYPES
from schemas.field import Field, Table, count_field
from schemas.window_columns import COMPLETENESS, WINDOW

#: Where the settings of the cooldown came from.
SETTINGS_VOCABULARIES = ("shipped", "pip", "default")
#: What changed, and why.
CHANNEL_CHANGES = ("unwritable", "writable", "throttled", "unthrottled", "cooldown_opened", "cooldown_restarted", "cooldown_closed")
TRANSITION_CAUSES = ("writability", "request_refused", "cooldown_timer", "logged", "cooldown_over")
#: How the level of all write buffers is known.
LEVEL_SOURCES = ("heartbeat", "writability", "marks")


def snake_case(throttle_type: str) -> str:
    """`ConnectionOutboundBufferFull` as the end of a column's name; words that all of them have are left out."""
    words = re.findall(r"IO|[A-Z][a-z]+", throttle_type)
    text = "_".join(words).lower()
    short = {
        "connection_outbound_buffer_full": "outbound_buffer_full",
        "connection_pause_receiving_cooldown_rate_limit": "cooldown_rate_limit",
    }
    return short.get(text, text).removesuffix("_exceeded")


#: One column for each throttle type, in their order.
THROTTLED_NS_COLUMNS = tuple(f"throttled_ns_by_{snake_case(name)}" for name in THROTTLE_TYPES)


def _level(name: str, meaning: str) -> Field:
    return Field(name, "long", meaning, "bytes", nullable=True, check=f"{name} >= 0")


def _one_of(name: str, values: tuple[str, ...], meaning: str, nullable: bool = False) -> Field:
    listed = ", ".join(f"'{value}'" for value in values)
    return Field(name, "string", meaning, nullable=nullable, check=f"{name} IN ({listed})")


_BROKER = (Field("broker", "string", "broker"), Field("epoch", "long", "epoch of the broker", "ms since 1970"))
_RATE_LIMIT_COUNT = "pulsar.broker.connection.rate_limit.count{pulsar.connection.rate_limit.operation.name=%s}"

CHANNEL_BACKPRESSURE = Table(
    "channel_backpressure",
    "One row per connection and window in which something happened to it: an event of its channel, a timer, or time that it was unwritable, paused or in its cooldown.",
    grain=("broker", "epoch", "conn", "opened_at", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        *_BROKER,
        Field("conn", "long", "connection id, unique in an epoch"),
        Field("opened_at", "timestamp", "ts of its conn_open; without one, of its first event"),
        *WINDOW,
        Field("closed_at", "timestamp", "when the connection ended in this window (closed, epoch over); null while it is open", nullable=True),
        *completeness_of_life("false: its beginning or that of the broker was not in the log, or events of the broker were lost or quarantined since"),
        COMPLETENESS,
        _one_of("settings_vocabulary", SETTINGS_VOCABULARIES, "which names of the cooldown's settings the broker started with: those that brokers read (shipped), those of PIP-434's text (pip), none (default)"),
        Field("water_marks_usable", "boolean", "false: with these water marks no channel can be made (high below Netty's own low mark of 32768, or below low)"),
        Field("pause_enabled", "boolean", "whether unwritable channels are paused (pulsarChannelPauseReceivingRequestsIfUnwritable)"),
        Field("writable", "boolean", "whether the channel was writable at the end of the window, or just before the connection ended"),
        Field("paused", "boolean", "whether reading from the connection was paused then"),
        count_field("paused_count", "times that reading was paused, as the broker counts it", pulsar=_RATE_LIMIT_COUNT % "paused"),
        count_field("resumed_count", "times that reading went on, as the broker counts it: not when a paused connection ends", pulsar=_RATE_LIMIT_COUNT % "resumed"),
        count_field("modelled_paused_count", "paused_count by the rules alone, without the log's throttle events"),
        count_field("modelled_resumed_count", "resumed_count by the rules alone"),
        count_field("unwritable_ns", "time in which the channel was unwritable", "ns"),
        count_field("paused_ns", "time in which reading from the connection was paused", "ns"),
        count_field("cooldown_ns", "time in which the limiter of requests after a pause was open", "ns"),
        *(
            count_field(column, f"time for which {throttle_type} was a reason to pause; several reasons may overlap", "ns")
            for column, throttle_type in zip(THROTTLED_NS_COLUMNS, THROTTLE_TYPES, strict=True)
        ),
        count_field("unwritable_count", "times that the channel became unwritable"),
        count_field("writability_repeats", "reports of the side of the water marks that was reported before; writable twice in a row is an excursion over the high mark and back"),
        count_field("mark_mismatches", "reports that the water marks contradict: unwritable below the low mark, writable above the high mark"),
        count_field("marks_dropped", "reasons set that were set, or cleared that were not"),
        count_field("requests", "requests in the log; it has them only while a cooldown is open", "requests"),
        count_field("requests_limited", "of them refused a permit by the cooldown's limiter; they are handled all the same", "requests"),
        _level("pending_bytes_last", "bytes in its write buffer at its last writability event; null before the first"),
        _level("pending_bytes_max", "most bytes at a writability event, or left from before the window; null before the first"),
        count_field("pending_bytes_at_least", "most bytes that the log proves for the window: its writability events, the low mark while unwritable, a heartbeat's sum that no other channel can hold", "bytes"),
        *(
            count_field(f"{prefix}_{name}", f"{change} of {throttle_type} that {meaning}")
            for prefix, throttle_type in (("outbound_buffer", THROTTLE_TYPES[5]), ("cooldown", THROTTLE_TYPES[6]))
            for name, change, meaning in (
                ("agreed", "changes", "the rules expected and the log shows"),
                ("only_logged", "changes", "only the log shows"),
                ("only_modelled", "changes", "only the rules expected"),
            )
        ),
        count_field("producers_paused_max", "most producers on the connection at once while it was paused", "producers"),
        count_field("topics_paused_max", "most topics with producers on the connection at once while it was paused", "topics"),
        count_field("consumers_unwritable_max", "most consumers on the connection at once while it was unwritable", "consumers"),
        count_field("subscriptions_unwritable_max", "most subscriptions with consumers on the connection at once while it was unwritable", "subscriptions"),
    ),
)  # fmt: skip

CHANNEL_TRANSITIONS = Table(
    "channel_transitions",
    "One row per change of a channel: of its writability, of a reason to pause, of its cooldown. That a connection ends is no change.",
    grain=("broker", "epoch", "seq", "conn", "change", "throttle_type"),
    age_by="ts",
    fields=(
        *_BROKER,
        Field("seq", "long", "the event that made the change; for a timer, the event before which it was found due"),
        Field("conn", "long", "connection id, unique in an epoch"),
        Field("ts", "timestamp", "when; for a timer, estimated from when it was set"),
        Field("ns", "long", "when, on the broker's monotonic clock", "ns"),
        _one_of("change", CHANNEL_CHANGES, "the kind of change"),
        _one_of("throttle_type", THROTTLE_TYPES, "the reason that was set (throttled) or cleared (unthrottled); else null", nullable=True),
        _one_of("cause", TRANSITION_CAUSES, "cause of the change: a writability event, a request that was refused, the timer of that pause, a throttle event of the log, the end of the cooldown"),
        Field("auto_read", "boolean", "whether the broker reads from the connection afterwards"),
        count_field("throttle_count", "reasons to pause that are set afterwards"),
        Field("changed_connection", "boolean", "this change paused the connection, or let it go on"),
        _level("pending_bytes", "bytes in its write buffer, where it became writable or unwritable; else null"),
    ),
)  # fmt: skip

TOPIC_PUBLISH_PAUSES = Table(
    "topic_publish_pauses",
    "One row per topic and window in which a connection with producers of the topic was paused.",
    grain=("broker", "epoch", "topic", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        *_BROKER,
        Field("topic", "string", "full topic name"),
        *WINDOW,
        COMPLETENESS,
        count_field("producers_paused_ns", "time in which at least one connection with an open producer of the topic was paused", "ns"),
        count_field("publish_limited_times", "pauses, counted once for each producer of the topic on the connection", pulsar="pulsar_publish_rate_limit_times"),
        count_field("connections_paused_max", "most connections with producers of the topic that were paused at once", "connections"),
    ),
)  # fmt: skip

CHANNEL_MEMORY = Table(
    "channel_memory",
    "One row per broker and window in which anything is known of the level of all write buffers together. Between two heartbeats nobody knows more than a bound.",
    grain=("broker", "epoch", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        *_BROKER,
        *WINDOW,
        COMPLETENESS,
        Field("write_buf_memory_used_bytes", "long", "bytes in the write buffers of all connections, as last known in the window; Netty's count, 96 bytes for each queued buffer included", "bytes",
              check="write_buf_memory_used_bytes >= 0", pulsar="pulsar_server_channel_write_buf_memory_used_bytes"),
        Field("exact", "boolean", "true: a heartbeat reported it; false: it was at least this"),
        _one_of("known_from", LEVEL_SOURCES, "heartbeat: its sum; writability: the bytes of that channel and the low mark for each other unwritable one; marks: the low mark for each unwritable one"),
        Field("known_at", "timestamp", "ts of that event; where it follows from the water marks alone, of the last event of the window, or its start"),
        Field("write_buf_memory_used_bytes_max", "long", "greatest level that is known in the window; it was at least this", "bytes", check="write_buf_memory_used_bytes_max >= 0"),
        Field("max_exact", "boolean", "whether a heartbeat reported that"),
        count_field("connections_open", "open connections at the end of the window", "connections"),
        count_field("connections_unwritable", "of them with an unwritable channel", "connections"),
        count_field("connections_paused", "of them paused", "connections"),
    ),
)  # fmt: skip
