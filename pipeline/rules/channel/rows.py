"""Rows of windows: of connections that something happened to, of topics whose producers waited, of the level of all write buffers."""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.completeness import incomplete_reasons, needed_by
from pipeline.rules.broker.layout import NONE
from pipeline.rules.channel.layout import CHANNEL_ROW, COOLDOWN, FIRST_TYPE, PAUSED, UNWRITABLE
from pipeline.rules.outcome import Rows, Window, window_columns
from pipeline.rules.records import Record, Records
from schemas.outcomes import NULL
from schemas.packages.channel.tables import CHANNEL_BACKPRESSURE, THROTTLED_NS_COLUMNS

#: LEVEL_SOURCES.
_HEARTBEAT, _WRITABILITY, _MARKS = range(3)
#: Prefixes of the columns of what is compared, in the order of the types.
_COMPARED = ("outbound_buffer", "cooldown")

_NEEDED = needed_by(CHANNEL_BACKPRESSURE.name)
#: Columns that may be called as their fields.
_SAME = set(CHANNEL_BACKPRESSURE.names) & set(CHANNEL_ROW.names or ())


def _or_null(values: Array) -> Array:
    return np.where(values == NONE, NULL, values)


def connection_rows(connections: Records, channels: Records, broker: Record, settings: Record, window: Window) -> Rows:
    """Rows of `channel_backpressure`, of connections whose `losses_at_open` is LOST if anything was lost since."""
    reasons = incomplete_reasons(broker.missing_events, _NEEDED, connections["began_complete"], connections["losses_at_open"])
    lasted = channels["lasted_ns"]
    columns = window_columns(window) | {
        "conn": connections["id"],
        "opened_at": connections["opened_at"],
        "closed_at": _or_null(connections["closed_at"]),
        "complete": reasons == NULL,
        "incomplete_reason": reasons,
        "settings_vocabulary": int(settings.vocabulary),
        "water_marks_usable": int(settings.marks_usable),
        "pause_enabled": int(settings.pause_enabled),
        "writable": 1 - channels["running"][:, UNWRITABLE],
        "paused": channels["running"][:, PAUSED],
        "unwritable_ns": lasted[:, UNWRITABLE],
        "paused_ns": lasted[:, PAUSED],
        "cooldown_ns": lasted[:, COOLDOWN],
        "pending_bytes_last": _or_null(connections["pending_bytes"]),
        "pending_bytes_max": _or_null(channels["pending_bytes_max"]),
    }
    columns |= {name: lasted[:, FIRST_TYPE + k] for k, name in enumerate(THROTTLED_NS_COLUMNS)}
    for k, prefix in enumerate(_COMPARED):
        columns |= {f"{prefix}_{name}": channels[name][:, k] for name in ("agreed", "only_logged", "only_modelled")}
    columns |= {name: channels[name] for name in _SAME.difference(columns)}
    return Rows("channel_backpressure", columns, len(connections))


def topic_rows(topic_ids: Array, pauses: Records, window: Window) -> Rows:
    """Rows of `topic_publish_pauses`."""
    counted = ("producers_paused_ns", "publish_limited_times", "connections_paused_max")
    return Rows("topic_publish_pauses", window_columns(window) | {"topic_id": topic_ids, **{c: pauses[c] for c in counted}}, len(pauses))


def memory_row(buffers: Record, connectivity: Record, paused: int, low_mark: int, window: Window) -> Rows | None:
    """The row of `channel_memory`, if anything is known. Without a report an unwritable channel holds at least the low mark."""
    least = low_mark * int(connectivity.unwritable)
    if buffers.reported == 1:
        level, known_from, known_at = buffers.reported_bytes, _HEARTBEAT, buffers.reported_at
    elif buffers.bounded == 1:
        level, known_from, known_at = buffers.bound_bytes, _WRITABILITY, buffers.bound_at
    elif connectivity.unwritable > 0:
        level, known_from, known_at = least, _MARKS, max(window.start_us, window.last_us)
    else:
        return None
    columns = window_columns(window) | {
        "write_buf_memory_used_bytes": int(level),
        "exact": int(known_from == _HEARTBEAT),
        "known_from": known_from,
        "known_at": int(known_at),
        "write_buf_memory_used_bytes_max": max(int(buffers.max_bytes), int(level)),
        "max_exact": int(buffers.max_exact),
        "connections_open": int(connectivity.open),
        "connections_unwritable": int(connectivity.unwritable),
        "connections_paused": paused,
    }
    return Rows("channel_memory", columns, 1)
