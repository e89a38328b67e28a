"""What the views of backlogs and quotas say about the six minutes of backlog_rows.py."""

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from captured_warehouse import append_plain
from planted_room import PlantedRoom
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from views_from_memory import register_from_memory

from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import named_in
from pipeline.query.views.register import register_views
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

#: Names the views that forecast, and thereby all that they are made of.
FORECASTS = "quota_forecasts, quota_forecast_scores"


def ask(room: ReadingRoom, sql: str) -> list[tuple[Any, ...]]:
    return room.ask(sql).rows


def seconds(*columns: str) -> str:
    """Times as seconds since 03:00, independent of the time zone in which Python shows timestamps."""
    return ", ".join(f"(unix_micros({column}) - unix_micros(TIMESTAMP '2026-01-05 03:00:00Z')) / 1e6 AS {column}" for column in columns)


def forecasts(room: ReadingRoom, topic: str, quota_type: str) -> list[tuple[Any, ...]]:
    """(check, breach_at, breach_from, breach_to, score, in_band) in seconds since 03:00."""
    return ask(
        room,
        f"SELECT {seconds('check_time', 'breach_at', 'breach_from', 'breach_to')}, score, in_band FROM quota_forecast_scores"
        f" WHERE topic LIKE '%/{topic}' AND quota_type = '{quota_type}' AND epoch = 1767570000000 ORDER BY check_time",
    )


def test_the_interval_is_derived_from_the_checks_of_each_epoch(room: ReadingRoom) -> None:
    assert ask(room, "SELECT interval_s, checks, newest FROM check_intervals ORDER BY epoch") == [(None, 1, False), (60, 26, True)]


def test_a_size_is_foreseen_at_the_mean_rate_within_a_band_and_rounded_up_to_checks(room: ReadingRoom) -> None:
    assert forecasts(room, "orders", "size") == [
        (0.0, None, None, None, "none", None),  # one check has no rate
        (60.0, 300.0, 300.0, 300.0, "late", False),  # 7,000 left at 2,000 a minute: 3.5 checks
        (120.0, 240.0, 240.0, 300.0, "hit", True),  # 4,500 left at 2,250, give or take 500
        (180.0, 240.0, 240.0, 300.0, "hit", True),  # 2,250 left at 2,250
        (300.0, 360.0, 360.0, 360.0, "open", None),  # what was evicted is not growth: 1,000 a minute since 8,600
    ]
    # Steps of 2,000, 2,500, 2,250, 2,250 and 1,000 have the variance 343,750; 400 left are a fifth of a minute.
    spread = 1.28 * sqrt(343_750 / 5 + 343_750 + (0.2 * 2_000) ** 2 * 0.2 / 60)
    assert ask(
        room,
        "SELECT used, steps, rate_mean * 60, rate_least * 60, rate_most * 60 FROM quota_forecasts"
        " WHERE topic LIKE '%/orders' AND check_number = 26",
    ) == [(9600, 5, pytest.approx(2000), pytest.approx(2000 - spread), pytest.approx(2000 + spread))]


def test_an_age_that_nobody_acknowledges_has_a_known_deadline(room: ReadingRoom) -> None:
    assert forecasts(room, "audit-log", "time") == [(0.0, 120.0, 120.0, 120.0, "hit", True), (60.0, 120.0, 120.0, 120.0, "hit", True)]
    rows = ask(room, f"SELECT DISTINCT {seconds('deadline_at')} FROM quota_forecasts WHERE topic LIKE '%/audit-log' AND NOT exceeded")
    assert rows == [(90.0,)]


def test_an_age_grows_no_faster_than_time_in_its_band(tmp_path: Path) -> None:
    """Steps of 60, 10 and 60 s a minute: the band would reach beyond 60."""
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    of = {"broker": "b1", "epoch": 1, "topic": "persistent://shop/eu/old", "check_source": "log", "decision": "none"}
    limits = {"backlog_size": 0, "backlog_quota_limit_size": -1, "backlog_quota_limit_time": 600}
    rows = [
        {**of, **limits, "check_number": n + 1, "check_time": 60_000_000 * n, "oldest_backlog_message_age_seconds": age_s,
         "oldest_believed_time": 60_000_000 * n - 1_000_000 * age_s}
        for n, age_s in enumerate((10, 70, 80, 140))
    ]  # fmt: skip
    append_plain(warehouse, "topic_backlog", rows)
    (row,) = ReadingRoom(warehouse).rows("SELECT * FROM quota_forecasts WHERE check_number = 4")
    assert (row["steps"], row["rate_most"], row["rate_least"] < row["rate_mean"] < 1000) == (3, 1000, True)
    assert row["deadline_at"] <= row["breach_from"] < row["breach_at"]


def test_no_size_is_foreseen_to_grow_without_a_producer(tmp_path: Path) -> None:
    """Nor while producers that come and go brought nothing; but a topic that grew counts as before, whoever is connected at the check."""
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    of = {"broker": "b1", "epoch": 1, "topic": "persistent://shop/eu/full", "check_source": "log", "decision": "none"}
    rows = [
        {**of, "backlog_size": size, "backlog_quota_limit_size": 1000, "backlog_quota_limit_time": -1, "producers": producers,
         "check_number": n + 1, "check_time": 60_000_000 * n}
        for n, (size, producers) in enumerate([(100, 1), (300, 1), (550, 0), (550, 0), (550, 1)])
    ]  # fmt: skip
    append_plain(warehouse, "topic_backlog", rows)
    found = ReadingRoom(warehouse).rows("SELECT * FROM quota_forecasts ORDER BY check_number")
    assert [row["breach_at"] is not None for row in found] == [False, True, True, False, True]
    assert [row["breach_from"] is not None for row in found] == [False, True, True, False, True]
    assert (found[3]["rate_least"], found[3]["rate_mean"], found[3]["rate_most"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("sizes", "foreseen"),
    [
        ((100, 300, 500, 700, 650, 600), [True, True, False, False]),  # it shrinks from the step on in which a consumer came back
        ((100, 300, 500, 700, 1150, 1600), [True, True, True, True]),
        ((100, 300, 250, 600, 550, 900), [True, True, True, True]),  # up and down as it ever did: chance
    ],
)
def test_steps_before_a_turn_foresee_nothing(tmp_path: Path, sizes: tuple[int, ...], foreseen: list[bool]) -> None:
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    of = {"broker": "b1", "epoch": 1, "topic": "persistent://shop/eu/full", "check_source": "log", "decision": "none", "producers": 1}
    rows = [
        {**of, "backlog_size": size, "backlog_quota_limit_size": 2000, "backlog_quota_limit_time": -1,
         "check_number": n + 1, "check_time": 60_000_000 * n}
        for n, size in enumerate(sizes)
    ]  # fmt: skip
    append_plain(warehouse, "topic_backlog", rows)
    found = ReadingRoom(warehouse).rows("SELECT * FROM quota_forecasts ORDER BY check_number")
    assert [row["breach_at"] is not None for row in found[2:]] == foreseen
    if sizes[-1] == 1600:
        assert found[-1]["breach_in_s"] == 60, "400 are left, and the last two steps brought 450 each"


def test_an_age_that_acknowledgements_keep_young_is_foreseen_once_and_then_no_more(room: ReadingRoom) -> None:
    found = forecasts(room, "clicks", "time")
    assert found[0] == (0.0, 120.0, 120.0, 120.0, "false", None)  # 60 s old, 60 s and a millisecond to go: two checks
    assert [row[1:2] + row[3:] for row in found[1:5]] == [(None, None, "none", None)] * 4
    assert found[5][4] == "open"


def test_a_quota_that_is_exceeded_later_than_said_was_called_early(room: ReadingRoom) -> None:
    assert [(row[0], row[1], row[4]) for row in forecasts(room, "images-partition-1", "size")] == [
        (0.0, None, "none"),
        (60.0, 180.0, "early"),
        (120.0, 240.0, "hit"),
        (180.0, 240.0, "hit"),
    ]


def test_every_topic_check_and_limit_has_one_forecast(room: ReadingRoom) -> None:
    assert ask(room, "SELECT quota_type, count(*), count_if(exceeded) FROM quota_forecasts GROUP BY quota_type ORDER BY quota_type") == [
        ("size", 13, 3),
        ("time", 12, 4),
    ]


def test_who_loses_messages_with_the_slowest_is_named(room: ReadingRoom) -> None:
    rows = ask(
        room,
        "SELECT loses_first, others_losing, on_breach FROM quota_forecasts"
        " WHERE topic LIKE '%/orders' AND epoch = 1767570000000 AND check_number IN (1, 16) ORDER BY 2",
    )
    assert rows == [("billing", [], "evict"), ("billing", ["export"], "evict")]
    held = ask(room, "SELECT DISTINCT loses_first, others_losing, on_breach, producers FROM quota_forecasts WHERE topic LIKE '%/audit-log'")
    assert held == [(None, [], "disconnect_producers", 2)]


def test_the_risk_is_the_latest_forecast_of_what_is_still_checked(room: ReadingRoom) -> None:
    rows = ask(room, "SELECT split_part(topic, '/', -1), quota_type, exceeded, breach_in_s FROM quota_risk")
    assert rows == [
        ("audit-log", "time", True, 0.0),
        ("images-partition-1", "size", True, 0.0),
        ("orders", "size", False, 60.0),
        ("clicks", "time", False, None),
    ]


def test_now_is_the_latest_check_of_topics_that_are_still_there(room: ReadingRoom) -> None:
    rows = ask(
        room,
        "SELECT split_part(topic, '/', -1), subscription, msg_backlog, topic_backlog_size, size_share, believed_age_s,"
        " true_age_ms, age_share FROM backlog_now",
    )
    assert rows == [
        ("audit-log", "idle", 12, 600, None, 330, 330_000, 2.75),
        ("images-partition-1", None, None, 1000, 1.0, -1, None, None),
        ("orders", "billing", 382, 9600, 0.96, 300, 300_000, None),
        ("orders", "export", 0, 9600, 0.96, 300, 300_000, None),
        ("clicks", None, None, 0, None, 60, 60_000, 0.5),
    ]


def test_the_oldest_come_first_with_their_rank_in_the_topic(room: ReadingRoom) -> None:
    assert ask(room, "SELECT subscription, rank, age_ms, named_by_broker, msg_backlog FROM oldest_subscriptions") == [
        ("idle", 1, 330_000, True, 12),
        ("billing", 1, 300_000, True, 382),
    ]


def test_a_decision_shows_who_lost_what_and_whether_the_broker_did_the_same(room: ReadingRoom) -> None:
    assert ask(room, "SELECT quota_type, decided_by, subscription, entries_evicted, producers_closed, disagreement FROM evictions") == [
        ("size", "both", "billing", 60, 0, "none"),
        ("time", "rules", None, 0, 0, "broker_did_not_act"),
        ("time", "both", None, 0, 2, "none"),
    ]


def test_the_belief_gap_names_the_subscription_that_is_truly_oldest(room: ReadingRoom) -> None:
    rows = ask(
        room,
        "SELECT check_number, believed_age_ms, true_age_ms, gap_ms, believed_oldest, truly_oldest, names_right FROM broker_belief_gap"
        " WHERE gap_ms <> 0 OR NOT names_right",
    )
    assert (11, 60_000, 120_000, 60_000, "export", "billing", False) in rows


def test_the_waterfall_closes_and_a_cursor_opened_again_starts_anew(room: ReadingRoom) -> None:
    columns = "backlog_before, published, acknowledged, expired, evicted, sought, backlog_after"
    rows = ask(room, f"SELECT {seconds('from_time')}, step, {columns} FROM backlog_waterfall WHERE subscription = 'billing' ORDER BY step")
    assert [rows[0], rows[2], rows[3], rows[5]] == [
        (-60.0, 1, 5, 100, 20, 0, 0, 0, 85),
        (60.0, 3, 155, 100, 10, 10, 0, 0, 235),
        (120.0, 4, 235, 100, 30, 0, 0, 7, 312),
        (240.0, 6, 402, 60, 20, 0, 60, 0, 382),
    ]
    again = ask(
        room, f"SELECT {seconds('from_time')}, step, {columns} FROM backlog_waterfall WHERE subscription = 'export' AND check_number = 16"
    )
    assert again == [(150.0, 1, 40, 60, 90, 0, 0, 0, 10)]
    assert ask(room, "SELECT count(*), sum(abs(remainder)) FROM backlog_waterfall") == [(18, 0)]


def test_the_waterfall_between_two_instants_is_the_sum_of_its_steps(room: ReadingRoom) -> None:
    rows = ask(
        room,
        "SELECT min_by(backlog_before, step), sum(published - acknowledged - expired - evicted + sought), max_by(backlog_after, step)"
        " FROM backlog_waterfall WHERE subscription = 'billing'"
        " AND from_time >= TIMESTAMP '2026-01-05 03:01:00Z' AND to_time <= TIMESTAMP '2026-01-05 03:05:00Z'",
    )
    assert rows == [(155, 227, 382)]


def test_rates_say_who_catches_up_and_when(room: ReadingRoom) -> None:
    columns = (
        "check_number, over_s, publish_rate * 60, dispatch_rate * 60, ack_rate * 60, removed_rate * 60, growth_rate * 60, caught_up_in_s"
    )
    rows = ask(room, f"SELECT {columns} FROM subscription_rates WHERE subscription = 'billing' AND check_number IN (16, 26) ORDER BY 1")
    assert [tuple(value if value is None else round(value, 6) for value in row) for row in rows] == [
        (16, 60.0, 100.0, 60.0, 30.0, 0.0, 77.0, None),  # a seek brought 7 back
        (26, 60.0, 60.0, 40.0, 20.0, 60.0, -20.0, 382 * 3.0),
    ]
    newest = ask(room, "SELECT subscription, backlog_after, caught_up_in_s FROM subscription_rates WHERE newest ORDER BY subscription")
    assert newest == [("billing", 382, 382 * 3.0), ("export", 0, 0.0), ("idle", 12, None)]


def test_check_durations_say_whether_checks_keep_up(room: ReadingRoom) -> None:
    rows = ask(room, "SELECT checks_per_round, mean_ms, max_ms, over_5_s, interval_share FROM check_durations ORDER BY window_start")
    assert rows == [(5.0, 10.0, 20.0, 0, pytest.approx(0.02 / 60)), (5.0, 18_008.0, 90_000.0, 1, 1.5)]


EXTREMES = pytest.mark.parametrize(("limit", "expected"), [(0, [("size", 27, 27)]), (2**63 - 1, [("size", 27, 0), ("time", 27, 0)])])
BY_TYPE = "SELECT quota_type, count(*) AS n, count_if(exceeded) AS exceeded FROM quota_forecasts GROUP BY ALL ORDER BY 1"
TOLD = "SELECT count(deadline_at) AS deadlines, count(breach_at) AS breaches FROM quota_forecasts WHERE NOT exceeded"
SCORED = "SELECT count(*) AS n FROM quota_forecast_scores WHERE score NOT IN ('none', 'open')"


@EXTREMES
def test_the_least_and_the_largest_limits_do_not_break_the_forecast(
    filled_warehouse: Warehouse, limit: int, expected: list[tuple[Any, ...]]
) -> None:
    room = PlantedRoom(filled_warehouse)
    limits = ", ".join(f"{limit}::BIGINT AS backlog_quota_limit_{kind}" for kind in ("size", "time"))
    with room.planted("topic_backlog", f"SELECT * REPLACE ({limits}) FROM sound"):
        assert ask(room, BY_TYPE) == expected
        assert [ask(room, sql) for sql in (TOLD, SCORED)] == [[(0, 0)], [(0,)]]


@pytest.mark.slow(reason="Spark plans three views anew for each; by default the room asks them, and test_both_engines.py compares both")
@EXTREMES
def test_nor_do_they_in_spark(spark: SparkSession, filled_warehouse: Warehouse, limit: int, expected: list[tuple[Any, ...]]) -> None:
    session = spark.newSession()
    register_from_memory(session, filled_warehouse, FORECASTS)
    limits = {f"backlog_quota_limit_{kind}": F.lit(limit).cast("long") for kind in ("size", "time")}
    session.table("topic_backlog").withColumns(limits).createOrReplaceTempView("topic_backlog")
    register_views(session, named_in(FORECASTS))
    assert [*map(tuple, session.sql(BY_TYPE).collect())] == expected
    assert [tuple(session.sql(sql).first() or ()) for sql in (TOLD, SCORED)] == [(0, 0), (0,)]
