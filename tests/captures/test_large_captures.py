"""The lane against real brokers whose topics retain tens of thousands of entries: every figure equals the broker's own.

Beyond 8,192 retained entries publish times are exact to what their row says; everything else is exact.
"""

from functools import cache

import pytest
from backlog_probe import Event
from bookkeeper.quota_figures import evictions_from_metrics, samples_of
from capture_events import capture_events
from compared_figures import (
    checks_differing,
    counters_differing,
    decisions_differing,
    evictions_differing,
    final_figures,
    histogram_differing,
    outside,
    timeline_differing,
)
from lane_tables import Table, tables_of
from real_captures import EVERY_LARGE_CAPTURE, LARGE_CAPTURES, LARGE_NAMES

from pipeline.rules.broker.marks import MOST_MARKS

pytestmark = [pytest.mark.captures, pytest.mark.skipif(not LARGE_NAMES, reason="no captures in shared/captures-large beside the project")]


@cache
def events_of(name: str) -> list[Event]:
    return capture_events(LARGE_CAPTURES / name)


@cache
def tables_from(name: str) -> dict[str, Table]:
    return tables_of(events_of(name))


@EVERY_LARGE_CAPTURE
def test_it_is_a_deep_backlog(name: str) -> None:
    """Else it proves nothing about marks of many entries."""
    rows = tables_from(name)["subscription_backlog"]
    assert max(row["msg_backlog"] for row in rows) > MOST_MARKS
    assert max(row["individually_deleted"] for row in rows) > 5_000
    assert max(row["exact_to_ms"] for row in rows) < 1_000
    assert {row["unexplained_entries"] for row in rows} == {0}


@EVERY_LARGE_CAPTURE
def test_counters_since_open_equal_the_metrics_and_stats(name: str) -> None:
    assert counters_differing(tables_from(name), LARGE_CAPTURES / name) == []


@EVERY_LARGE_CAPTURE
def test_evictions_and_durations_equal_the_metrics(name: str) -> None:
    assert evictions_differing(tables_from(name), LARGE_CAPTURES / name) == {}
    assert sum(evictions_from_metrics(LARGE_CAPTURES / name / "metrics.txt").values()) > 0
    assert histogram_differing(tables_from(name), LARGE_CAPTURES / name) == []


@EVERY_LARGE_CAPTURE
def test_every_check_decides_as_the_broker_did(name: str) -> None:
    assert any(event["type"] == "quota_exceeded" for event in events_of(name))
    assert decisions_differing(tables_from(name), events_of(name)) == []
    assert checks_differing(tables_from(name), events_of(name)) == {}


@EVERY_LARGE_CAPTURE
def test_sizes_entries_ages_and_producers_equal_the_stats(name: str) -> None:
    """At `as_of_us`; the oldest publish times within `exact_to_ms`."""
    moments, _ = final_figures(LARGE_CAPTURES / name, events_of(name))
    assert len(moments) > 1
    assert outside(moments) == []


@pytest.mark.slow(reason="folds half a million events again; the small captures keep the claim in the default run")
@EVERY_LARGE_CAPTURE
def test_every_sample_of_the_time_line_lies_inside_what_probes_say(name: str) -> None:
    assert len(samples_of(LARGE_CAPTURES / name)) > 20
    assert timeline_differing(LARGE_CAPTURES / name, capture_events(LARGE_CAPTURES / name, until_as_of=False)) == []


@pytest.mark.slow(reason="folds to every sample of four minutes; the end figures of this log and the small captures keep the claim")
@EVERY_LARGE_CAPTURE
def test_decisions_stay_the_same_without_what_the_broker_said_of_them(name: str) -> None:
    decided = ("epoch", "topic", "decision", "policy_size", "policy_time", "storage_backlog_quota_exceeded_evictions_size")
    blind = tables_of([event | {"type": "heartbeat"} if event["type"] == "quota_exceeded" else event for event in events_of(name)])
    for row, other in zip(blind["topic_backlog"], tables_from(name)["topic_backlog"], strict=True):
        assert [row[column] for column in decided] == [other[column] for column in decided]
