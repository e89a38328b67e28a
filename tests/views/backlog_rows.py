"""Six minutes of backlogs, written by hand: checks each minute of four topics, of one that went, and of the broker's epoch before.

orders  size 10,000 bytes, evicts: grows by 2,000, 2,500, 2,250, 2,250 bytes, is evicted down to 8,600 in minute 4, grows by 1,000
audit   age 120 s, holds producers: nothing is acknowledged, the limit passes at 03:01:30
clicks  age 120 s, evicts: the oldest entry is always 60 s old, for others move on
images  size 1,000 bytes, evicts: grows by 400, then by 200 a minute; a partition, the others are loaded nowhere
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = 1_767_570_000_000
THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
ORDERS, AUDIT, CLICKS, IMAGES, GONE = (
    f"persistent://shop/eu/{name}" for name in ("orders", "audit-log", "clicks", "images-partition-1", "gone")
)
MINUTES = range(6)
ORDERS_SIZES = (1000, 3000, 5500, 7750, 10_000, 9600)
IMAGES_SIZES = (0, 400, 600, 800, 1000, 1000)
Row = Mapping[str, Any]


def second(s: float) -> datetime:
    """03:00 UTC plus s seconds."""
    return THREE + timedelta(seconds=s)


def check(topic: str, minute: float, number: int, **more: Any) -> Row:
    """A row of topic_backlog: no limits and the default policy where nothing else is said; `oldest` is in seconds from 03:00."""
    oldest = more.pop("oldest", None)
    believed = (
        {"oldest_believed_time": second(oldest), "oldest_backlog_message_age_seconds": int(60 * minute - oldest)}
        if oldest is not None
        else {}
    )
    return {
        "topic": topic, "check_time": second(60 * minute), "check_number": number, "backlog_size": 0, "storage_size": 0,
        "backlog_quota_limit_size": -1, "backlog_quota_limit_time": -1,
        "policy_size": "producer_request_hold", "policy_time": "producer_request_hold",
        "oldest_backlog_message_age_seconds": -1, "true_oldest_publish_time": believed.get("oldest_believed_time"), **believed, **more,
    }  # fmt: skip


def topic_rows() -> list[Row]:
    """topic_backlog. At minute 2 the broker still names `export` and its entry of 03:01, but `billing` waits since 03:00."""
    size = {"backlog_quota_limit_size": 10_000, "policy_size": "consumer_backlog_eviction", "subscriptions": 2, "producers": 1}
    evicts = {"policy_time": "consumer_backlog_eviction", "backlog_quota_limit_time": 120, "subscriptions": 1}
    held = {"backlog_quota_limit_time": 120, "subscriptions": 1, "producers": 2, "oldest": -30, "backlog_size": 600,
            "oldest_backlog_message_subscription_name": "idle"}  # fmt: skip
    rows: list[Row] = []
    for m in MINUTES:
        named = {"oldest": 60, "true_oldest_publish_time": second(0), "oldest_backlog_message_subscription_name": "export"} if m == 2 else {
            "oldest": 0, "oldest_backlog_message_subscription_name": "billing"}  # fmt: skip
        rows += [
            check(ORDERS, m, 5 * m + 1, **size, **named, backlog_size=ORDERS_SIZES[m], decision="size" if m == 4 else "none"),
            check(AUDIT, m, 5 * m + 2, **held, decision="time" if m >= 2 else "none"),
            check(CLICKS, m, 5 * m + 3, **evicts, oldest=60 * m - 60, oldest_backlog_message_subscription_name="stats"),
            check(IMAGES, m, 5 * m + 4, **{**size, "backlog_quota_limit_size": 1000}, backlog_size=IMAGES_SIZES[m]),
        ]
    rows += [check(GONE, m, 5 * m + 5) for m in (0, 1)]
    return [*rows, check(ORDERS, -60, 1, epoch=EPOCH - 3_600_000, **size, oldest=-7200, backlog_size=9999)]


def billing() -> list[Row]:
    """orders/billing: opened with 5 entries; 10 expired in minute 2, a seek brought 7 back in minute 3, 60 were evicted after minute 4."""
    acknowledged, published = (20, 50, 60, 90, 100, 120), (100, 200, 300, 400, 500, 560)
    backlog = (85, 155, 235, 312, 402, 382)
    return [
        {"topic": ORDERS, "subscription": "billing", "check_time": second(60 * m), "check_number": 5 * m + 1, "opened_at": second(-60),
         "durable": True, "msg_backlog": backlog[m], "backlog_messages": backlog[m], "backlog_size": ORDERS_SIZES[m],
         "oldest_publish_time": second(0), "oldest_age_ms": 60_000 * m, "opened_backlog": 5, "published_entries": published[m],
         "acknowledged_entries": acknowledged[m], "expired_entries": 10 if m >= 2 else 0, "sought_entries": 7 if m >= 3 else 0,
         "evicted_entries": 60 if m == 5 else 0, "dispatched_entries": 2 * acknowledged[m], "dispatched_msgs": 2 * acknowledged[m],
         "in_flight_entries": 15, "unacked_entries": 15}
        for m in MINUTES
    ]  # fmt: skip


def export() -> list[Row]:
    """subscription_backlog of orders/export: its cursor was opened again at 03:02:30, then with 40 entries. Large in minute 3 only."""
    published, acknowledged = (100, 200, 300, 60, 160, 220), (100, 200, 290, 90, 190, 260)
    return [
        {"topic": ORDERS, "subscription": "export", "check_time": second(60 * m), "check_number": 5 * m + 1, "durable": True,
         "opened_at": second(150 if m >= 3 else -60), "opened_backlog": 40 if m >= 3 else 0, "msg_backlog": (0, 0, 10, 10, 10, 0)[m],
         "backlog_size": (0, 0, 100, 7500, 100, 0)[m], "published_entries": published[m], "acknowledged_entries": acknowledged[m],
         "oldest_publish_time": second(60) if m in (2, 3, 4) else None, "oldest_age_ms": 60_000 * (m - 1) if m in (2, 3, 4) else None}
        for m in MINUTES
    ]  # fmt: skip


def idle() -> list[Row]:
    """subscription_backlog of audit-log/idle: 12 entries since before it was opened, and nothing happens."""
    return [
        {"topic": AUDIT, "subscription": "idle", "check_time": second(60 * m), "check_number": 5 * m + 2, "opened_at": second(-60),
         "durable": True, "msg_backlog": 12, "opened_backlog": 12, "backlog_size": 600, "oldest_publish_time": second(-30),
         "oldest_age_ms": 60_000 * m + 30_000}
        for m in MINUTES
    ]  # fmt: skip


def decision_rows() -> list[Row]:
    """quota_evictions: orders is evicted as the broker did it, producers of audit-log are cut off, and once only the rules say so."""
    evicted = {"topic": ORDERS, "decided_at": second(240), "resolved_at": second(240), "check_number": 21, "quota_type": "size",
               "quota_limit": 10_000, "policy": "consumer_backlog_eviction", "target": 9000,
               "backlog_size_before": 10_000, "backlog_size_planned": 8600,
               "cursors_planned": 1, "entries_planned": 60, "entries_evicted": 60, "broker_quota_type": "size",
               "broker_policy": "consumer_backlog_eviction", "broker_limit": 10_000}  # fmt: skip
    held = {"topic": AUDIT, "quota_type": "time", "quota_limit": 120, "policy": "producer_request_hold", "action": "disconnect_producers",
            "producers": 2}  # fmt: skip
    agreed = {"broker_quota_type": "time", "broker_policy": "producer_request_hold", "broker_limit": 120, "producers_closed": 2}
    alone = {"agrees": False, "disagreement": "broker_did_not_act"}
    return [
        evicted,
        {**held, "decided_at": second(120), "resolved_at": second(120), "check_number": 12, "exceeded_by": 30_000, **agreed},
        {**held, "decided_at": second(180), "resolved_at": second(180), "check_number": 17, "exceeded_by": 90_000, **alone},
    ]


def check_rows() -> list[Row]:
    """quota_checks: a minute of quick checks, then one in which a check took 90 s."""
    window = {"window_start": second(0), "window_end": second(60)}
    slow = {"window_start": second(60), "window_end": second(120)}
    return [
        {**window, "rounds": 1, "checks": 5, "duration_sum_us": 50_000, "duration_max_us": 20_000, "le_5": 5, "le_inf": 5},
        {**slow, "rounds": 1, "checks": 5, "duration_sum_us": 90_040_000, "duration_max_us": 90_000_000, "le_5": 4, "le_inf": 5},
    ]


def backlog_tables() -> dict[str, list[Row]]:
    """The rows of the five backlog tables."""
    move = {"topic": ORDERS, "subscription": "billing", "decided_at": second(240), "check_number": 21,
            "entries_planned": 60, "entries_evicted": 60, "agrees": True}  # fmt: skip
    return {
        "topic_backlog": topic_rows(),
        "subscription_backlog": [*billing(), *export(), *idle()],
        "quota_evictions": decision_rows(),
        "quota_eviction_moves": [move],
        "quota_checks": check_rows(),
    }
