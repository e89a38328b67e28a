"""The rows of `top`: their orders and words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.diagnosis.ranking import COLUMNS, cells, ordered, with_breach


def row(name: str = "billing", *, exceeded: bool = False, breach_in_s: float | None = None, unknown: bool = False) -> dict[str, Any]:
    return {
        "broker": "b1", "topic": "t", "subscription": name, "status": "slow consumers", "level": None, "dimension": None, "share": 1.0,
        "since_s": 5.0, "backlog": 9, "entry_s": 1.0, "age_s": 3.0, "exceeded": exceeded, "breach_in_s": breach_in_s,
        "breach_unknown": unknown,
    }  # fmt: skip


NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def quota(breach_s: float | None = None, **more: Any) -> dict[str, Any]:
    """Of a size, by two checks."""
    breach_at = None if breach_s is None else NOON + timedelta(seconds=breach_s)
    return {
        "quota_type": "size",
        "exceeded": False,
        "breach_at": breach_at,
        "used": 5,
        "steps": 1,
        "quota_limit": 100,
        "shut_out": False,
        **more,
    }


@pytest.mark.parametrize(
    ("quotas", "found"),
    [
        (None, (False, None, False)),
        ([quota(), quota(quota_type="time")], (False, None, False)),
        ([quota(90), quota(30)], (False, 30.0, False)),
        ([quota(0, exceeded=True), quota(-30)], (True, -30.0, False)),
        ([quota(90), quota(steps=0)], (False, 90.0, True)),
        ([quota(quota_type="time", used=0, quota_limit=8)], (False, None, True)),
        ([quota(quota_type="time", used=0, quota_limit=10)], (False, None, False)),
    ],
)
def test_a_breach_counts_from_the_newest_event(quotas: list[dict[str, Any]] | None, found: tuple[bool, float | None, bool]) -> None:
    one = with_breach({"known_until": NOON, "quotas": quotas, "oldest_age_ms": 9000})
    assert (one["exceeded"], one["breach_in_s"], one["breach_unknown"]) == found
    assert not {"quotas", "oldest_age_ms"} & one.keys()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (row(exceeded=True, breach_in_s=60.0), "now"),
        (row(breach_in_s=2.0), "2 s"),
        (row(breach_in_s=0.0), "due"),
        (row(breach_in_s=-40.0), "due"),
        (row(), ""),
        (row(unknown=True), "?"),
        (row(breach_in_s=2.0, unknown=True), "2 s"),
    ],
)
def test_a_breach_that_the_clock_has_passed_is_due(one: dict[str, Any], words: str) -> None:
    assert dict(zip(COLUMNS, cells(one), strict=True))["breach in"] == words


def test_what_is_exceeded_comes_before_what_is_due_and_that_before_what_comes() -> None:
    rows = [row("never"), row("soon", breach_in_s=9.0), row("due", breach_in_s=-9.0), row("now", exceeded=True)]
    assert [one["subscription"] for one in ordered(rows, "breach")] == ["now", "due", "soon", "never"]
