"""The judge of predictions: its pairs, and its verdicts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench.what_if_pairs.compare import verdict_of
from bench.what_if_pairs.kinds import KINDS
from bench.what_if_pairs.run import Outcome, pair_of
from bench.what_if_pairs.table import markdown
from bench.what_if_pairs.truth import Lived
from pipeline.what_if.changes import changes_of

START = datetime(2026, 11, 21, tzinfo=UTC)
TRUE = [0, 400, 800, 600, 300, 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_pair_has_one_demand_under_two_settings(kind: str, seed: int) -> None:
    pair = pair_of(kind, seed)
    assert pair == pair_of(kind, seed)
    assert pair.before != pair.after
    assert changes_of(pair.texts).any
    publishes = [[topic.publish for topic in scenario.topics] for scenario in (pair.before, pair.after)]
    assert publishes[0] == publishes[1] or kind == "publish rate"


def verdict(told: list[int], *, throttled: int = 100, evicted: int = 0, most: int = 1000) -> Any:
    samples = [{"at": START + timedelta(seconds=k), "backlog": entries, "low": 0, "high": most} for k, entries in enumerate(told)]
    predicted = {"samples": samples, "throttled": {"messages": {"topic": throttled}}, "evicted_entries": evicted}
    second = round(START.timestamp())
    truth = Lived({("t", "s"): {second + k: entries for k, entries in enumerate(TRUE)}}, {("t", "s"): 100}, {("t", "s"): 0}, 60)
    return verdict_of({"subscriptions": [{"topic": "t", "subscription": "s", "predicted": predicted}]}, truth)


def test_the_truth_is_as_bound() -> None:
    found = verdict(TRUE)
    assert (found.area, found.drained, found.throttled, found.faults, found.is_in_band) == (0.0, 0.0, 0.0, (), True)


def test_each_figure_beyond_its_bound_is_a_fault() -> None:
    assert verdict([0, 500, 1000, 750, 375, 0]).faults == ("backlog 25%",)
    assert verdict(TRUE, throttled=120).faults == ("throttled 120 of 100",)
    assert verdict(TRUE, evicted=11).faults == ("evicted 11 of 0",)
    assert "t#s drained None of 6 s" in verdict([0, 400, 800, 700, 600, 500]).faults


def test_a_band_that_the_truth_leaves_is_told() -> None:
    assert not verdict(TRUE, most=500).is_in_band


def test_the_table_has_a_row_for_each_kind_and_one_for_all() -> None:
    kind = next(iter(KINDS))
    lines = markdown([Outcome(kind, 1, (), verdict(TRUE), ()), Outcome(kind, 2, (), None, ("no",))]).splitlines()
    assert lines[2] == f"| {kind} | 2 | 1 | 1 | 1 | 0.0% | 0.0% | 0.0% | 0.0% | – |"
    assert lines[3].startswith("| **all** | 2 | 1 |")
