"""`quota_risk` reads the checks of the last minutes alone, and foresees from them what the whole history foresees."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from backlog_rows import check
from query.conftest import append

from pipeline.query.room import ReadingRoom
from pipeline.query.views.inlined import with_views_over
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

TOPICS = [f"persistent://t/n/{name}" for name in ("steady", "bursts", "falls", "ends", "unlimited")]
#: The first check number of the last round.
LAST = 39 * len(TOPICS)
USUAL = {"check_source": "log", "complete": True}
COLUMNS = (
    "exceeded, breach_in_s, breach_at, breach_from, breach_to, deadline_at, share_of_limit, used, quota_limit, policy, on_breach,"
    " producers, rate_mean, rate_least, rate_most, steps, interval_s, loses_first, others_losing"
)
#: The newest check of each topic, over its whole history.
FROM_ALL = (
    "SELECT topic, quota_type, {columns} FROM (SELECT *, max(check_number) OVER (PARTITION BY broker, epoch, topic) AS newest FROM {of})"
    " WHERE check_number = newest AND epoch = 2 ORDER BY topic, quota_type"
)
NOW = "SELECT topic, quota_type, {columns} FROM quota_risk ORDER BY topic, quota_type"


def history(seed: int) -> list[dict[str, Any]]:
    """Checks of two epochs, mostly a minute apart, some late, one after a pause; a wall clock that is set back by two minutes."""
    dice, rows = random.Random(seed), []
    for epoch in (1, 2):
        at = 0.0
        for number in range(40):
            at += dice.choice([1.0, 1.0, 1.0, 1.0, 1.5, 0.1]) + (20 if number == 30 else 0) - (2 if number == 25 else 0)
            for place, topic in enumerate(TOPICS):
                limited = topic != TOPICS[4] or number < 39
                limits: dict[str, Any] = {"backlog_quota_limit_size": 10_000, "backlog_quota_limit_time": 3_600} if limited else {}
                policy = {"policy_size": "consumer_backlog_eviction"} if place == 1 else {}
                size = {"backlog_size": int(100 * number + dice.randrange(900)), "oldest": 60 * at - dice.randrange(1, 900), "producers": 2}
                if topic != TOPICS[3] or number < 20:
                    row = check(topic, at, len(TOPICS) * number + place, **limits, **policy, **size, epoch=epoch)
                    rows.append({"broker": "b1:8080", "decision": "none", **USUAL, **row})
    return rows


def eviction(row: dict[str, Any]) -> dict[str, Any]:
    """An eviction at the check, which leaves half."""
    at = {name: row[name] for name in ("broker", "epoch", "topic", "check_number")}
    decided = {"quota_type": "size", "action": "evict", "decided_at": row["check_time"] + timedelta(milliseconds=1), "agrees": True}
    return {**at, **decided, **USUAL, "decision_source": "both", "disagreement": "none", "backlog_size_planned": row["backlog_size"] // 2}


def waiting(row: dict[str, Any], subscription: str) -> dict[str, Any]:
    """A subscription at the check that an eviction would take from."""
    at = {name: row[name] for name in ("broker", "epoch", "topic", "check_number", "check_time")}
    return {
        **at,
        **USUAL,
        "opened_at": at["check_time"],
        "subscription": subscription,
        "msg_backlog": 4,
        "backlog_size": 99_999,
        "durable": True,
    }


@pytest.mark.parametrize("seed", range(4))
def test_what_is_foreseen_now_is_what_the_whole_history_foresees(tmp_path: Path, seed: int) -> None:
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    rows = history(seed)
    append(warehouse, "topic_backlog", rows)
    append(warehouse, "quota_evictions", [eviction(row) for row in rows if row["topic"] == TOPICS[1] and row["check_number"] % 3 == 0])
    append(warehouse, "subscription_backlog", [waiting(row, "s") for row in rows])
    append(warehouse, "subscription_backlog", [waiting(row, "was") for row in rows if row["check_number"] < LAST])
    room = ReadingRoom(warehouse)
    found = room.ask(NOW.format(columns=COLUMNS)).rows
    everything = room.ask(FROM_ALL.format(columns=COLUMNS, of="quota_forecasts")).rows
    expected = [row for row in everything if row[0] in TOPICS[:3]]
    assert [tuple(pytest.approx(value) if isinstance(value, float) else value for value in row) for row in expected] == found
    assert {row[0] for row in found} == set(TOPICS[:3]), "one is no longer checked, one has no limit any more"
    assert {row[-2] for row in found if row[1] == "size"} == {None, "s"}


def test_a_view_over_other_rows_is_its_query_with_the_table_s_name_replaced() -> None:
    views = {"a": "-- Why?\nSELECT * FROM t JOIN t_x ON t.id = t_x.id", "b": "SELECT 1 FROM VIEW_OVER(a, t, few) f"}
    assert with_views_over(views["b"], views.__getitem__) == "SELECT 1 FROM (\nSELECT * FROM few JOIN t_x ON few.id = t_x.id\n) f"
