"""A topic that moves to another broker within a window, and a log that ends on the border of two: whose figures are those of the answer."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lane_rows import text_id
from views.conftest import THREE, write

from pipeline.diagnosis.answer import answer
from pipeline.query.room import ReadingRoom
from pipeline.query.views.why_at import why_sql
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

TOPIC, SUBSCRIPTION = "persistent://shop/eu/orders", "billing"
OLD, NEW = "b1:8080", "b2:8080"
MOVED_S = 310


def second(after_three: float) -> datetime:
    return THREE + timedelta(seconds=after_three)


def window_of(m: int) -> dict[str, Any]:
    return {"window_start": second(60 * m), "window_end": second(60 * m + 60), "clock_segment": 0}


def charged(broker: str, m: int, cause: str, end: int, first_s: float) -> dict[str, Any]:
    ns = round((60 * m + 60 - first_s) * 1e9)
    return {
        "broker": broker, "topic": TOPIC, "subscription": SUBSCRIPTION, **window_of(m), "cause": cause, "ns": ns, "backlog_ns": ns,
        "entry_us": end * ns // 1000, "first_at": second(first_s), "is_main": True, "main_since": second(first_s), "backlog_end": end,
        "waiting_end": end,
    }  # fmt: skip


def checked(broker: str, at_s: float, number: int, backlog: int) -> dict[str, list[dict[str, Any]]]:
    of = {"broker": broker, "topic": TOPIC, "check_time": second(at_s), "check_number": number}
    return {
        "topic_backlog": [of],
        "subscription_backlog": [{**of, "subscription": SUBSCRIPTION, "opened_at": THREE, "msg_backlog": backlog}],
    }


@pytest.fixture
def room(tmp_path: Path) -> ReadingRoom:
    """Well on b1, whose quota check at 300 s counted nothing, until it moves at 310 s; on b2 no consumer comes."""
    warehouse = Warehouse(f"file:{tmp_path / 'w'}")
    create_missing_tables(warehouse)
    served = {"broker": OLD, "topic": TOPIC, "subscription": SUBSCRIPTION, "opened_at": THREE, "dispatched_entries": 100}
    brokers = [(OLD, m) for m in range(6)] + [(NEW, m) for m in range(6)]
    tables: dict[str, list[dict[str, Any]]] = {
        "names": [{"id": text_id("b", broker), "level": "broker", "broker": broker} for broker in (OLD, NEW)],
        "broker_windows": [{**window_of(m), "broker": broker, "log_until": second(60 * m + 60), "events": 9} for broker, m in brokers],
        "subscription_throttle": [
            {**served, **window_of(m), **({"closed_at": second(MOVED_S)} if m == 5 else {})} for m in range(6)
        ],
        "subscription_causes": [
            {**charged(OLD, 5, "in_flight", 0, 300.5), "ns": 10**9, "backlog_ns": 10**9},
            charged(NEW, 5, "no_consumer", 994, MOVED_S + 1),
        ],
        **checked(OLD, 300, 5, 0),
    }  # fmt: skip
    for table, rows in tables.items():
        write(warehouse, table, rows)
    return ReadingRoom(warehouse)


@pytest.mark.parametrize("at_s", [None, 320, 359])
def test_explain_answers_from_the_broker_that_has_the_topic(room: ReadingRoom, at_s: float | None) -> None:
    found = answer(room, TOPIC, SUBSCRIPTION, None, None if at_s is None else second(at_s), timedelta(minutes=10))
    assert (found["broker"], found["status"], found["backlog"]) == (NEW, "no consumer", 994)
    before = answer(room, TOPIC, SUBSCRIPTION, None, second(299), timedelta(minutes=10))
    assert before["broker"] == OLD


@pytest.mark.parametrize("at_s", [None, 359])
def test_a_check_of_before_the_end_proves_nothing(room: ReadingRoom, at_s: float | None) -> None:
    rows = {row["broker"]: row for row in room.rows(why_sql(None if at_s is None else second(at_s)))}
    assert (rows[OLD]["status"], rows[OLD]["unknown_reason"]) == ("unknown", "not_checked")
    assert rows[NEW]["status"] == "no consumer"


def test_a_window_without_time_in_it_is_not_the_newest(room: ReadingRoom) -> None:
    """The last event of the log lies on its begin."""
    write(room.warehouse, "broker_windows", [{**window_of(6), "broker": NEW, "log_until": second(360), "events": 1}])
    room.refresh()
    for at_s in (None, 361):
        (row,) = (row for row in room.rows(why_sql(None if at_s is None else second(at_s))) if row["broker"] == NEW)
        assert (row["status"], row["backlog"], row["as_of"]) == ("no consumer", 994, second(360))
    found = answer(room, TOPIC, SUBSCRIPTION, None, None, timedelta(minutes=10))
    assert (found["status"], found["backlog"]) == ("no consumer", 994)
