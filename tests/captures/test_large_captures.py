"""The lane against real brokers whose topics retain tens of thousands of entries: every figure equals the broker's own.

Beyond 8,192 retained entries publish times are exact to what their row says; everything else is exact.
"""

import json
from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from backlog_probe import Event, watched_by_lane
from bookkeeper.broker_figures import throttle_counters_from_metrics, throttle_counters_from_stats
from bookkeeper.quota_books import BROKER_LEVEL, KIND
from bookkeeper.quota_figures import Seen, evictions_from_metrics, figures_from, histogram_from_metrics, samples_of
from capture_events import capture_events
from lane_tables import Table, tables_of
from real_captures import EVERY_LARGE_CAPTURE, LARGE_CAPTURES, LARGE_NAMES
from test_bookkeeper_captures import COLUMNS, open_counters

from pipeline.machines.broker.marks import MOST_MARKS
from schemas.packages.backlog.quotas import BUCKET_NAMES

pytestmark = [pytest.mark.captures, pytest.mark.skipif(not LARGE_NAMES, reason="no captures in shared/captures-large beside the project")]


@cache
def events_of(name: str) -> list[Event]:
    return capture_events(LARGE_CAPTURES / name)


@cache
def tables_from(name: str) -> dict[str, Table]:
    return tables_of(events_of(name))


def read_json(name: str, file: str) -> Any:
    return json.loads((LARGE_CAPTURES / name / file).read_text(encoding="utf-8"))


def topics_with_life(name: str) -> set[str]:
    return {event["topic"] for event in events_of(name) if event["type"] == "topic_load"}


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
    ours = open_counters(SimpleNamespace(subscription_throttle=tables_from(name)["subscription_throttle"]))  # type: ignore[arg-type]
    nothing = dict.fromkeys(COLUMNS, 0)
    for theirs in (
        throttle_counters_from_metrics(LARGE_CAPTURES / name / "metrics.txt"),
        throttle_counters_from_stats(LARGE_CAPTURES / name / "stats.json"),
    ):
        assert theirs, "the capture has counters"
        assert {key: ours.get(key, nothing) for key in theirs} == theirs


@EVERY_LARGE_CAPTURE
def test_evictions_and_durations_equal_the_metrics(name: str) -> None:
    rows = sorted(tables_from(name)["topic_backlog"], key=lambda row: (row["epoch"], row["check_number"]))
    last = {row["topic"]: row for row in rows}
    ours = {
        (topic, kind): row[f"storage_backlog_quota_exceeded_evictions_{kind}"] for topic, row in last.items() for kind in ("size", "time")
    }
    ours |= {(BROKER_LEVEL, kind): sum(count for (_, of), count in ours.items() if of == kind) for kind in ("size", "time")}
    said = evictions_from_metrics(LARGE_CAPTURES / name / "metrics.txt")
    assert {key: ours.get(key, 0) for key in said} == said
    assert sum(said.values()) > 0
    checks = max(tables_from(name)["quota_checks"], key=lambda row: (row["epoch"], row["window_start"]))
    buckets, sum_s, count = histogram_from_metrics(LARGE_CAPTURES / name / "metrics.txt")
    found = [checks[f"{bucket}_since_start"] for bucket in BUCKET_NAMES]
    assert (found, checks["duration_sum_s_since_start"], found[-1]) == (list(buckets.values()), sum_s, count)


@EVERY_LARGE_CAPTURE
def test_every_check_decides_as_the_broker_did(name: str) -> None:
    tables, living = tables_from(name), topics_with_life(name)
    said = [event for event in events_of(name) if event["type"] == "quota_exceeded" and event["topic"] in living]
    acted = [row for row in tables["topic_backlog"] if row["decision"] in ("size", "time")]
    assert said
    assert Counter((row["topic"], row["check_time"], row["decision"]) for row in acted) == Counter(
        (event["topic"], event["ts"], KIND[event["quota_type"]]) for event in said
    )
    assert [row for row in tables["quota_evictions"] if not row["agrees"]] == []
    checked = Counter(event["topic"] for event in events_of(name) if event["type"] == "quota_check" and "cause" not in event)
    assert Counter(row["topic"] for row in tables["topic_backlog"]) == checked


@EVERY_LARGE_CAPTURE
def test_sizes_entries_ages_and_producers_equal_the_stats(name: str) -> None:
    """At `as_of_us`; the oldest publish times within `exact_to_ms`."""
    manifest = read_json(name, "manifest.json")
    span = manifest["as_of_us"], manifest["as_of_end_us"]
    moments = [Seen(topic, *span, figures_from(said), {}) for topic, said in read_json(name, "stats.json").items()]
    moments = [seen for seen in moments if seen.topic in topics_with_life(name)]
    watched_by_lane(events_of(name), moments)
    assert len(moments) > 1
    assert {seen.topic: seen.wrong() for seen in moments if seen.wrong()} == {}


@pytest.mark.slow(reason="folds half a million events again; the small captures keep the claim in the default run")
@EVERY_LARGE_CAPTURE
def test_every_sample_of_the_time_line_lies_inside_what_probes_say(name: str) -> None:
    moments = samples_of(LARGE_CAPTURES / name)
    watched_by_lane(capture_events(LARGE_CAPTURES / name, until_as_of=False), moments)
    assert len(moments) > 20
    assert [(seen.topic, seen.ts, figure, *found) for seen in moments for figure, found in seen.wrong().items()] == []


@pytest.mark.slow(reason="folds to every sample of four minutes; the end figures of this log and the small captures keep the claim")
@EVERY_LARGE_CAPTURE
def test_decisions_stay_the_same_without_what_the_broker_said_of_them(name: str) -> None:
    decided = ("epoch", "topic", "decision", "policy_size", "policy_time", "storage_backlog_quota_exceeded_evictions_size")
    blind = tables_of([event | {"type": "heartbeat"} if event["type"] == "quota_exceeded" else event for event in events_of(name)])
    for row, other in zip(blind["topic_backlog"], tables_from(name)["topic_backlog"], strict=True):
        assert [row[column] for column in decided] == [other[column] for column in decided]
