"""What each view says about the small warehouse of conftest.py."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlglot import exp
from views_from_memory import register_from_memory

from pipeline.faults import BadWarehouse
from pipeline.query.dialect import parsed
from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS, all_names, named_in, question, sql_of
from pipeline.query.views.register import register
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables import TABLES


def ask(room: ReadingRoom, sql: str) -> list[dict[str, Any]]:
    return room.rows(sql)


def one(room: ReadingRoom, sql: str) -> dict[str, Any]:
    rows = ask(room, sql)
    assert len(rows) == 1
    return rows[0]


def at(hour: int, minute: int) -> int:
    """Microseconds since 1970: independent of the time zone in which Python shows timestamps."""
    return int(datetime(2026, 1, 5, hour, minute, tzinfo=UTC).timestamp()) * 10**6


@pytest.fixture(scope="module")
def now(room: ReadingRoom) -> dict[str, dict[str, Any]]:
    """throttled_now by subscription, in its own order; times as microseconds."""
    times = ", ".join(f"unix_micros({name}) AS {name}_us" for name in ("since", "as_of", "last_window_end"))
    return {row["subscription"]: row for row in ask(room, f"SELECT *, {times} FROM throttled_now")}


def test_every_open_dispatcher_has_one_state_and_the_worst_comes_first(now: dict[str, dict[str, Any]]) -> None:
    assert list(now)[:2] == ["billing", "report"]
    assert {subscription: row["state"] for subscription, row in now.items()} == {
        "billing": "held back", "report": "nominal", "export": "free", "stepped": "free", "idle": "idle",
    }  # fmt: skip


def test_what_is_held_back_names_its_limiter_and_how_long_it_lasts(now: dict[str, dict[str, Any]]) -> None:
    row = now["billing"]
    assert (row["held_by"], row["dimension"], row["limit_rate"], row["limit_period_s"]) == ("topic", "msg", 10, 1.0)
    assert (row["blocked_s"], row["throttled_s"], row["run_blocked_s"]) == (50.0, 180.0, 135.0)
    assert (row["waiting_entries"], row["limiter_debt"]) == (1200, 30)
    assert row["since_us"] == at(3, 0)


def test_nominal_throttling_is_told_apart_and_names_its_limit(now: dict[str, dict[str, Any]]) -> None:
    row = now["report"]
    assert (row["held_by"], row["dimension"], row["limit_rate"], row["blocked_s"]) == ("subscription", "bytes", 4096, 0.0)


def test_a_minute_in_which_nothing_happened_ends_the_run(now: dict[str, dict[str, Any]]) -> None:
    assert (now["report"]["since_us"], now["report"]["throttled_s"]) == (at(3, 2), 60.0)


def test_an_idle_dispatcher_is_not_said_to_be_held(now: dict[str, dict[str, Any]]) -> None:
    row = now["idle"]
    assert (row["held_by"], row["since"], row["blocked_s"]) == (None, None, 0.0)
    assert row["as_of_us"] == at(3, 3)


def test_a_dispatcher_whose_last_row_is_closed_is_closed_though_earlier_rows_are_not(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM subscription_totals WHERE subscription = 'gone'")
    assert (row["open"], row["windows"], row["reads"], row["blocked_s"], row["reads_blocked"]) == (False, 2, 10, 2.0, 2)


def test_after_the_clock_was_set_back_the_later_segment_is_the_latest(room: ReadingRoom, now: dict[str, dict[str, Any]]) -> None:
    row = one(room, "SELECT * FROM subscription_totals WHERE subscription = 'stepped'")
    assert row["dispatch_throttled_msg_events_by_broker_limit_since_open"] == 7
    assert now["stepped"]["last_window_end_us"] == at(3, 1)


def test_totals_take_counters_from_the_last_window_and_sum_the_rest(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM subscription_totals WHERE subscription = 'billing'")
    assert row["dispatch_throttled_msg_events_by_topic_limit_since_open"] == 165
    assert (row["reads"], row["blocked_s"], row["dispatched_msgs"], row["completeness"]) == (185, 135.0, 350, 0.5)


def test_throttle_by_limiter_has_a_row_only_for_levels_that_did_something(room: ReadingRoom) -> None:
    rows = ask(room, "SELECT * FROM throttle_by_limiter WHERE subscription = 'billing' ORDER BY window_start")
    assert [r["level"] for r in rows] == ["topic", "topic", "topic"]
    assert [r["blocked_s"] for r in rows] == [40.0, 45.0, 50.0]
    assert rows[2]["blocked_share"] == pytest.approx(50 / 60)
    assert (rows[2]["msg_events"], rows[2]["reads_blocked"], rows[2]["decisive_msg"]) == (55, 45, 55)
    assert (rows[2]["subscription_reads_binding"], rows[2]["subscription_reads_nominal"]) == (55, 0)


def test_limiter_use_is_the_share_of_what_the_rate_allows(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM limiter_use WHERE level = 'topic' AND limiter = 'token_bucket' ORDER BY window_start LIMIT 1")
    assert (row["active_s"], row["allowed"]) == (60.0, 600.0)
    assert row["used_share"] == pytest.approx(1000 / 600)
    assert (row["over_delivered_share"], row["debt_s"]) == (0.25, 3.0)
    assert row["agreement"] == pytest.approx(108 / 110)


def test_a_limiter_that_ended_in_its_window_is_measured_over_its_life(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM limiter_use WHERE limiter = 'classic'")
    assert (row["active_s"], row["allowed"], row["used_share"], row["agreement"]) == (30.0, 75.0, 1.0, None)


def test_the_largest_rate_there_is_does_not_overflow(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM limiter_use WHERE level = 'broker'")
    assert row["allowed"] == pytest.approx(2**63 / 60)
    assert row["used_share"] == pytest.approx(30.0)


def test_noisy_neighbours_ranks_users_of_the_binding_limiter_and_shows_victims(room: ReadingRoom) -> None:
    rows = ask(room, "SELECT * FROM noisy_neighbours ORDER BY window_start, rank")
    assert [(r["subscription"], r["rank"]) for r in rows] == [("export", 1), ("billing", 2)] * 3
    assert [(r["used"], r["used_share"], r["own_blocked_s"]) for r in rows[:2]] == [(900, 0.9, 0.0), (100, 0.1, 40.0)]
    assert {(r["level"], r["limiter_topic"], r["limiter_used"]) for r in rows} == {("topic", "persistent://shop/eu/orders", 1000)}


def test_log_health_accounts_for_every_row_of_an_epoch(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM log_health WHERE broker = 'b1:8080'")
    assert row["rows_in"] == row["events"] + row["duplicates"] + row["late"] + row["quarantined"] == 10
    assert (row["events"], row["duplicates"], row["late"], row["quarantined"]) == (7, 1, 1, 1)
    assert (row["last_seq"], row["awaited"], row["lost_events"], row["lost_ranges"]) == (11, 1, 2, 1)
    assert (row["completeness_min"], row["windows_incomplete"]) == (0.5, 1)


def test_log_health_of_a_whole_log_shows_only_the_clock(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM log_health WHERE broker = 'b2:8080'")
    assert (row["rows_in"], row["events"], row["duplicates"], row["awaited"], row["lost_events"], row["late"]) == (2, 2, 0, 0, 0, 0)
    assert (row["clock_steps"], row["largest_clock_step_s"], row["completeness_min"]) == (1, -3600.0, 1.0)


def test_log_health_does_not_miss_what_was_deleted_with_an_old_date(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM log_health WHERE broker = 'b3:8080'")
    assert (row["rows_in"], row["events"], row["last_seq"], row["awaited"], row["lost_events"]) == (3, 3, 104, 1, 0)


def test_log_health_tells_of_a_lost_beginning_also_where_no_event_of_that_date_is(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM log_health WHERE broker = 'b4:8080'")
    assert (row["rows_in"], row["events"], row["last_seq"]) == (2, 2, 102)
    assert (row["lost_events"], row["lost_ranges"], row["awaited"], row["clock_steps"]) == (100, 1, 0, 0)


def test_a_broker_whose_start_is_gone_belongs_to_the_only_cluster_that_others_name(room: ReadingRoom) -> None:
    rows = ask(room, "SELECT broker, cluster, version, started_epoch FROM brokers ORDER BY broker")
    assert [(row["cluster"], row["version"]) for row in rows] == [("eu-1", "4.0.8"), *[("eu-1", None)] * 3]
    assert [row["started_epoch"] is None for row in rows] == [False, True, True, True]


def test_log_balance_adds_up_both_equations(room: ReadingRoom) -> None:
    row = one(room, "SELECT * FROM log_balance")
    assert (row["ingest_balanced"], row["lanes_balanced"], row["lanes_behind"], row["held"]) == (True, True, 0, 1)
    assert row["lines_in"] == 13


def test_every_view_works_on_empty_tables(empty_warehouse: Warehouse) -> None:
    room = ReadingRoom(empty_warehouse)
    counts = {view: len(room.ask(f"SELECT * FROM {view}").rows) for view in VIEWS}
    assert counts == {view: 1 if view == "log_balance" else 0 for view in VIEWS}
    (balance,) = room.rows("SELECT * FROM log_balance")
    assert (balance["ingest_balanced"], balance["lanes_balanced"]) == (True, True)


@pytest.mark.slow(reason="Spark plans every view once more; by default the room runs them on empty tables, Spark on small ones")
def test_every_view_works_on_empty_tables_in_spark(spark: SparkSession, empty_warehouse: Warehouse) -> None:
    session = spark.newSession()
    register_from_memory(session, empty_warehouse)
    counts = {view: session.table(view).count() for view in VIEWS}
    assert counts == {view: 1 if view == "log_balance" else 0 for view in VIEWS}
    (balance,) = session.sql("SELECT * FROM log_balance").collect()
    assert (balance["ingest_balanced"], balance["lanes_balanced"]) == (True, True)


def test_the_names_are_every_table_and_every_view_file(repository: Path) -> None:
    """test_cookbook.py registers them in a session of Spark."""
    files = {path.stem for path in (repository / "pipeline/query/views").glob("*.sql")}
    assert files == set(VIEWS)
    assert all_names() == [*(t.name for t in TABLES), *VIEWS]


def test_a_statement_names_what_its_views_are_made_of() -> None:
    made_of = ["quarantine_replays", "lane_control", "batch_manifest"]
    assert named_in("SELECT 'names_' FROM Log_Balance b") == [*made_of, "log_balance"]
    assert named_in("SHOW VIEWS") == []
    for view in VIEWS:
        named = named_in(view)
        assert view in named
        assert named == named_in(" ".join(named)), "whatever one of them needs is there"


@pytest.mark.parametrize("view", VIEWS)
def test_no_part_of_a_view_has_the_name_of_a_table_or_view(view: str) -> None:
    """Whoever makes the view ready would make that one ready, too: the view `brokers` takes a look at all of dispatch_events."""
    (statement,) = parsed(sql_of(view))
    assert {part.alias.lower() for part in statement.find_all(exp.CTE)} & set(all_names()) == set()


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_question_it_answers(view: str) -> None:
    assert "?" in question(view)


def test_registered_tables_of_a_uri_show_what_is_written_later(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path.as_uri())
    session = spark.newSession()
    create_missing_tables(warehouse)
    assert register(session, warehouse, statement="SELECT * FROM Names") == ["names"]
    assert session.table("names").count() == 0
    spark.sql(f"INSERT INTO delta.`{warehouse.table('names')}` VALUES (1, 'broker', 'b1:8080', NULL, NULL)")
    assert session.table("names").count() == 1


def test_a_folder_without_tables_is_refused_with_the_command_that_makes_them(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadWarehouse, match=r"no table dispatch_events in .*spark-submit.sh stream"):
        register(spark, Warehouse(str(tmp_path)))


def test_views_are_found_inside_a_zip(repository: Path, tmp_path: Path, in_python: Any) -> None:
    archive = tmp_path / "code.zip"
    with zipfile.ZipFile(archive, "w") as code:
        for package in ("pipeline", "schemas"):
            for path in (repository / package).rglob("*"):
                if path.suffix in (".py", ".sql"):
                    code.write(path, str(path.relative_to(repository)))
    said = in_python(
        "from pipeline.query.views import catalog; print(catalog.__file__); print(len(catalog.sql_of('throttled_now')) > 0)", archive
    )
    assert said.splitlines()[0].startswith(str(archive))
    assert said.splitlines()[1] == "True"
