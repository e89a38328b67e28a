"""Words of an answer: the reason of a doubt is the one that holds."""

from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.what_if.words import holder_words, text_lines


def life(peak: int, end: int) -> dict[str, Any]:
    samples = [{"at": None, "backlog": entries, "age_s": None} for entries in (peak, end)]
    throttled = {"messages": {"topic": 3}, "bytes": {"topic": 0}}
    return {
        "samples": samples,
        "peak": peak,
        "drained_at": None,
        "evicted_entries": 0,
        "throttled": throttled,
        "held_s": {"consumers": 5.0},
    }


def document(*, sure: bool, pace_known: bool, pace_ms: float | None = 10.0, ok: bool = True) -> dict[str, Any]:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    one = {
        "subscription": "billing",
        "changes": True,
        "consumers": {"pace_ms": pace_ms, "pace_known": pace_known},
        "actual": life(300, 200),
        "predicted": life(30, 20) if ok else None,
    }
    check = {"ok": ok, "area_error": 0.01, "reasons": [] if ok else ["its backlog differs by 50% of what it was"]}
    return {
        "self_check": check, "next_limit": "consumers" if ok else None, "sure": sure, "producers_held_from": None, "from": at, "to": at,
        "broker": "b", "subscriptions": [one], "assumptions": ["storage answers as it did"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pace_known", "pace_ms", "reason"),
    [
        (False, 10.0, "Not sure: consumers of billing were never busy for long, so their best pace is not known."),
        (True, 10.0, "Not sure: consumers would be hardly fast enough, so a few per cent of their pace decide."),
        (False, None, "Not sure: consumers would be hardly fast enough, so a few per cent of their pace decide."),
    ],
)
def test_a_doubt_has_its_reason(pace_known: bool, pace_ms: float | None, reason: str) -> None:
    lines = list(text_lines(document(sure=False, pace_known=pace_known, pace_ms=pace_ms)))
    assert [line for line in lines if line.startswith(reason)] != []
    assert [line for line in text_lines(document(sure=True, pace_known=pace_known)) if line.startswith("Not sure")] == []


def test_the_answer_comes_first() -> None:
    first, second, *_ = text_lines(document(sure=True, pace_known=True))
    assert first == "billing: 300 entries at most, 200 at the end; it would have been 30 entries at most, 20 at the end."
    assert second == "Then its consumers would hold it."


def test_a_backlog_that_nobody_takes_is_not_called_free() -> None:
    one = document(sure=True, pace_known=True)
    one["next_limit"], one["subscriptions"][0]["predicted"]["held_s"] = None, {"no_consumer": 60.0}
    _, second, *_ = text_lines(one)
    assert second == "Then no limiter would hold it; billing would wait for a consumer."


def test_an_age_that_is_not_known_is_no_zero_and_a_backlog_that_came_back_is_told() -> None:
    one = document(sure=True, pace_known=True)
    one["subscriptions"][0]["predicted"]["drained_at"] = one["to"]
    first, *rest = text_lines(one)
    assert first.endswith("it would have been 30 entries at most, gone at 2026-01-05T00:00:00Z, 20 at the end.")
    (row,) = [line for line in rest if line.strip().startswith("would be") and "20" in line]
    assert " ? " in row


def test_without_an_answer_the_reason_comes_first() -> None:
    first, *rest = text_lines(document(sure=False, pace_known=True, ok=False))
    assert first == "No answer: a replay with the settings as they were is not the record: its backlog differs by 50% of what it was."
    assert not [line for line in rest if line.startswith("would be")]


def test_a_limiter_is_named_in_words() -> None:
    assert holder_words("topic.dispatch_rate.messages") == "the topic's limit of messages"
