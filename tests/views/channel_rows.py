"""The channels of the small warehouse: a connection that is paused for 80 s and still is, one that was for a second, memory that grows."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
ORDERS = "persistent://shop/eu/orders"
BUFFER = "ConnectionOutboundBufferFull"
S = 10**9
Row = Mapping[str, Any]


def _minute(m: float) -> datetime:
    return THREE + timedelta(minutes=m)


def _window(m: int) -> Row:
    return {"window_start": _minute(m), "window_end": _minute(m + 1), "clock_segment": 0}


def _paused(m: int, seconds: int, **more: Any) -> Row:
    """A minute of connection 7, paused and unwritable at its end."""
    return {
        "conn": 7, "opened_at": _minute(-1), **_window(m), "writable": False, "paused": True,
        "unwritable_ns": seconds * S, "paused_ns": seconds * S, "throttled_ns_by_outbound_buffer_full": seconds * S,
        "pending_bytes_last": 70_000, "pending_bytes_max": 70_000, "pending_bytes_at_least": 2_000_000 * m,
        "producers_paused_max": 2, "topics_paused_max": 1, "consumers_unwritable_max": 1, "subscriptions_unwritable_max": 1, **more,
    }  # fmt: skip


def channel_tables() -> dict[str, list[Row]]:
    """Rows of the tables of channels, of b1."""
    short = {"conn": 8, "opened_at": _minute(-1), **_window(1), "pending_bytes_last": 0, "pending_bytes_max": 66_000,
             "pending_bytes_at_least": 66_000, "paused_count": 1, "resumed_count": 1, "unwritable_count": 1,
             "unwritable_ns": S, "paused_ns": S, "throttled_ns_by_outbound_buffer_full": S}  # fmt: skip
    turned = {"seq": 1_000, "conn": 7, "ts": _minute(1) + timedelta(seconds=40), "ns": 100 * S, "cause": "writability"}
    level = {"exact": True, "known_from": "heartbeat", "max_exact": True, "connections_open": 9}
    return {
        "channel_backpressure": [_paused(1, 20, paused_count=1, unwritable_count=1), _paused(2, 60), short],
        "channel_transitions": [
            {**turned, "change": "unwritable", "auto_read": True, "pending_bytes": 70_000},
            {**turned, "change": "throttled", "throttle_type": BUFFER, "throttle_count": 1, "changed_connection": True},
        ],
        "topic_publish_pauses": [
            {"topic": ORDERS, **_window(1), "producers_paused_ns": 20 * S, "publish_limited_times": 2, "connections_paused_max": 1},
            {"topic": ORDERS, **_window(2), "producers_paused_ns": 60 * S, "connections_paused_max": 1},
        ],
        "channel_memory": [
            {**_window(1), **level, "write_buf_memory_used_bytes": 2_000_000, "write_buf_memory_used_bytes_max": 2_000_000,
             "known_at": _minute(2) - timedelta(seconds=1), "connections_unwritable": 1, "connections_paused": 1},
            {**_window(2), **level, "write_buf_memory_used_bytes": 8_000_000, "write_buf_memory_used_bytes_max": 8_000_000,
             "known_at": _minute(3) - timedelta(seconds=1), "connections_unwritable": 1, "connections_paused": 1},
        ],
    }  # fmt: skip
