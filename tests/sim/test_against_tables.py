"""What the simulator knows of itself equals what the rules compute from its log: counters, backlogs, sizes, evictions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from folded import confusion_of_tables, tables_of_lives
from lane_tables import Table
from simulated import run_into, shipped, shipped_run

#: A minute together: by default those in which most happens.
LONG = pytest.mark.slow(reason="half a minute together; by default the other scenarios, which have the same rules and causes")
SCENARIOS = (
    "life",
    "channel",
    "throttled",
    "stuck",
    "transaction",
    "keys_blocked",
    *(pytest.param(name, marks=LONG) for name in ("throttled_classic", "delayed", "unacked_limit")),
)


#: Keys that are blocked while nothing comes: after 5 s without a sign of life the rules call it unknown.
LEAST_RIGHT = {"keys_blocked": 0.98}


def last_rows(rows: Table, order: str, *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The last row of each key, by a column of time."""
    return {tuple(row[name] for name in key): row for row in sorted(rows, key=lambda row: row[order])}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_rules_compute_what_the_simulator_knows(name: str) -> None:
    run = shipped_run(name)
    lives = tables_of_lives(run)
    for life, tables in lives:
        assert [event["seq"] for event in run.events(life)] == list(range(1, life["events"] + 1))
        assert tables["late_events"] == []
        assert {gap["kind"] for gap in tables["log_gaps"]} <= {"clock_step"}
        compare_subscriptions(life, tables)
        compare_topics(life, tables)
    found = confusion_of_tables(run, lives)
    assert found.backlog > 400 * 10**9
    assert found.right >= LEAST_RIGHT.get(name, 0.99) * found.backlog
    assert found.wrong <= 0.01 * found.backlog
    # Where a dispatcher is stuck for less than a window, the five seconds before that is certain weigh more.
    assert found.main_right >= (0.96 if name == "stuck" else 0.99) * found.backlog


def test_with_one_of_twenty_events_lost_a_cause_is_right_or_unknown_and_most_are_right(tmp_path: Path) -> None:
    """Five of its ten minutes: docs/design/causes.md has the matrix of them all (bench.causes)."""
    run = run_into(replace(shipped("losses"), duration_s=300.0), tmp_path)
    found = confusion_of_tables(run, tables_of_lives(run))
    assert found.wrong <= 0.01 * found.backlog
    assert found.main_wrong <= 0.01 * found.backlog
    assert found.right >= 0.8 * found.backlog
    assert found.main_right >= 0.9 * found.backlog
    assert found.main_unknown > 0


def compare_subscriptions(life: dict[str, Any], tables: dict[str, Table]) -> None:
    """Six counters, observed and modelled, and the backlog at the last quota check."""
    throttle = last_rows(tables["subscription_throttle"], "window_start", "topic", "subscription")
    backlog = last_rows(tables["subscription_backlog"], "check_time", "topic", "subscription")
    for one in life["subscriptions"]:
        key = one["topic"], one["subscription"]
        for counter, count in (one["counters"] or {}).items():
            row = throttle[key]
            assert (key, counter, row[f"{counter}_since_open"], row[f"modelled_{counter}_since_open"]) == (key, counter, count, count)
        assert (key, backlog[key]["msg_backlog"], backlog[key]["complete"]) == (key, one["msg_backlog"], True)
    assert {row["unexplained_entries"] for row in tables["subscription_backlog"]} <= {0}
    assert sum(row["left_mismatches"] for row in tables["subscription_throttle"]) == 0


def compare_topics(life: dict[str, Any], tables: dict[str, Table]) -> None:
    """Sizes and evictions; every decision moves the cursors to where the rules take them."""
    checks = last_rows(tables["topic_backlog"], "check_time", "topic")
    for one in life["topics"]:
        row = checks[one["topic"],]
        evictions = [row[f"storage_backlog_quota_exceeded_evictions_{kind}"] for kind in ("size", "time")]
        assert (one["topic"], row["backlog_size"], evictions) == (one["topic"], one["backlog_size"], [*one["evictions"].values()])
    assert [row for row in tables["quota_evictions"] if not row["agrees"]] == []


def test_the_life_of_a_broker_has_evictions_to_compare() -> None:
    lives = shipped_run("life").facts["lives"]
    assert sum(sum(topic["evictions"].values()) for life in lives for topic in life["topics"]) > 100
    assert any(topic["evictions"]["message_age"] for life in lives for topic in life["topics"])
