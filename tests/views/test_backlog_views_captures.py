"""The views of backlogs and quotas over the logs of real brokers: what must hold on all of them, and what the forecasts were worth."""

import re
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events
from lane_tables import tables_of
from lane_views import spark_rows
from pyspark.sql import SparkSession

from pipeline.query.views.catalog import sql_of
from schemas.render.spark import struct
from schemas.tables import TABLES_BY_NAME

pytestmark = pytest.mark.captures

TABLES = ("topic_backlog", "subscription_backlog", "quota_evictions", "quota_eviction_moves", "quota_checks")
VIEWS = (
    "check_intervals",
    "quota_breaches",
    "quota_losers",
    "quota_forecasts",
    "quota_forecast_scores",
    "evictions",
    "broker_belief_gap",
    "backlog_waterfall",
    "subscription_rates",
)


@pytest.fixture(scope="module")
def all_captures(spark: SparkSession, captures: Path) -> SparkSession:
    """A session in which tables and views hold every capture; each has epochs of its own."""
    session = spark.newSession()
    folders = sorted(path.parent for path in captures.glob("*/manifest.json"))
    tables = [tables_of(capture_events(folder)) for folder in folders]
    for name in TABLES:
        rows = [row for found in tables for row in spark_rows(name, found[name])]
        session.createDataFrame(rows, struct(TABLES_BY_NAME[name].fields)).cache().createOrReplaceTempView(name)
    for view in VIEWS:
        session.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS\n{sql_of(view)}")
    return session


def ask(session: SparkSession, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql(sql).collect()]


def test_every_broker_s_interval_is_the_one_it_was_configured_with(all_captures: SparkSession) -> None:
    assert ask(all_captures, "SELECT DISTINCT interval_s FROM check_intervals WHERE checks > 10") == [(5,)]


def test_every_step_of_every_waterfall_closes_to_the_entry(all_captures: SparkSession) -> None:
    ((steps, open_steps, moved),) = ask(
        all_captures, "SELECT count(*), count_if(remainder <> 0), sum(published + acknowledged + expired + evicted) FROM backlog_waterfall"
    )
    assert (steps, open_steps) == (all_captures.table("subscription_backlog").count(), 0)
    assert moved > 50_000


def test_every_decision_is_the_broker_s_and_moves_name_all_that_was_lost(all_captures: SparkSession) -> None:
    assert ask(all_captures, "SELECT DISTINCT decided_by, disagreement FROM evictions") == [("both", "none")]
    assert ask(
        all_captures,
        "SELECT count(*) FROM (SELECT max(decision_entries) - sum(entries_evicted) AS missing FROM evictions"
        " GROUP BY broker, epoch, topic, check_number HAVING missing <> 0)",
    ) == [(0,)]


def test_every_check_with_a_limit_has_a_forecast_that_says_exceeded_where_the_check_decided_so(all_captures: SparkSession) -> None:
    rows = ask(
        all_captures,
        "SELECT count(*) FROM topic_backlog t LEFT JOIN quota_forecasts f"
        " ON f.broker = t.broker AND f.epoch = t.epoch AND f.topic = t.topic AND f.check_number = t.check_number"
        " AND f.quota_type = t.decision AND f.exceeded WHERE t.decision IN ('size', 'time') AND f.topic IS NULL",
    )
    assert rows == [(0,)]


def test_the_scores_of_all_forecasts_are_those_in_the_docs(all_captures: SparkSession) -> None:
    """As the table in docs/design/backlog.md says."""
    page = (Path(__file__).resolve().parents[2] / "docs/design/backlog.md").read_text(encoding="utf-8")
    told = [(kind, score, int(count)) for kind, score, count in re.findall(r"^\| (size|time) \| (\w+) \| (\d+) \|$", page, re.MULTILINE)]
    rows = ask(
        all_captures,
        "SELECT quota_type, score, count(*) FROM quota_forecast_scores WHERE score NOT IN ('open', 'none') GROUP BY ALL ORDER BY ALL",
    )
    assert rows == told
    assert told


def test_whoever_lost_entries_at_a_check_was_named_as_a_loser_of_it(all_captures: SparkSession) -> None:
    rows = ask(
        all_captures,
        "SELECT count(*), count(l.subscription) FROM evictions e LEFT JOIN quota_losers l ON l.broker = e.broker AND l.epoch = e.epoch"
        " AND l.topic = e.topic AND l.check_number = e.check_number AND l.quota_type = e.quota_type AND l.subscription = e.subscription"
        " WHERE e.entries_evicted > 0",
    )
    assert rows[0][0] > 100
    assert rows[0][0] == rows[0][1]
