"""The backlog machine and the independent quota bookkeeper say the same of every check: golden cases, real logs, random logs."""

from typing import Any

import pytest
from bookkeeper.quota_books import Event, QuotaBooks
from bookkeeper.quota_cases import CASES, OUTSIDE_THE_LOG, Case
from bookkeeper.quota_random import quota_logs
from capture_events import capture_events
from hypothesis import given, settings
from lane_tables import tables_of
from quota_tables import checks_of, evictions_of
from real_captures import CAPTURES, EVERY_CAPTURE
from suite.examples import examples

Row = dict[str, Any]


def kept(events: list[Event], rows: str) -> list[Row]:
    """Rows (`checks` or `evictions`) of books that are begun anew with each epoch, as a lane knows nothing of another one's entries."""
    found: list[Row] = []
    for epoch in sorted({event["epoch"] for event in events}):
        books = QuotaBooks()
        for event in events:
            if event["epoch"] == epoch:
                books.apply(event)
        found += getattr(books, rows)
    return found


def only_logged_checks(events: list[Event]) -> list[Event]:
    """The log of a broker that checks so seldom that a log without a check is no reason for one of ours."""
    seldom = {"backlogQuotaCheckIntervalInSeconds": "1000000"}
    return [e | {"settings": e["settings"] | seldom} if e["type"] == "broker_start" else e for e in events]


def in_order(checks: list[Row]) -> list[Row]:
    """By topic, and of a topic in the order of the decisions."""
    return sorted(checks, key=lambda row: (row["epoch"], row["topic"], row["check_time_us"]))


def assert_same_checks(events: list[Event]) -> None:
    """Every field that both know, of every check, in order."""
    ours, theirs = in_order(checks_of(tables_of(events))), in_order(kept(events, "checks"))
    assert len(ours) == len(theirs)
    for mine, judge in zip(ours, theirs, strict=True):
        assert mine == {name: judge[name] for name in mine} | {
            "subscriptions": [
                {field: sub[field] for field in one} for one, sub in zip(mine["subscriptions"], judge["subscriptions"], strict=True)
            ]
        }


def moves_of(row: Row) -> dict[str, tuple[tuple[int, int], int]]:
    """The bookkeeper's steps of an eviction: where each cursor ends, and how many entries it loses."""
    found: dict[str, tuple[tuple[int, int], int]] = {}
    for step in row["moves"]:
        found[step["sub"]] = (step["to_position"], found.get(step["sub"], ((0, 0), 0))[1] + step["entries"])
    return {sub: move for sub, move in found.items() if move[1] > 0}


def assert_same_evictions(events: list[Event]) -> None:
    ours = evictions_of(tables_of(events))
    theirs = sorted(kept(events, "evictions"), key=lambda row: (row["epoch"], row["topic"], row["time_us"]))
    compared = ("epoch", "time_us", "topic", "quota_type", "agrees")
    assert ours == [{name: row[name] for name in compared} | {"moves": moves_of(row)} for row in theirs]


EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


@EVERY_CASE
def test_golden_case(case: Case) -> None:
    assert_same_checks(case.events)
    assert_same_evictions(case.events)


def test_every_case_of_part_b_is_here_or_outside_the_log() -> None:
    assert {case.id.split("-")[0] for case in CASES if case.id.startswith("B")} | set(OUTSIDE_THE_LOG) == {
        f"B{number}" for number in range(1, 28)
    }


@pytest.mark.captures
@EVERY_CAPTURE
def test_every_check_and_eviction_of_a_real_log(name: str) -> None:
    events = capture_events(CAPTURES / name)
    assert_same_checks(events)
    assert_same_evictions(only_logged_checks(events))


@settings(max_examples=examples(60), deadline=None)
@given(quota_logs())
def test_every_check_of_a_random_log(events: list[Event]) -> None:
    assert_same_checks(only_logged_checks(events))


@settings(max_examples=examples(60), deadline=None)
@given(quota_logs(honest=True))
def test_every_eviction_of_a_random_honest_log(events: list[Event]) -> None:
    assert_same_evictions(only_logged_checks(events))


@settings(max_examples=examples(60), deadline=None)
@given(quota_logs(known=True))
def test_the_waterfall_closes_on_every_random_log(events: list[Event]) -> None:
    assert [row for row in tables_of(events)["subscription_backlog"] if row["unexplained_entries"]] == []
