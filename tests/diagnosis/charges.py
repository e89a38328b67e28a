"""Evidence by hand: windows of a minute from 12:00, and what their backlog is charged to."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.diagnosis.advice import advice
from pipeline.diagnosis.evidence import Evidence, Row
from pipeline.diagnosis.verdict import Account, verdict
from pipeline.diagnosis.words import sentence
from pipeline.query.views.status_words import STATUS

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TOPIC, SUBSCRIPTION = "persistent://shop/eu/orders", "billing"
LEVELS = ("broker", "topic", "subscription")
MINUTE_NS = 60 * 10**9


def minute(m: float) -> datetime:
    """12:00 UTC plus m minutes."""
    return NOON + timedelta(minutes=m)


def charge(m: int, cause: str, seconds: int = 60, *, weight: int = 60, main: bool = True, **more: Any) -> Row:
    """A row of subscription_causes in the window from 12:00 + m; `weight` in entry-seconds."""
    return {
        "cause": cause, "level": None, "dimension": None, "unknown_reason": None, "cap": None, "clock_segment": 0,
        "window_start": minute(m), "window_end": minute(m + 1), "ns": seconds * 10**9, "backlog_ns": MINUTE_NS,
        "entry_us": weight * 10**6, "first_at": minute(m), "is_main": main, "main_since": minute(0), "backlog_end": 100, "waiting_end": 90,
        "complete": True, "completeness": 1.0, **more,
    }  # fmt: skip


def limit(level: str, dimension: str = "msg", rate: int = 10, **more: Any) -> Row:
    """A row of limiter_windows."""
    return {
        "level": level, "topic": None if level == "broker" else TOPIC, "subscription": SUBSCRIPTION if level == "subscription" else None,
        "dimension": dimension, "rate": rate, "period_ms": 1000, "relative": False, "created_at": NOON, "permits_end": 0,
        "asks_blocked": 0, **more,
    }  # fmt: skip


def served(m: int, entries: int, **more: Any) -> Row:
    """A row of subscription_throttle in the window from 12:00 + m: so many entries were delivered, one message each."""
    return {
        "window_start": minute(m), "window_end": minute(m + 1), "sub_type": "Shared", "dispatched_entries": entries,
        "dispatched_msgs": entries, "dispatched_bytes": 600 * entries, "completeness": 1.0,
        **{f"blocked_ns_by_{level}_limit": 0 for level in LEVELS},
        **{f"charged_{unit}_by_{level}_limit": None for unit in ("msg", "bytes") for level in LEVELS}, **more,
    }  # fmt: skip


def policy(limit_kind: str, set_by: str | None, shadowed_by: str | None = None, **more: Any) -> Row:
    """A row of policy_spans: 10 messages per second, set at noon."""
    return {
        "limit_kind": limit_kind, "topic": None if limit_kind.startswith("broker") else TOPIC,
        "subscription": SUBSCRIPTION if limit_kind.startswith("subscription") else None, "set_by": set_by,
        "set_at": None if set_by is None else NOON, "since": NOON, "in_force": shadowed_by is None, "shadowed_by": shadowed_by,
        "msg_rate": 10, "byte_rate": 0, "period_s": 1, "relative": False, "quota_limit": None, "quota_policy": None,
        "policy_disagreement": "none" if shadowed_by is None else None, **more,
    }  # fmt: skip


def standing(status: str, **more: Any) -> Row:
    """A row of `why`, of a subscription whose whole log is there."""
    return {
        "as_of": None, "status": status, **dict.fromkeys(("cause", "level", "dimension", "unknown_reason", "cap", "since")),
        "backlog": 0, "waiting": 0, "lasts_s": None, "pace_per_s": None, "checked_at": None,
        "complete": True, "completeness": 1.0, **more,
    }  # fmt: skip


def _standing(causes: Sequence[Row], end: datetime) -> Row:
    """By the rows of the last window, as if whatever is there were behind."""
    last = [row for row in causes if row["window_end"] == end]
    if not last or last[0]["backlog_end"] == 0:
        return standing("current")
    main = next((row for row in last if row["is_main"]), last[0])
    account = {name: main[name] for name in Account._fields}
    figures = {"backlog": main["backlog_end"], "waiting": main["waiting_end"], "since": main["main_since"], **account}
    return standing(STATUS.get(main["cause"], main["cause"]), **figures)


def evidence(causes: Sequence[Row], minutes: int = 3, **more: Any) -> Evidence:
    """Of `minutes` windows up to now."""
    lists = (
        "broker_windows",
        "throttle",
        "limits",
        "policies",
        "quota_policies",
        "neighbours",
        "quotas",
        "rates",
        "more_consumers",
        "margins",
    )
    nothing: dict[str, Any] = {name: [] for name in lists}
    known: dict[str, Any] = {
        "broker": "b1:8080", "epoch": 1, "topic": TOPIC, "subscription": SUBSCRIPTION, "start": NOON, "end": minute(minutes),
        "is_now": True, "is_before_first_window": False, "asked_at": None, "standing": [_standing(causes, minute(minutes))],
        "causes": list(causes), **nothing,
    }  # fmt: skip
    return Evidence(**{**known, **more})


#: Its rates at the check of minute 3: of 30 entries/s 13 are acknowledged.
SLOW: dict[str, Any] = {
    "over_s": 60.0,
    "publish_rate": 30.0, "dispatch_rate": 13.0, "ack_rate": 13.0, "removed_rate": 0.0, "sought_entries": 0,
    "growth_rate": 17.0, "caught_up_in_s": None,
    "to_time": minute(3), "current_at": None, "current_from": None, "current_to": None, "most_entries_per_s": None, "soonest_at": None,
    "allowed": None, "outpaced": True, "shut_out": False, "complete": True, "backlog_after": 100,
}  # fmt: skip


#: What an answer has besides the verdict (pipeline/diagnosis/context.py): of a subscription whose topic has no quota check.
AROUND: dict[str, Any] = {
    "came_back": None, "longest_silence": None, "clients": None,
    "cursor_kind": "subscription", "log_version": "1.1", "lost_entries": None, "needed": None, "holders_as_of": None,
    "holders_before_eviction": False, "holders": [], "age": None, "producers_shut_out": None, "evicted": [], "compactions": [],
    "replicators": [],
}  # fmt: skip


def judged(found: Evidence, **around: Any) -> dict[str, Any]:
    """The document with its sentence and advice, as `explain` makes it; `around`: keys in place of those of AROUND."""
    document = {**verdict(found), **AROUND, **around}
    return {"verdict": sentence(document), **document, "advice": [step._asdict() for step in advice(document)]}
