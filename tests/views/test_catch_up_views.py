"""When a subscription is current: forecasts and their scores over checks written by hand, without Spark (docs/design/causes.md)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from captured_warehouse import append_plain

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

START = datetime(2026, 1, 5, 3, tzinfo=UTC)
OF = {"broker": "b1", "epoch": 1, "topic": "persistent://shop/eu/orders"}
#: Entries that wait, minute by minute; every minute 30 are published.
EVEN = (600, 540, 480, 420, 360, 300, 240, 180, 120, 60, 0)
GROWING = (10, 20, 30, 40)
GROWING_UNEVENLY = (10, 30, 35)
UNEVEN = (600, 580, 480, 380, 280, 180, 80, 0)
DIES = (600, 540, 480, *(420,) * 20)
#: A consumer comes back after the fourth check.
TURNS = (600, 640, 680, 720, 660, 600)
EVICTED = (600, 540, 180, 120, 60, 0)


def micros(m: float) -> int:
    return round((START + timedelta(minutes=m)).timestamp() * 1e6)


def checks(subscription: str, waiting: Sequence[int], evicted_after: int | None = None) -> list[dict[str, Any]]:
    """Rows of subscription_backlog: 7 entries are always delivered and not acknowledged."""
    return [
        {**OF, "subscription": subscription, "check_time": micros(m), "check_number": m + 1, "opened_at": micros(-1), "durable": True,
         "msg_backlog": left + 7, "in_flight_entries": 7, "published_entries": 30 * m, "complete": True,
         "evicted_entries": 300 if evicted_after is not None and m > evicted_after else 0}
        for m, left in enumerate(waiting)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """All of them, checked every minute."""
    warehouse = Warehouse(f"file:{tmp_path_factory.mktemp('catch-up')}")
    create_missing_tables(warehouse)
    rows = [
        *checks("even", EVEN),
        *checks("growing", GROWING),
        *checks("growing_unevenly", GROWING_UNEVENLY),
        *checks("uneven", UNEVEN),
        *checks("dies", DIES),
        *checks("turns", TURNS),
        *checks("evicted", EVICTED, evicted_after=1),
    ]
    append_plain(warehouse, "subscription_backlog", rows)
    checked = {**OF, "check_source": "log", "decision": "none"}
    append_plain(warehouse, "topic_backlog", [{**checked, "check_time": micros(m), "check_number": m + 1} for m in range(len(DIES))])
    return ReadingRoom(warehouse)


def forecast(room: ReadingRoom, subscription: str, minute: int) -> tuple[Any, ...]:
    """Minutes from the start of current_at, current_from, current_to; None where there is none."""
    (row,) = room.rows(f"SELECT * FROM catch_up_forecasts WHERE subscription = '{subscription}' AND check_number = {minute + 1}")
    times = (row[name] for name in ("current_at", "current_from", "current_to"))
    return tuple(None if time is None else (time.astimezone(UTC) - START) / timedelta(minutes=1) for time in times)


def scores(room: ReadingRoom, subscription: str) -> list[tuple[str, bool | None]]:
    rows = room.rows(f"SELECT score, in_band FROM catch_up_scores WHERE subscription = '{subscription}' ORDER BY check_number")
    return [(row["score"], row["in_band"]) for row in rows]


def test_an_even_pace_is_foreseen_from_the_second_check_on(room: ReadingRoom) -> None:
    assert forecast(room, "even", 0) == (None, None, None)
    foreseen = [forecast(room, "even", m) for m in range(1, 11)]
    assert {at for at, _, _ in foreseen} == {10}
    assert foreseen[0] == (10, 10, 10)  # one step has no band
    assert foreseen[1] == (10, 9, 13)  # 8 minutes at 60 a minute; in 8 minutes a pace drifts by 23 %: 1.28 × 0.5 × √(8/60)
    assert foreseen[-1] == (10, 10, 10)  # it is current
    assert scores(room, "even") == [("none", None), *[("hit", True)] * 9]


def test_what_grows_is_never_current(room: ReadingRoom) -> None:
    assert forecast(room, "growing", 3) == (None, None, None)
    assert [score for score, _ in scores(room, "growing")] == ["none", "none", "none", "open"]


def test_a_rate_has_a_band_without_an_end_that_is_foreseen(room: ReadingRoom) -> None:
    """Steps of -20 and -5 a minute: only how few they are counts."""
    (row,) = room.rows("SELECT * FROM catch_up_forecasts WHERE subscription = 'growing_unevenly' AND check_number = 3")
    spread = 1.28 * sqrt(112.5 / 2)
    assert (row["rate_least"] * 60, row["rate_most"] * 60) == (pytest.approx(-12.5 - spread), pytest.approx(-12.5 + spread))


def test_the_less_steps_are_alike_the_wider_is_the_band(room: ReadingRoom) -> None:
    """At minute 2 the steps were 20 and 100: 480 left go in 8 at the mean of 60, in 5 at its upper end.

    The lower end: 60 - 1.28 × √(3,200/2 + 3,200/8 + (0.5 × 60)² × 8/60) a minute.
    """
    assert forecast(room, "uneven", 2) == (10, 7, 453)
    assert scores(room, "uneven")[2] == ("late", True)


def test_steps_before_a_turn_are_no_pace(room: ReadingRoom) -> None:
    assert forecast(room, "turns", 3) == (None, None, None)
    assert forecast(room, "turns", 4) == (15, 15, 15), "660 go at 60 a minute"
    assert forecast(room, "turns", 5)[0] == 15


def test_a_consumer_that_dies_makes_forecasts_false(room: ReadingRoom) -> None:
    assert ("false", None) in scores(room, "dies")
    assert "hit" not in {score for score, _ in scores(room, "dies")}


def test_what_an_eviction_took_is_no_pace(room: ReadingRoom) -> None:
    assert forecast(room, "evicted", 2) == (5, 5, 5)


def test_while_a_quota_shuts_producers_out_there_is_no_pace(tmp_path: Path) -> None:
    """At checks 2 and 3 the quota is exceeded: in the steps after them nothing comes, and 90 a minute go."""
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    published = (0, 30, 60, 60, 60, 90)
    rows = [{**row, "published_entries": came} for row, came in zip(checks("held", (600, 540, 480, 390, 300, 240)), published, strict=True)]
    append_plain(warehouse, "subscription_backlog", rows)
    checked = {**OF, "check_source": "log", "policy_size": "producer_request_hold", "policy_time": "consumer_backlog_eviction"}
    decided = ("none", "none", "size", "size", "time", "none")
    append_plain(
        warehouse,
        "topic_backlog",
        [{**checked, "check_time": micros(m), "check_number": m + 1, "decision": decision} for m, decision in enumerate(decided)],
    )
    room = ReadingRoom(warehouse)
    found = room.rows("SELECT * FROM catch_up_forecasts ORDER BY check_number")
    assert [row["shut_out"] for row in found] == [False, False, True, True, True, True], "what an eviction takes shuts nobody out"
    assert [row["steps"] for row in found] == [0, 1, 2, 2, 2, 3]
    assert {row["publish_rate"] for row in found} == {None, 0.5}
    assert {row["rate_mean"] for row in found} == {None, 1.0}
    assert [row["outpaced"] for row in found] == [False, False, False, None, None, False]


def test_what_the_limits_in_force_allow(small_warehouse: Warehouse) -> None:
    """10 entries wait, 40 messages per second are allowed, of which others take 40 a minute, and 100 came in the last minute."""
    (row,) = ReadingRoom(small_warehouse).rows("SELECT * FROM catch_up_forecasts WHERE subscription = 'export' AND check_number = 21")
    assert (row["most_msgs_per_s"], row["most_entries_per_s"], row["allowed"]) == (
        pytest.approx(40 - 40 / 60),
        pytest.approx(40 - 40 / 60),
        "yes",
    )
    assert row["soonest_at"] - row["check_time"] == timedelta(microseconds=265_487)
