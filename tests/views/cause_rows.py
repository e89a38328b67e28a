"""What backlogs of the small warehouse are charged to: one behind a limiter, one without consumers, a slow one, one that stands still."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
ORDERS = "persistent://shop/eu/orders"
AUDIT = "persistent://finance/eu/audit-partition-0"
S = 10**9
Row = Mapping[str, Any]


def _minute(m: float) -> datetime:
    return THREE + timedelta(minutes=m)


def _charged(subscription: str, m: int, cause: str, seconds: int, entry_s: int, **more: Any) -> Row:
    """A share of the minute from 03:00 + m, of a subscription that had a backlog in all of it."""
    return {
        "topic": ORDERS, "subscription": subscription, "window_start": _minute(m), "window_end": _minute(m + 1), "clock_segment": 0,
        "cause": cause, "ns": seconds * S, "backlog_ns": 60 * S, "entry_us": entry_s * 10**6, "first_at": _minute(m),
        "main_since": _minute(0), "backlog_end": 400 * (m + 1), "waiting_end": 380 * (m + 1), **more,
    }  # fmt: skip


def _blocked(m: int, reads: int, granted: int, **following: Any) -> Row:
    """Reads of `billing` that its topic's limiter of messages blocked in the minute from 03:00 + m."""
    return {
        "topic": ORDERS, "subscription": "billing", "window_start": _minute(m), "window_end": _minute(m + 1), "clock_segment": 0,
        "level": "topic", "dimension": "msg", "reads": reads, "wanted_entries": 100 * reads, "wanted_bytes": 10**6 * reads,
        "granted_entries": granted, "granted_bytes": 100 * granted, **following,
    }  # fmt: skip


def _changed(subscription: str, seq: int, cause: str | None, **more: Any) -> Row:
    """Another cause holds from 03:00:10 and so many seconds on, or none does."""
    since = _minute(1 / 6) + timedelta(seconds=seq)
    return {
        "topic": ORDERS, "subscription": subscription, "seq": seq, "noticed_at": since + timedelta(seconds=2), "cause": cause,
        "since": since, "backlog": 10, "waiting": 10, **more,
    }  # fmt: skip


def cause_tables() -> dict[str, list[Row]]:
    """Rows of the tables of causes, of b1: `billing` behind its topic's limiter, `idle` alone, `report` slow, `gone` stuck."""
    topic_limit = {"level": "topic", "dimension": "msg", "is_main": True}
    late = {"main_since": _minute(1)}
    return {
        "subscription_causes": [
            _charged("billing", 0, "throttled", 45, 9_000, **topic_limit),
            _charged("billing", 0, "no_permits", 15, 3_000),
            _charged("billing", 1, "throttled", 60, 36_000, **topic_limit),
            _charged("billing", 2, "throttled", 50, 50_000, **topic_limit),
            _charged("billing", 2, "in_flight", 10, 10_000),
            *(_charged("idle", m, "no_consumer", 60, 600, is_main=True, backlog_end=10, waiting_end=10) for m in (0, 1, 2)),
            _charged("report", 1, "no_permits", 60, 60, is_main=True, **late),
            _charged("report", 2, "no_permits", 48, 48, is_main=True, **late),
            _charged("report", 2, "catching_up", 12, 12, **late),
            _charged("gone", 1, "catching_up", 5, 50, topic=AUDIT, main_since=_minute(1)),
            _charged("gone", 1, "stuck", 55, 550, topic=AUDIT, is_main=True, **late, first_at=_minute(1) + timedelta(seconds=5)),
        ],
        "cause_transitions": [
            _changed("billing", 1, "throttled", level="topic", dimension="msg"),
            _changed("idle", 2, "no_consumer"),
            _changed("report", 3, "no_permits"),
            _changed("gone", 4, "stuck", topic=AUDIT),
            _changed("gone", 5, None, topic=AUDIT, backlog=0, waiting=0),
        ],
        "limiter_margins": [
            _blocked(1, 40, 400, next_level="broker", next_dimension="msg"),
            _blocked(2, 40, 600, next_level="broker", next_dimension="msg"),
            _blocked(2, 20, 2_000),
        ],
    }  # fmt: skip
