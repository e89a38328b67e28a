"""What the page Now has of a quota: in how long it is exceeded, from now on, or that nobody knows."""

from datetime import timedelta
from typing import Any

import pytest
from page_rows import NOON, why_row

from pipeline.serving.page.now import lines
from pipeline.serving.page.now_rows import NowRows

AGES = (("s", 120_000, True), ("reader", 1_200_000, False))


def check(**other: Any) -> dict[str, Any]:
    return {
        "check_time": NOON, "opened_at": NOON - timedelta(hours=1), "msg_backlog": 10, "backlog_size": 10, "published_entries": 0,
        "acknowledged_entries": 0,
    } | other  # fmt: skip


def quota(**other: Any) -> dict[str, Any]:
    """Of a check that is five minutes old."""
    return {
        "quota_type": "size", "quota_limit": 9_000_000, "exceeded": False, "on_breach": "evict", "breach_at": NOON + timedelta(seconds=2),
        "breach_in_s": 300.0, "as_of": NOON - timedelta(minutes=5), "interval_s": 300, "steps": 4, "used": 7_000_000, "shut_out": False,
    } | other  # fmt: skip


@pytest.mark.parametrize(
    ("quotas", "words"),
    [
        ([quota()], ("9\u00a0MB in 2\u00a0s", "then evicts", True)),
        ([quota(breach_at=NOON)], ("9\u00a0MB is due", "then evicts", True)),
        ([quota(breach_at=NOON + timedelta(hours=2)), quota(quota_limit=10**6)], ("1\u00a0MB in 2\u00a0s", "then evicts", True)),
        ([quota(breach_at=NOON + timedelta(hours=2))], ("9\u00a0MB in 2\u00a0h", "then evicts", False)),
        ([quota(breach_at=None)], ("No breach in sight", "", False)),
        ([quota(breach_at=None, steps=0)], ("?", "one quota check has no rate yet", False)),
        ([quota(breach_at=None, shut_out=True)], ("?", "its quota shut producers out", False)),
        ([quota(breach_at=None, steps=0), quota(quota_limit=10**6)], ("1\u00a0MB in 2\u00a0s", "then evicts", True)),
        (
            [quota(quota_type="time", breach_at=None, used=0, quota_limit=60)],
            ("?", "older than its age quota, which counts once the ledger is closed", False),
        ),
        ([quota(quota_type="time", breach_at=None, used=0, quota_limit=600)], ("No breach in sight", "", False)),
    ],
)
def test_what_comes_next_counts_from_now_not_from_the_check(quotas: list[dict[str, Any]], words: tuple[str, str, bool]) -> None:
    """A durable cursor of the topic waits for a message of two minutes, a reader for one of twenty."""
    topic = "persistent://a/b/t"
    checks = {(topic, name): [check(oldest_age_ms=age_ms, durable=durable)] for name, age_ms, durable in AGES}
    (line,) = lines(NowRows([why_row()], checks, {topic: quotas}, [], []))
    assert line.next == words


def test_a_breach_within_an_hour_from_now_comes_before_an_older_backlog() -> None:
    """The check of `far` is older: from the check on both have an hour."""
    topics = {"near": NOON + timedelta(minutes=59), "far": NOON + timedelta(minutes=61)}
    rows = [why_row(topic=f"persistent://a/b/{name}") for name in ("far", "near")]
    quotas = {f"persistent://a/b/{name}": [quota(breach_at=at, breach_in_s=3600.0)] for name, at in topics.items()}
    assert [line.short_topic for line in lines(NowRows(rows, {}, quotas, [], []))] == ["near", "far"]
