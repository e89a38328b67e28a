"""Rows that the page Now is made of."""

from datetime import UTC, datetime
from typing import Any

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def why_row(**other: Any) -> dict[str, Any]:
    """Of the view `why`: a topic's limiter holds a subscription back."""
    return {
        "broker": "b", "epoch": 1, "topic": "persistent://a/b/t", "subscription": "s", "as_of": NOON, "status": "held back",
        "known_until": NOON,
        "cause": "throttled", "level": "topic", "dimension": "msg", "unknown_reason": None, "share": 0.9, "since": NOON, "next_cause": None,
        "next_share": None, "backlog": 10, "checked_at": NOON, "complete": True, "completeness": 1.0,
    } | other  # fmt: skip
