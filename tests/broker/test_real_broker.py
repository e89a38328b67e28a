"""Beside a real broker: what the live job's tables say is what the broker itself says, in every scenario.

A test that fails names the folder of the scenario's log and figures: it is a capture, and can be looked at with everything that reads one.
"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from compared_figures import (
    COUNTERS,
    checks_differing,
    counters_differing,
    counters_now,
    decisions_differing,
    evictions_differing,
    final_figures_differing,
    histogram_differing,
    manifest_of,
    pauses_differing,
    timeline_differing,
)
from known_differences import (
    eviction_that_was_interrupted,
    eviction_while_a_ledger_goes,
    eviction_while_entries_arrive,
    look_before_the_check_ends,
    unknown_deletions,
)
from lane_tables import SETTINGS, tables_of
from ledger import stretches
from theatre import WINDOW_MS, Played

from tools.live_broker.causes import CAUSES

pytestmark = pytest.mark.broker
#: Given the events, says whether a difference is of this reason.
Reason = Callable[[list[dict[str, Any]]], Callable[[tuple[Any, ...]], bool]]


def assert_none(differing: Any, played: Played) -> None:
    """Nothing differs; else the message has what does, and where the log is."""
    if differing:
        found = [f"  {one}" for one in (differing.items() if isinstance(differing, dict) else differing)]
        shown = "\n".join([*found[:20], *([f"  … {len(found) - 20} more"] if len(found) > 20 else [])])
        pytest.fail(f"{played.scenario.name}: tables and broker differ; its log: {played.capture}\n{shown}", pytrace=False)


def unknown(differing: Sequence[tuple[Any, ...]], events: list[dict[str, Any]], *reasons: Reason) -> Sequence[tuple[Any, ...]]:
    """Differences without those of a known reason, of which a warning has the number."""
    for reason in reasons:
        is_one = reason(events)
        explained = sum(map(is_one, differing))
        if explained:
            warnings.warn(f"{explained} known differences: {reason.__name__}", stacklevel=2)
        differing = [one for one in differing if not is_one(one)]
    return differing


def test_nothing_is_missing_in_the_log(played: Played) -> None:
    assert manifest_of(played.capture)["dropped"] == 0
    assert [event["seq"] for event in played.all_events if event["seq"] == 1].count(1) == len({e["epoch"] for e in played.all_events})
    assert played.whole["log_gaps"] == []
    assert {row["completeness"] for row in played.whole["subscription_throttle"]} <= {1.0}


def test_the_live_tables_equal_those_of_the_log_read_at_once(played: Played) -> None:
    """Row for row, column for column."""
    live, at_once = played.whole, tables_of(played.all_events, settings=replace(SETTINGS, window_ms=WINDOW_MS))
    assert_none([(name, *found) for name, rows in at_once.items() for found in first_difference(rows, live[name])], played)


def first_difference(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    """Columns of the first row that differs, of both; a row that only one has; nothing if they are equal."""
    for one, other in zip(rows, others, strict=False):
        if one != other:
            return [({c: one[c] for c in one if one[c] != other[c]}, {c: other[c] for c in one if one[c] != other[c]})]
    return [] if len(rows) == len(others) else [(f"{len(rows)} rows at once", f"{len(others)} rows live")]


def test_throttle_counters_equal_the_metrics_and_stats(played: Played) -> None:
    assert_none(counters_differing(played.tables, played.capture), played)


def test_walks_leave_what_the_broker_left(played: Played) -> None:
    assert_none([row for row in played.whole["subscription_throttle"] if row["left_mismatches"]], played)


def test_sizes_entries_ages_producers_and_evictions_equal_the_stats(played: Played) -> None:
    differing = final_figures_differing(played.capture, played.events)
    assert_none(unknown(differing, played.events, look_before_the_check_ends, unknown_deletions), played)


def test_every_sample_of_the_time_line_lies_inside_what_probes_say(played: Played) -> None:
    differing = timeline_differing(played.capture, played.all_events)
    assert_none(unknown(differing, played.all_events, look_before_the_check_ends, unknown_deletions), played)


def test_evictions_equal_the_metrics(played: Played) -> None:
    assert_none(evictions_differing(played.tables, played.capture), played)


def test_the_check_duration_histogram_equals_the_metrics_in_every_bucket(played: Played) -> None:
    window_us = WINDOW_MS * 1000
    window_end_us = (played.as_of_us // window_us + 1) * window_us
    later = [e for e in played.all_events if e["type"] == "quota_check" and played.as_of_us < e["ts"] < window_end_us]
    assert later == [], "checked in the very second of the figures: run it again"
    assert_none(histogram_differing(played.tables, played.capture), played)


def test_every_check_decides_as_the_broker_did(played: Played) -> None:
    differing = decisions_differing(played.tables, played.events)
    assert_none(
        unknown(
            differing,
            played.all_events,
            eviction_while_entries_arrive,
            eviction_while_a_ledger_goes,
            eviction_that_was_interrupted,
            unknown_deletions,
        ),
        played,
    )


def test_every_check_of_the_broker_is_one_of_ours(played: Played) -> None:
    assert_none(checks_differing(played.tables, played.events), played)


def test_pauses_and_resumes_equal_opentelemetry(played: Played) -> None:
    assert_none(pauses_differing(played.tables, played.capture), played)


def test_the_causes_are_those_of_this_log(played: Played) -> None:
    """Each holds back a subscription that the log knows, in its time; where it is a limiter, that limiter has counted."""
    causes = causes_of(played)
    known = {(event["topic"], event["sub"]) for event in played.events if event["type"] == "cursor_open"}
    begin, end = played.all_events[0]["ts"], played.all_events[-1]["ts"]
    counted = counters_now(played.tables["subscription_throttle"])
    assert causes
    for cause in causes:
        subscription = cause["topic"], cause["subscription"]
        assert cause["cause"] in CAUSES
        assert subscription in known
        assert begin <= cause["from_us"] < cause["to_us"] <= end
        level, _, dimension = cause["cause"].removesuffix("_limit").partition("_")
        column = f"dispatch_throttled_{dimension.replace('byte', 'bytes')}_events_by_{level}_limit"
        if column in COUNTERS:
            assert counted[subscription][column] > 0, cause


def causes_of(played: Played) -> list[dict[str, Any]]:
    """What the scenario knows to hold subscriptions back."""
    found: list[dict[str, Any]] = json.loads((played.capture / "causes.json").read_text(encoding="utf-8"))
    return found


def test_the_ledger_charges_what_holds_each_subscription_back(played: Played) -> None:
    """The main charge of every stretch is the scenario's cause, by entries × time."""
    found = stretches(causes_of(played), played.whole["subscription_causes"], WINDOW_MS * 1000)
    assert_none([stretch for stretch in found if not stretch.agrees], played)
