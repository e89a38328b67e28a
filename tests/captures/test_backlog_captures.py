"""The production machine against real brokers: every figure of backlog and quotas equals the broker's own, in every capture."""

from collections import Counter
from functools import cache
from typing import Any

import pytest
from backlog_probe import Event, watched_by_lane
from bookkeeper.quota_figures import Seen, samples_of
from capture_events import capture_events
from compared_figures import (
    UNTOLD_FIGURE,
    checks_differing,
    decisions_differing,
    evictions_differing,
    final_figures,
    final_figures_differing,
    histogram_differing,
    outside,
    pauses_differing,
)
from lane_tables import Table, tables_of
from real_captures import CAPTURES, EVERY_CAPTURE, NEEDS_CAPTURES, TIMED

pytestmark = [pytest.mark.captures, NEEDS_CAPTURES]


@cache
def events_of(name: str) -> list[Event]:
    return capture_events(CAPTURES / name)


@cache
def tables_from(name: str) -> dict[str, Table]:
    return tables_of(events_of(name))


@EVERY_CAPTURE
def test_sizes_entries_ages_producers_and_evictions_equal_the_stats(name: str) -> None:
    """At `as_of_us`; ages lie in the interval in which the figures were asked for, everything else has one value in it."""
    assert final_figures_differing(CAPTURES / name, events_of(name)) == []


@pytest.mark.parametrize(("kind", "figure"), [("publish", "backlogSize"), ("ledger_trim", "storageSize"), ("producer_close", "publishers")])
def test_one_event_less_is_noticed_in_the_stats(kind: str, figure: str) -> None:
    name = "h_size_quota_eviction"
    last = [event for event in events_of(name) if event["type"] == kind and event["topic"].endswith("/t") and "cause" not in event][-1]
    moments, _ = final_figures(CAPTURES / name, [event for event in events_of(name) if event is not last])
    assert any(wrong.endswith(figure) for seen in moments for wrong in seen.wrong())


@EVERY_CAPTURE
def test_evictions_of_the_last_checks_equal_the_metrics(name: str) -> None:
    assert evictions_differing(tables_from(name), CAPTURES / name) == {}


@EVERY_CAPTURE
def test_the_check_duration_histogram_equals_the_metrics_in_every_bucket(name: str) -> None:
    assert histogram_differing(tables_from(name), CAPTURES / name) == []


@EVERY_CAPTURE
def test_every_check_decides_as_the_broker_did(name: str) -> None:
    """At its instant and on its quota; with the broker's policy and limit, and the cursors moved to where it moved them."""
    assert decisions_differing(tables_from(name), events_of(name)) == []


@EVERY_CAPTURE
def test_every_check_of_the_broker_is_one_of_ours(name: str) -> None:
    assert checks_differing(tables_from(name), events_of(name)) == {}


@EVERY_CAPTURE
def test_pauses_and_resumes_equal_opentelemetry(name: str) -> None:
    assert pauses_differing(tables_from(name), CAPTURES / name) == {}


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
    assert outside(moments) == []


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
