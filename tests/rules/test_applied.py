"""What the broker applied beside what is in force by the rules."""

from typing import Any

import pytest
from lane_tables import tables_of
from log_builder import TOPIC, Log
from test_precedence import apply, put, shown

QUOTA = ("destination_storage", 100, "producer_exception")


def limited_topic(applied: tuple[int, int, str | None], **other: Any) -> Log:
    log = apply(put(Log().start(), "namespace", "topic_dispatch_rate", 50, 0), "topic", *applied)
    log.events[-1].update(other)
    return log


@pytest.mark.parametrize(
    ("applied", "other", "expected"),
    [
        ((50, 0, "namespace"), {}, "none"),
        ((50, -1, "namespace"), {}, "none"),  # neither is a limit
        ((50, 0, None), {}, "none"),
        ((50, 0, "namespace_legacy"), {}, "none"),  # a broker joins them before it looks
        ((50, 0, "topic"), {}, "other_source"),
        ((51, 0, "namespace"), {}, "other_value"),
        ((50, 1, "namespace"), {}, "other_value"),
        ((0, 0, None), {}, "other_value"),
        ((50, 0, "namespace"), {"period_s": 2}, "other_value"),
        ((50, 0, "namespace"), {"relative": True}, "other_value"),
    ],
)
def test_what_differs_is_named(applied: tuple[int, int, str | None], other: dict[str, Any], expected: str) -> None:
    assert shown(limited_topic(applied, **other), "topic_dispatch_rate") == [("namespace", 50, 0, expected)]


def test_a_limit_that_nobody_set_is_a_disagreement() -> None:
    log = apply(put(Log().start(), "namespace", "subscription_dispatch_rate", 9, 0), "topic", 50, 0, "namespace")
    assert shown(log, "topic_dispatch_rate") == [(None, None, None, "other_value")]


def test_a_limit_that_was_never_applied_is_found_at_the_next_check() -> None:
    log = put(put(Log().start(), "topic", "topic_dispatch_rate", 50, 0), "topic", "backlog_quota", *QUOTA)
    log.at(5).add("quota_check", topic=TOPIC, duration_us=1)
    rows = {row["limit_kind"]: row["policy_disagreement"] for row in tables_of(log.events)["policies"] if row["topic"]}
    assert rows == {"topic_dispatch_rate": "not_applied", "size_quota": "not_applied"}


def test_of_a_quota_limit_and_action_are_compared() -> None:
    for applied, expected in (
        (QUOTA, "none"),
        ((QUOTA[0], 101, QUOTA[2]), "other_value"),
        ((*QUOTA[:2], "producer_request_hold"), "other_value"),
    ):
        log = put(Log().start(), "topic", "backlog_quota", *QUOTA)
        log.add("backlog_quota", topic=TOPIC, source="topic", **dict(zip(("quota_type", "limit", "policy"), applied, strict=True)))
        assert [row["policy_disagreement"] for row in tables_of(log.events)["policies"] if row["topic"]] == [expected]


def test_what_replicators_apply_is_not_in_the_log() -> None:
    log = put(Log().start(), "namespace", "replicator_dispatch_rate", 5, 0)
    log.events.insert(3, {**log.events[-1], "type": "heartbeat", "dropped": 0})
    log = apply(log, "topic", 1, 0, "namespace").add("quota_check", topic=TOPIC, duration_us=1)
    for place, event in enumerate(log.events):
        event["seq"] = place + 1
    assert shown(log, "replicator_dispatch_rate") == [("namespace", 5, 0, None)]


def test_a_log_of_version_1_0_has_what_was_applied_and_no_places() -> None:
    log = Log().start().rate("topic", 50).at(1).add("heartbeat", dropped=0)
    rows = [(r["limit_kind"], r["set_by"], r["applied_msg_rate"], r["policy_disagreement"]) for r in tables_of(log.events)["policies"]]
    assert rows == [("topic_dispatch_rate", None, 50, None), ("broker_dispatch_rate", None, 0, None)]
