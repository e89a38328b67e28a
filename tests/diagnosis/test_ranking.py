"""The rows of `top`: their orders and words."""

from typing import Any

import pytest

from pipeline.diagnosis.ranking import COLUMNS, cells, ordered


def row(name: str = "billing", *, exceeded: bool = False, breach_in_s: float | None = None, unknown: bool = False) -> dict[str, Any]:
    return {
        "broker": "b1", "topic": "t", "subscription": name, "status": "slow consumers", "level": None, "dimension": None, "share": 1.0,
        "since_s": 5.0, "backlog": 9, "entry_s": 1.0, "age_s": 3.0, "exceeded": exceeded, "breach_in_s": breach_in_s,
        "breach_unknown": unknown,
    }  # fmt: skip


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
