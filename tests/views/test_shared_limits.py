"""Limits that several subscriptions share: who drew on them while they were on, and what they leave to one. Rows written by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from captured_warehouse import append_plain

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

START = datetime(2026, 1, 5, 3, tzinfo=UTC)
BROKER = {"broker": "b1", "epoch": 1}
ORDERS, AUDIT = "persistent://shop/eu/orders", "persistent://shop/eu/audit"
S = 10**9


def micros(second: float) -> int:
    return round((START + timedelta(seconds=second)).timestamp() * 1e6)


def window(minute: int) -> dict[str, Any]:
    return {**BROKER, "window_start": micros(60 * minute), "window_end": micros(60 * minute + 60), "clock_segment": 0}


@pytest.fixture
def warehouse(tmp_path: Any) -> Warehouse:
    made = Warehouse(f"file:{tmp_path}/warehouse")
    create_missing_tables(made)
    return made


def subscription(name: str, dispatched: int, charged: int | None, blocked_s: float = 0) -> dict[str, Any]:
    """A minute of a subscription of orders."""
    return {
        **window(0), "topic": ORDERS, "subscription": name, "opened_at": micros(-60), "source": "observed", "completeness": 1.0,
        "dispatched_entries": dispatched, "dispatched_msgs": dispatched, "charged_msg_by_topic_limit": charged,
        "reads_blocked_by_topic_limit": 9 if blocked_s else 0, "blocked_ns_by_topic_limit": round(blocked_s * S),
    }  # fmt: skip


def topic_limit(created_at: float) -> dict[str, Any]:
    return {**window(0), "level": "topic", "topic": ORDERS, "dimension": "msg", "created_at": micros(created_at), "limiter": "token_bucket",
            "rate": 20, "period_ms": 1000, "used": 400, "asks_binding": 9, "source": "observed", "completeness": 1.0}  # fmt: skip


def test_shares_of_a_limiter_are_those_of_the_time_in_which_it_was_on(warehouse: Warehouse) -> None:
    """It was set 20.5 s before the minute ended: `fast` had got nearly all by then. Since then it got the smaller part."""
    append_plain(warehouse, "subscription_throttle", [subscription("fast", 9100, 100, blocked_s=16.4), subscription("slow", 320, 300)])
    append_plain(warehouse, "limiter_windows", [topic_limit(39.5)])
    room = ReadingRoom(warehouse)
    users = room.rows("SELECT subscription, used, used_share FROM noisy_neighbours ORDER BY rank")
    assert users == [{"subscription": "slow", "used": 300, "used_share": 0.75}, {"subscription": "fast", "used": 100, "used_share": 0.25}]
    (held,) = room.rows("SELECT subscription, on_s, blocked_share FROM throttle_by_limiter")
    assert held == {"subscription": "fast", "on_s": 20.5, "blocked_share": pytest.approx(0.8)}
    (fairness,) = room.rows("SELECT largest_subscription, largest_share FROM fairness")
    assert fairness == {"largest_subscription": "slow", "largest_share": 0.75}


def test_rows_of_an_earlier_version_have_what_was_dispatched(warehouse: Warehouse) -> None:
    append_plain(warehouse, "subscription_throttle", [subscription("fast", 300, None), subscription("slow", 100, None)])
    append_plain(warehouse, "limiter_windows", [topic_limit(-60)])
    assert [row["used_share"] for row in ReadingRoom(warehouse).rows("SELECT used_share FROM noisy_neighbours ORDER BY rank")] == [
        0.75,
        0.25,
    ]


def test_a_read_that_waits_longer_than_the_limiter_was_on_is_blocked_all_the_time(warehouse: Warehouse) -> None:
    append_plain(warehouse, "subscription_throttle", [subscription("fast", 0, 0, blocked_s=25)])
    append_plain(warehouse, "limiter_windows", [{**topic_limit(10), "closed_at": micros(30)}])
    (held,) = ReadingRoom(warehouse).rows("SELECT on_s, blocked_share FROM throttle_by_limiter")
    assert held == {"on_s": 20.0, "blocked_share": 1.0}


def test_a_limiter_that_nobody_asked_was_on_as_long_as_the_log_has_the_window(warehouse: Warehouse) -> None:
    append_plain(warehouse, "subscription_throttle", [subscription("fast", 0, 0, blocked_s=20)])
    append_plain(warehouse, "broker_windows", [{**window(0), "log_until": micros(40)}])
    (held,) = ReadingRoom(warehouse).rows("SELECT on_s, blocked_share FROM throttle_by_limiter")
    assert held == {"on_s": 40.0, "blocked_share": 0.5}


def checks(topic: str, name: str, per_minute: int, late_s: float, number: int) -> list[dict[str, Any]]:
    """Three checks, a minute apart: 100 entries wait, `per_minute` messages go out, of 10 bytes and two an entry."""
    return [
        {**BROKER, "topic": topic, "subscription": name, "check_time": micros(60 * m + late_s), "check_number": 10 * m + number,
         "opened_at": micros(-60), "durable": True, "msg_backlog": 100, "backlog_size": 2000, "in_flight_entries": 0,
         "dispatched_entries": per_minute // 2 * m, "dispatched_msgs": per_minute * m}
        for m in range(3)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        # What the other one of the topic leaves: 10 a second less 90 a minute. Its own half of the topic: 5.
        ("topic", {"mine": 8.5, "near": 9.5, "far": 10.0}),
        # Others of the broker take 90 and 360 a minute: 2.5; its own share is 30 of 480, 0.6.
        ("broker", {"mine": 2.5, "near": 3.5, "far": 8.0}),
    ],
)
def test_a_shared_limit_is_divided_by_who_draws_on_it(warehouse: Warehouse, level: str, expected: dict[str, float]) -> None:
    """The checks of one round take a second: the broker's limit is divided over the round, whatever topic."""
    rows = [*checks(ORDERS, "mine", 30, 0, 1), *checks(ORDERS, "near", 90, 0, 1), *checks(AUDIT, "far", 360, 1.5, 2)]
    append_plain(warehouse, "subscription_backlog", rows)
    checked = [{**BROKER, "check_source": "log", "decision": "none", "topic": row["topic"], "check_time": row["check_time"],
                "check_number": row["check_number"]} for row in rows if row["subscription"] != "near"]  # fmt: skip
    append_plain(warehouse, "topic_backlog", checked)
    limit = {**BROKER, "seen_seq": 1, "seen_at": micros(-60), "limit_kind": f"{level}_dispatch_rate", "in_force": True,
             "set_by": "broker_config", "msg_rate": 10, "byte_rate": 0, "period_s": 1, "applied_msg_rate": 10}  # fmt: skip
    append_plain(warehouse, "policies", [{**limit, "topic": topic} for topic in ([ORDERS, AUDIT] if level == "topic" else [None])])
    found = ReadingRoom(warehouse).rows("SELECT subscription, most_msgs_per_s FROM catch_up_forecasts WHERE check_number > 20")
    assert {row["subscription"]: row["most_msgs_per_s"] for row in found} == {name: pytest.approx(rate) for name, rate in expected.items()}


@pytest.mark.parametrize(("backlog_messages", "most_entries"), [(400, 2.5), (None, 5.0), (100, 10.0)])
def test_what_is_left_goes_by_its_own_batches(warehouse: Warehouse, backlog_messages: int | None, most_entries: float) -> None:
    """Two messages an entry were delivered; the limit gives 10 messages a second to what is left."""
    rows = [{**row, "backlog_messages": backlog_messages} for row in checks(ORDERS, "mine", 30, 0, 1)]
    append_plain(warehouse, "subscription_backlog", rows)
    known = ("topic", "check_time", "check_number")
    append_plain(
        warehouse, "topic_backlog", [{**BROKER, "check_source": "log", "decision": "none", **{n: row[n] for n in known}} for row in rows]
    )
    limit = {**BROKER, "seen_seq": 1, "seen_at": micros(-60), "limit_kind": "subscription_dispatch_rate", "in_force": True, "topic": ORDERS,
             "subscription": "mine", "set_by": "namespace", "msg_rate": 10, "byte_rate": -1, "period_s": 1}  # fmt: skip
    append_plain(warehouse, "policies", [limit])
    found = ReadingRoom(warehouse).rows("SELECT most_entries_per_s FROM catch_up_forecasts ORDER BY check_number")
    assert [row["most_entries_per_s"] for row in found[1:]] == [most_entries] * 2, "nothing was delivered before the first check"
