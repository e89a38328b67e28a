"""Forecasts of simulated hours: their bands hold, and the pages have the tables that `python -m bench.forecasts` writes."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from docs_pages import DOCS
from simulated import shipped

from bench import forecasts
from sim.scenario import Scenario

HOURS = 8


def shorter(scenario: Scenario) -> Scenario:
    """Its first hours, with one topic of each kind."""
    return replace(scenario, duration_s=HOURS * 3600.0, topics=tuple(replace(topic, count=1) for topic in scenario.topics))


@pytest.mark.parametrize("name", ["quota_steady", "quota_burst"])
def test_the_bands_of_simulated_hours_hold(name: str, tmp_path: Path) -> None:
    """A few hundred forecasts of one seed: wider limits than the 75 to 85 % of the days in docs/design/backlog.md."""
    scores = forecasts.scores_of(shorter(shipped(name)), 3, tmp_path)
    judged = [row for rows in scores.values() for row in rows if row["in_band"] is not None]
    inside = sum(row["forecasts"] for row in judged if row["in_band"])
    assert 0.65 <= inside / sum(row["forecasts"] for row in judged) <= 0.95
    assert sum(row["forecasts"] for rows in scores.values() for row in rows if row["score"] == "hit") > 100


def test_the_table_sums_days_up_and_leaves_out_what_nothing_decided() -> None:
    rows = [
        ("steady", {"what": "size", "score": "hit", "in_band": True, "forecasts": 6}),
        ("steady", {"what": "size", "score": "late", "in_band": False, "forecasts": 2}),
        ("bursts", {"what": "size", "score": "open", "in_band": None, "forecasts": 9}),
        ("bursts", {"what": "size", "score": "false", "in_band": None, "forecasts": 1}),
    ]
    assert forecasts.table(rows).splitlines()[2:] == [
        "| bursts | size | 0 | 0 | 0 | 1 |  |",
        "| steady | size | 6 | 0 | 2 | 0 | 75 % of 8 |",
        "| all | size | 6 | 0 | 2 | 1 | 75 % of 8 |",
    ]


@pytest.mark.parametrize(("page", "of"), [("design/backlog.md", ("size", "time")), ("design/causes.md", ("waiting",))])
def test_the_pages_have_the_scores_of_all_days_and_their_bands_are_of_eighty_percent(page: str, of: tuple[str, ...]) -> None:
    table = (DOCS / page).read_text(encoding="utf-8").partition("<!-- begin forecasts -->")[2].partition("<!-- end forecasts -->")[0]
    shares = dict(re.findall(r"^\| all \| (\w+) \|.* (\d+) % of [\d,]+ \|$", table, re.MULTILINE))
    assert set(shares) == set(of)
    assert all(75 <= int(share) <= 85 for share in shares.values())
    assert {day for day in forecasts.DAYS.values() if f"| {day} |" in table} == set(forecasts.DAYS.values())
