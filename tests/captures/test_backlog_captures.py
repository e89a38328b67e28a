"""The production machine against real brokers: every figure of backlog and quotas equals the broker's own, in every capture."""

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest
from backlog_probe import Event, watched_by_lane
from bookkeeper.quota_books import BROKER_LEVEL, KIND
from bookkeeper.quota_figures import Seen, evictions_from_metrics, figures_from, histogram_from_metrics, samples_of
from capture_events import capture_events
from lane_tables import Table, tables_of
from real_captures import CAPTURES, EVERY_CAPTURE, NEEDS_CAPTURES, TIMED

from schemas.packages.backlog.quotas import BUCKET_NAMES

#: The broker's is of the entry behind the mark-delete position, ours of the oldest unacknowledged: compared where they are the same entry.
UNTOLD_FIGURE = "earliestMsgPublishTimeInBacklog"

pytestmark = [pytest.mark.captures, NEEDS_CAPTURES]


@cache
def events_of(name: str) -> list[Event]:
    return capture_events(CAPTURES / name)


@cache
def tables_from(name: str) -> dict[str, Table]:
    return tables_of(events_of(name))


def read_json(name: str, file: str) -> Any:
    return json.loads((CAPTURES / name / file).read_text(encoding="utf-8"))


def topics_with_life(name: str) -> set[str]:
    return {event["topic"] for event in events_of(name) if event["type"] == "topic_load"}


def final_figures(name: str, events: list[Event]) -> tuple[list[Seen], Counter[str]]:
    """`stats.json` and the evictions of `metrics.txt` as moments at `as_of_us`, watched over `events`; what the log does not tell."""
    manifest = read_json(name, "manifest.json")
    span = manifest["as_of_us"], manifest["as_of_end_us"]
    moments = [Seen(topic, *span, figures_from(said), {}) for topic, said in read_json(name, "stats.json").items()]
    moments = [seen for seen in moments if seen.topic in topics_with_life(name)]
    metrics = evictions_from_metrics(CAPTURES / name / "metrics.txt")
    moments.append(Seen(BROKER_LEVEL, *span, {f"{topic}|{kind}": count for (topic, kind), count in metrics.items()}, {}))
    return moments, watched_by_lane(events, moments)


@EVERY_CAPTURE
def test_sizes_entries_ages_producers_and_evictions_equal_the_stats(name: str) -> None:
    """At `as_of_us`; ages lie in the interval in which the figures were asked for, everything else has one value in it."""
    moments, untold = final_figures(name, events_of(name))
    assert len(moments) > 1
    assert {seen.topic: seen.wrong() for seen in moments if seen.wrong()} == {}
    assert {len(seen.values[figure]) for seen in moments for figure in seen.said if not figure.endswith("AgeSeconds")} == {1}
    assert untold.keys() <= {UNTOLD_FIGURE}


@pytest.mark.parametrize(("kind", "figure"), [("publish", "backlogSize"), ("ledger_trim", "storageSize"), ("producer_close", "publishers")])
def test_one_event_less_is_noticed_in_the_stats(kind: str, figure: str) -> None:
    name = "h_size_quota_eviction"
    last = [event for event in events_of(name) if event["type"] == kind and event["topic"].endswith("/t") and "cause" not in event][-1]
    moments, _ = final_figures(name, [event for event in events_of(name) if event is not last])
    assert any(wrong.endswith(figure) for seen in moments for wrong in seen.wrong())


@EVERY_CAPTURE
def test_evictions_of_the_last_checks_equal_the_metrics(name: str) -> None:
    rows = sorted(tables_from(name)["topic_backlog"], key=lambda row: (row["epoch"], row["check_number"]))
    last = {row["topic"]: row for row in rows}
    said = evictions_from_metrics(CAPTURES / name / "metrics.txt")
    ours = {
        (topic, kind): row[f"storage_backlog_quota_exceeded_evictions_{kind}"] for topic, row in last.items() for kind in ("size", "time")
    }
    ours |= {(BROKER_LEVEL, kind): sum(count for (_, of), count in ours.items() if of == kind) for kind in ("size", "time")}
    assert {key: ours.get(key, 0) for key in said} == said


@EVERY_CAPTURE
def test_the_check_duration_histogram_equals_the_metrics_in_every_bucket(name: str) -> None:
    last = max(tables_from(name)["quota_checks"], key=lambda row: (row["epoch"], row["window_start"]))
    buckets, sum_s, count = histogram_from_metrics(CAPTURES / name / "metrics.txt")
    ours = [last[f"{bucket}_since_start"] for bucket in BUCKET_NAMES]
    assert (ours, last["duration_sum_s_since_start"], ours[-1]) == (list(buckets.values()), sum_s, count)


@EVERY_CAPTURE
def test_every_check_decides_as_the_broker_did(name: str) -> None:
    """At its instant and on its quota; with the broker's policy and limit, and the cursors moved to where it moved them."""
    tables, living = tables_from(name), topics_with_life(name)
    said = [event for event in events_of(name) if event["type"] == "quota_exceeded" and event["topic"] in living]
    acted = [row for row in tables["topic_backlog"] if row["decision"] in ("size", "time")]
    assert Counter((row["topic"], row["check_time"], row["decision"]) for row in acted) == Counter(
        (event["topic"], event["ts"], KIND[event["quota_type"]]) for event in said
    )
    decided = Counter(
        (row["topic"], row["decided_at"], row["quota_type"], row["policy"], row["quota_limit"]) for row in tables["quota_evictions"]
    )
    assert decided == Counter((event["topic"], event["ts"], KIND[event["quota_type"]], event["policy"], event["limit"]) for event in said)
    assert [row for row in tables["quota_evictions"] if not row["agrees"]] == []


@EVERY_CAPTURE
def test_every_check_of_the_broker_is_one_of_ours(name: str) -> None:
    said = Counter(event["topic"] for event in events_of(name) if event["type"] == "quota_check" and "cause" not in event)
    assert Counter(row["topic"] for row in tables_from(name)["topic_backlog"]) == said


@EVERY_CAPTURE
def test_decisions_stay_the_same_without_what_the_broker_said_of_them(name: str) -> None:
    decided = ("epoch", "topic", "decision", "policy_size", "policy_time", "storage_backlog_quota_exceeded_evictions_size")

    def decisions(tables: dict[str, Table]) -> list[tuple[Any, ...]]:
        return [tuple(row[column] for column in decided) for row in tables["topic_backlog"]]

    blind = tables_of([event | {"type": "heartbeat"} if event["type"] == "quota_exceeded" else event for event in events_of(name)])
    assert decisions(blind) == decisions(tables_from(name))


@cache
def time_line_of(name: str) -> tuple[list[Seen], Counter[str]]:
    moments = samples_of(CAPTURES / name)
    return moments, watched_by_lane(capture_events(CAPTURES / name, until_as_of=False), moments)


@pytest.mark.parametrize("name", TIMED)
def test_every_sample_of_the_time_line_lies_inside_what_probes_say(name: str) -> None:
    moments, _ = time_line_of(name)
    assert len(moments) > 20
    assert [(seen.topic, seen.ts, figure, *found) for seen in moments for figure, found in seen.wrong().items()] == []


def test_few_figures_of_the_time_line_are_left_out() -> None:
    compared = Counter(figure.rpartition(".")[2] for name in TIMED for seen in time_line_of(name)[0] for figure in seen.said)
    untold = sum((time_line_of(name)[1] for name in TIMED), Counter[str]())
    assert untold.keys() == {UNTOLD_FIGURE}
    assert 0 < untold[UNTOLD_FIGURE] < 0.2 * compared[UNTOLD_FIGURE]
    assert compared.total() > 8_000


def test_the_time_line_check_would_see_a_figure_that_is_off_by_one() -> None:
    """In most samples nothing moves: there a figure has one value only, and one more or less is wrong."""
    for one in (1, -1):
        changed = [
            Seen(seen.topic, seen.ts, seen.ts_end, {figure: said + one}, seen.values)
            for name in TIMED
            for seen in time_line_of(name)[0]
            for figure, said in seen.said.items()
            if isinstance(said, int)
        ]
        assert sum(bool(seen.wrong()) for seen in changed) > 0.7 * len(changed)
