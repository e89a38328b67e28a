"""Every query and script in docs/guide/cookbook.md runs, and says something about the small warehouse."""

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from generators import views_page as page
from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS, all_names
from pipeline.warehouse.layout import Warehouse

PAGE = (Path(__file__).resolve().parents[2] / "docs/guide/cookbook.md").read_text(encoding="utf-8")
QUERIES = {
    int(number): (sql, reading.strip())
    for number, sql, reading in re.findall(r"^## (\d+)\. [^\n]*\n\n```sql\n(.*?)```\n\n(.*?)\n(?:\n|\Z)", PAGE, re.DOTALL | re.MULTILINE)
}
#: First row of each answer: the columns that carry it.
FIRST: dict[int, dict[str, Any]] = {
    1: {"subscription": "billing", "held_by": "topic", "throttled_s": 180.0},
    2: {"subscription": "billing", "level": "topic", "blocked_s": 95.0},
    3: {"subscription": "billing", "binding": 165, "nominal": 0, "most_waiting": 1200},
    4: {"reads": 5, "blocked_s": 0.0},
    5: {"subscription": "billing", "level": "topic", "by_messages": 165, "by_bytes": 0},
    7: {"level": "topic", "asks_binding": 55},
    8: {"level": "topic", "debt_s": 3.0},
    9: {"level": "topic", "compared": 330, "different": 6, "largest_difference": 4},
    10: {"subscription": "export", "rank": 1, "used_share": 0.9},
    11: {"tenant": "shop", "used": 3000, "blocked_s": 135.0},
    12: {"level": "topic", "msg_rate": 10, "sub": None},
    13: {"broker": "b4:8080", "lost_events": 100, "warehouse_balanced": True},
    14: {"ingest_balanced": True, "lanes_balanced": True, "rows_in": 12},
    16: {"kind": "lost", "from_seq": 6, "to_seq": 7},
    17: {"reason": "given_up", "events": 1},
    18: {"query": "lanes", "table_versions": {"dispatch_events": "1", "subscription_throttle": "1"}},
    19: {"subscription": "billing", "msg_backlog": 382, "published": 60, "acknowledged": 20, "held_by": "topic"},
    20: {"quota_type": "time", "breach_in_s": 0.0, "on_breach": "disconnect_producers"},
    21: {"loses_first": None, "quota_type": "size", "likely_in_s": 0.0},
    22: {"subscription": "idle", "age_s": 330.0, "rank": 1},
    23: {"subscription": "billing", "quota_type": "size", "rounds": 1, "entries": 60},
    24: {"quota_type": "time", "producers_closed": 2, "decided_by": "both"},
    25: {"quota_type": "time", "decided_by": "rules", "disagreement": "broker_did_not_act"},
    26: {"subscription": "billing", "before": 85, "published": 460, "evicted": 60, "sought": 7, "after": 382, "remainder": 0},
    27: {"subscription": "idle", "msg_backlog": 12, "ack_rate": 0.0, "caught_up_in_s": None},
    28: {"gap_ms": 60_000, "believed_oldest": "export", "truly_oldest": "billing", "names_right": False},
    29: {"quota_type": "size", "score": "hit", "forecasts": 4},
    30: {"max_ms": 90_000.0, "over_5_s": 1, "interval_share": 1.5},
    31: {"took_s": 8.0, "slowest": "work", "work_s": 7.2, "checkpoint_s": 0.2, "rows_in": 9000, "event_lag_s": 10.0, "run_id": "run-2"},
    32: {"same_code": True, "same_settings": False, "outcome": None, "query": "lanes", "ms_per_krow": 800.0, "least_waited_s": 0.5},
    33: {"topic": "persistent://shop/eu/audit-log", "age_share": 2.75, "size_share": None, "limit_s": 120},
    34: {"subscription": "idle", "rank": 1, "age_s": 330.0, "named_by_broker": True},
    35: {"partitioned_topic": "persistent://shop/eu/images", "partitions": 1, "partitions_unseen": 1, "worst_partition": 1, "skew": 1.0},
    36: {"partitioned_topic": "persistent://shop/eu/images", "age_s": -1, "pulsar_age_s": 0},
    37: {"partitioned_topic": "persistent://finance/eu/audit", "subscription": "stepped", "throttled_events": 7},
    38: {"cluster": "eu-1", "namespace": "shop/eu", "backlog_size": 11_200, "topics_exceeding": 1, "throttled_events": 165,
         "worst_topic": "persistent://shop/eu/orders", "worst_subscription": "billing"},
    39: {"cluster": "eu-1", "broker": "b1:8080", "quota_type": "size", "entries_evicted": 60},
    40: {"conn": 7, "paused_s": 80.0, "why": ["ConnectionOutboundBufferFull"], "producers": 2, "topics": 1, "unwritable": True},
    41: {"topic": "persistent://shop/eu/orders", "paused_s": 80.0, "publish_limited_times": 2, "connections": 1},
    42: {"write_buf_memory_used_bytes": 8_000_000, "exact": True, "known_s_ago": 1.0, "hour_max": 8_000_000, "connections_paused": 1},
    43: {"conn": None, "status": "growing", "bytes": 8_000_000, "growth_bytes_s": 100_000.0, "limit_bytes": None},
    44: {"connections": 2, "times_paused": 2, "times_unwritable": 2, "longest_unwritable_s": 60.0, "most_bytes": 8_000_000},
    45: {"subscription": "billing", "status": "held back", "level": "topic", "since_s": 180.0, "next_cause": "in_flight"},
    46: {"cause": "throttled", "level": "topic", "entry_s": 95_000.0},
    47: {"subscription": "billing", "answer": "no", "why": "throttled", "most_msgs_per_s": 10.0},
    48: {"subscription": "gone", "stuck_s": 55.0, "still": False},
    49: {"level": "topic", "debt": 30, "repaid_in_s": 3.0},
    50: {"level": "topic", "subscriptions": 2, "largest_subscription": "export", "largest_share": 0.9, "held_back": 1},
    51: {"subscription": "gone", "cause": "stuck", "lasted_s": 1.0},
    52: {"subscription": "billing", "level": "topic", "reads": 100, "granted_share": 0.3, "next_level": "broker", "next_share": 0.8},
    53: {"subscription": "idle", "waiting": 12, "current_at": None},
}  # fmt: skip


def test_the_page_has_at_least_ten_queries_and_no_sql_outside_of_them() -> None:
    assert len(QUERIES) >= 10
    assert PAGE.count("```sql") == len(QUERIES)
    assert list(QUERIES) == list(range(1, len(QUERIES) + 1))


def test_the_page_of_views_is_what_their_heads_say() -> None:
    assert page.DOCUMENT.read_text(encoding="utf-8") == page.render(), "run: python -m generators"


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_says_what_a_row_is_below_its_question(view: str) -> None:
    assert any("row" in line for line in page.explanation(view))


@pytest.fixture(scope="module")
def room(filled_warehouse: Warehouse) -> ReadingRoom:
    """The small warehouse without Spark; test_both_engines.py compares both engines."""
    return ReadingRoom(filled_warehouse)


@pytest.mark.parametrize("number", QUERIES)
def test_query_answers_and_is_explained(room: ReadingRoom, number: int) -> None:
    sql, reading = QUERIES[number]
    answer = room.ask(sql)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert rows
    expected = FIRST.get(number, {})
    for name, value in expected.items():
        found = rows[0][name]
        assert ({key: found[key] for key in value} if isinstance(value, dict) else found) == value
    assert reading.endswith(".")


def test_the_tables_are_read_without_spark(filled_warehouse: Warehouse, in_python: Any) -> None:
    said = in_python(script_of_the_page(), None, filled_warehouse.root)
    assert re.search(r"billing.*2026-01-05 03:00:00\+00.*135\.0", said)


def test_every_table_is_read_without_spark_though_it_has_checks(filled_warehouse: Warehouse, in_python: Any) -> None:
    code = script_of_the_page() + "for name in sys.argv[2:]: print(name, table(name).to_table().num_rows)\n"
    said = in_python(code, None, filled_warehouse.root, "subscription_throttle", "limiter_windows", "dispatch_events", "names")
    assert said.split("\n")[-5:-1] == ["subscription_throttle 14", "limiter_windows 6", "dispatch_events 16", "names 18"]


def script_of_the_page() -> str:
    return scripts_of_the_page()[0]


def scripts_of_the_page() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_a_session_of_spark_has_every_table_and_view_and_asks_them(
    spark: SparkSession, filled_warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    _, script = scripts_of_the_page()
    session = spark.newSession()
    told = {"spark": session}
    exec(script.replace("s3a://bucket/dispatch", filled_warehouse.root).replace("register(spark", "registered = register(spark"), told)
    assert "held_by" in capsys.readouterr().out
    assert told["registered"] == all_names()
    assert {row["viewName"] for row in session.sql("SHOW VIEWS").collect()} == set(all_names())
