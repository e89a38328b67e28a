"""How sure: does what was delivered agree with the cause, and does the end agree with the stretch?"""

from typing import Any

import pytest
from charges import charge, evidence, judged, limit, served

TOPIC_MSG: dict[str, Any] = {"level": "topic", "dimension": "msg"}


def three(cause: str, last: dict[str, Any] | None = None, **more: Any) -> list[Any]:
    """Three minutes of the cause; `last`: what the row of the last one has instead."""
    return [charge(m, cause, **{**more, **((last or {}) if m == 2 else {})}) for m in range(3)]


@pytest.mark.parametrize(
    ("cause", "throttle", "confidence"),
    [
        *((cause, [], "high") for cause in ("no_consumer", "transaction", "stuck", "no_flow")),
        *((cause, [served(2, 0)], "high") for cause in ("no_consumer", "transaction", "stuck", "no_flow")),
        *((cause, [served(1, 80)], "high") for cause in ("no_consumer", "transaction", "stuck", "no_flow")),
        *((cause, [served(2, 1)], "medium") for cause in ("no_consumer", "transaction", "stuck", "no_flow")),
        ("catching_up", [served(2, 1)], "high"),
        ("catching_up", [served(1, 1)], "medium"),
        ("no_permits", [served(2, 1)], "high"),
        ("no_permits", [], "high"),
    ],
)
def test_what_was_delivered_in_the_last_window_agrees_with_the_cause(cause: str, throttle: list[Any], confidence: str) -> None:
    assert judged(evidence(three(cause), throttle=throttle))["confidence"] == confidence


@pytest.mark.parametrize(("seconds", "confidence"), [(1, "low"), (2, "high")])
def test_who_is_behind_for_a_moment_is_not_judged(seconds: int, confidence: str) -> None:
    """As at the begin of a log."""
    assert judged(evidence([charge(2, "no_consumer", seconds)]))["confidence"] == confidence


@pytest.mark.parametrize(("end", "confidence"), [(99, "high"), (100, "medium"), (101, "medium")])
def test_a_backlog_that_fell_agrees_with_catching_up(end: int, confidence: str) -> None:
    assert judged(evidence(three("catching_up", {"backlog_end": end})))["confidence"] == confidence


@pytest.mark.parametrize(("waiting", "confidence"), [(49, "high"), (50, "medium"), (90, "medium")])
def test_of_what_is_unacknowledged_more_is_held_than_waits(waiting: int, confidence: str) -> None:
    assert judged(evidence(three("in_flight", {"waiting_end": waiting})))["confidence"] == confidence


@pytest.mark.parametrize(
    ("limits", "throttle", "confidence"),
    [
        ([limit("topic", asks_blocked=1)], [], "high"),
        ([limit("topic")], [served(1, 9, blocked_ns_by_topic_limit=1)], "high"),
        ([limit("topic")], [served(2, 9, blocked_ns_by_broker_limit=1)], "medium"),
        ([limit("topic"), limit("topic", "bytes", asks_blocked=4), limit("broker", asks_blocked=4)], [served(2, 9)], "medium"),
    ],
)
def test_a_limiter_that_holds_it_blocked_reads(limits: list[Any], throttle: list[Any], confidence: str) -> None:
    assert judged(evidence(three("throttled", **TOPIC_MSG), limits=limits, throttle=throttle))["confidence"] == confidence


@pytest.mark.parametrize(
    ("last", "account", "words"),
    [
        ("no_permits", {}, " At the end it is consumers that are too slow or too few."),
        ("throttled", TOPIC_MSG, " At the end it is the topic's limiter of messages."),
    ],
)
def test_where_the_end_has_another_cause_than_the_stretch_it_is_less_sure_and_says_so(
    last: str, account: dict[str, Any], words: str
) -> None:
    rows = [charge(0, "no_consumer", weight=200), charge(1, "no_consumer", weight=200), charge(2, last, weight=50, **account)]
    found = judged(evidence(rows))
    assert (found["cause"], found["confidence"], found["last_cause"]["cause"]) == ("no_consumer", "medium", last)
    assert "charged to no consumer being connected, since" in found["verdict"]
    assert found["verdict"].endswith(words)


def test_where_the_end_has_the_cause_of_the_stretch_nothing_is_added() -> None:
    found = judged(evidence([*three("no_consumer"), charge(2, "reading", 1, weight=1, main=False)]))
    assert (found["last_cause"]["cause"], found["confidence"]) == ("no_consumer", "high")
    assert "At the end" not in found["verdict"]


def test_who_is_well_needs_no_second_sign() -> None:
    found = judged(evidence([charge(0, "no_consumer"), charge(1, "in_flight")], throttle=[served(2, 5)]))
    assert (found["status"], found["last_cause"], found["confidence"]) == ("current", None, "high")


def test_one_entry_is_no_entries() -> None:
    found = judged(evidence(three("no_permits", {"backlog_end": 1})))
    assert "is behind by 1 entry at" in found["verdict"]
