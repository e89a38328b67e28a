"""The policies of the small warehouse: a namespace's rate that a topic shadows, a default quota, and a log without places."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
ORDERS = "persistent://shop/eu/orders"
Row = Mapping[str, Any]


def policy_tables() -> dict[str, list[Row]]:
    """Rows of policies, of b1 and b2."""
    rate = {"topic": ORDERS, "limit_kind": "topic_dispatch_rate", "byte_rate": 0, "period_s": 1, "relative": False}
    of_namespace = {**rate, "set_by": "namespace", "set_at": THREE - timedelta(hours=1), "msg_rate": 500}
    applied = {"applied_byte_rate": 0, "applied_period_s": 1, "applied_relative": False, "policy_disagreement": "none", "in_force": True}
    first = {"seen_seq": 11, "seen_at": THREE}
    then = {"seen_seq": 99, "seen_at": THREE + timedelta(minutes=2)}
    quota = {"topic": ORDERS, "limit_kind": "size_quota", "set_by": "broker_config", "set_at": THREE, "quota_limit": 10**10}
    return {
        "policies": [
            {**of_namespace, **first, **applied, "applied_msg_rate": 500, "applied_set_by": "namespace"},
            {**of_namespace, **then, "shadowed_by": "topic"},
            {**rate, **then, **applied, "set_by": "topic", "set_at": then["seen_at"], "msg_rate": 10, "relative": True,
             "applied_relative": True, "applied_msg_rate": 10, "applied_set_by": "topic",
             "publish_msgs_per_s": 30, "publish_bytes_per_s": 7},
            {**quota, **first, "quota_policy": "producer_exception", "in_force": True, "policy_disagreement": "other_value",
             "applied_limit": 10**9, "applied_policy": "producer_exception", "applied_set_by": "broker_config"},
            {"topic": ORDERS, "subscription": "billing", "limit_kind": "subscription_dispatch_rate", **first},
            {"broker": "b2:8080", "limit_kind": "broker_dispatch_rate", **first, "in_force": True, "applied_msg_rate": 1000,
             "applied_byte_rate": 0, "applied_period_s": 1, "applied_relative": False},
        ],
    }  # fmt: skip
