"""The views of backlogs and quotas over the logs of real brokers: what must hold on all of them, and what the forecasts were worth."""

import re
from pathlib import Path
from typing import Any

import pytest
from captured_warehouse import warehouse_of

from pipeline.query.room import ReadingRoom

pytestmark = pytest.mark.captures


@pytest.fixture(scope="module")
def all_captures(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Tables and views hold every capture; each has epochs of its own."""
    folders = sorted(path.parent for path in captures.glob("*/manifest.json"))
    return ReadingRoom(warehouse_of(folders, tmp_path_factory.mktemp("all")))


def ask(room: ReadingRoom, sql: str) -> list[tuple[Any, ...]]:
    return room.ask(sql).rows


def test_every_broker_s_interval_is_the_one_it_was_configured_with(all_captures: ReadingRoom) -> None:
    assert ask(all_captures, "SELECT DISTINCT interval_s FROM check_intervals WHERE checks > 10") == [(5,)]


def test_every_step_of_every_waterfall_closes_to_the_entry(all_captures: ReadingRoom) -> None:
    ((steps, open_steps, moved),) = ask(
        all_captures, "SELECT count(*), count_if(remainder <> 0), sum(published + acknowledged + expired + evicted) FROM backlog_waterfall"
    )
    assert [(steps,)] == ask(all_captures, "SELECT count(*) FROM subscription_backlog")
    assert open_steps == 0
    assert moved > 50_000


def test_every_decision_is_the_broker_s_and_moves_name_all_that_was_lost(all_captures: ReadingRoom) -> None:
    assert ask(all_captures, "SELECT DISTINCT decided_by, disagreement FROM evictions") == [("both", "none")]
    assert ask(
        all_captures,
        "SELECT count(*) FROM (SELECT max(decision_entries) - sum(entries_evicted) AS missing FROM evictions"
        " GROUP BY broker, epoch, topic, check_number HAVING missing <> 0)",
    ) == [(0,)]


def test_every_check_with_a_limit_has_a_forecast_that_says_exceeded_where_the_check_decided_so(all_captures: ReadingRoom) -> None:
    rows = ask(
        all_captures,
        "SELECT count(*) FROM topic_backlog t LEFT JOIN quota_forecasts f"
        " ON f.broker = t.broker AND f.epoch = t.epoch AND f.topic = t.topic AND f.check_number = t.check_number"
        " AND f.quota_type = t.decision AND f.exceeded WHERE t.decision IN ('size', 'time') AND f.topic IS NULL",
    )
    assert rows == [(0,)]


def test_the_scores_of_all_forecasts_are_those_in_the_docs(all_captures: ReadingRoom) -> None:
    """As the table in docs/design/backlog.md says."""
    page = (Path(__file__).resolve().parents[2] / "docs/design/backlog.md").read_text(encoding="utf-8")
    told = [(kind, score, int(count)) for kind, score, count in re.findall(r"^\| (size|time) \| (\w+) \| (\d+) \|$", page, re.MULTILINE)]
    rows = ask(
        all_captures,
        "SELECT quota_type, score, count(*) FROM quota_forecast_scores WHERE score NOT IN ('open', 'none') GROUP BY ALL ORDER BY ALL",
    )
    assert rows == told
    assert told


def test_whoever_lost_entries_at_a_check_was_named_as_a_loser_of_it(all_captures: ReadingRoom) -> None:
    rows = ask(
        all_captures,
        "SELECT count(*), count(l.subscription) FROM evictions e LEFT JOIN quota_losers l ON l.broker = e.broker AND l.epoch = e.epoch"
        " AND l.topic = e.topic AND l.check_number = e.check_number AND l.quota_type = e.quota_type AND l.subscription = e.subscription"
        " WHERE e.entries_evicted > 0",
    )
    assert rows[0][0] > 100
    assert rows[0][0] == rows[0][1]
