"""The golden cases B1 to B27 through the quota bookkeeper."""

from typing import Any

import pytest
from bookkeeper.quota_books import Event, QuotaBooks
from bookkeeper.quota_cases import CASES, OUTSIDE_THE_LOG, Case
from bookkeeper.quota_script import TOPIC

EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


def kept(events: list[Event]) -> QuotaBooks:
    books = QuotaBooks()
    for event in events:
        books.apply(event)
    return books


def assert_like(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """As many rows as expected, and every field that is named as it should be."""
    assert [
        {name: like(row[name], value) for name, value in wanted.items()} for row, wanted in zip(found, expected, strict=True)
    ] == expected


def like(found: Any, wanted: Any) -> Any:
    """The part of a list of rows that is asked for."""
    if isinstance(wanted, list) and isinstance(found, list):
        return [{name: row[name] for name in like_it} for row, like_it in zip(found, wanted, strict=True)]
    return found


def by_sub(row: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """A check's row with its subscriptions as asked for."""
    subs = {sub["sub"]: sub for sub in row["subscriptions"]}
    return row | {"subs": {name: {field: subs[name][field] for field in wanted} for name, wanted in expected.get("subs", {}).items()}}


@EVERY_CASE
def test_golden_case(case: Case) -> None:
    books = kept(case.events)
    assert_like([by_sub(row, wanted) for row, wanted in zip(books.checks, case.checks, strict=True)], case.checks)
    assert_like(books.evictions, case.evictions)
    if case.histogram is not None:
        assert books.histogram() == case.histogram
    for applied, now_ms, shown in case.probes:
        probe = kept(case.events[:applied]).probe(TOPIC, now_ms)
        assert {name: probe[name] for name in shown} == shown


@EVERY_CASE
def test_golden_case_decides_the_same_without_what_the_broker_said(case: Case) -> None:
    blind = kept([event for event in case.events if event["type"] != "quota_exceeded"])
    assert [row["decision"] for row in blind.checks] == [row["decision"] for row in kept(case.events).checks]


def test_every_case_of_part_b_is_here_or_outside_the_log() -> None:
    assert {case.id.split("-")[0] for case in CASES if case.id.startswith("B")} | set(OUTSIDE_THE_LOG) == {
        f"B{number}" for number in range(1, 28)
    }
