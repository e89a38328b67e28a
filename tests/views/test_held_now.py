"""The view `why` between two windows: another cause holds since the newest window, as cause_transitions has it. No Spark."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from lane_rows import text_id
from views.conftest import THREE, write

from pipeline.query.room import ReadingRoom
from pipeline.query.views.why_at import why_sql
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

TOPIC = "persistent://shop/eu/orders"
#: End of the only finished window.
WINDOW_END_S = 60
Row = Mapping[str, Any]


def second(after_three: float) -> datetime:
    return THREE + timedelta(seconds=after_three)


def charged(subscription: str, cause: str, end: int, **more: Any) -> Row:
    """The finished window, in which it had a backlog all the time."""
    ns = WINDOW_END_S * 10**9
    return {
        "topic": TOPIC, "subscription": subscription, "window_start": THREE, "window_end": second(WINDOW_END_S), "clock_segment": 0,
        "cause": cause, "ns": ns, "backlog_ns": ns, "entry_us": end * ns // 1000, "first_at": THREE, "is_main": True, "main_since": THREE,
        "backlog_end": end, "waiting_end": end, **more,
    }  # fmt: skip


def changed(subscription: str, seq: int, since_s: float, cause: str | None, backlog: int = 0, **more: Any) -> Row:
    return {
        "topic": TOPIC, "subscription": subscription, "seq": seq, "noticed_at": second(since_s + 2), "cause": cause,
        "since": second(since_s), "backlog": backlog, "waiting": backlog, "open": True, **more,
    }  # fmt: skip


#: Subscription → its main cause of the window, with the backlog at its end; its changes; of the row of `why` the status, the cause, since
#: when, as of when, the backlog.
CASES: dict[str, tuple[tuple[str, int] | None, list[Row], tuple[Any, ...]]] = {
    "left-alone": (("in_flight", 9), [changed("left-alone", 7, 70, "no_consumer", 80)], ("no consumer", "no_consumer", 70, 72, 80)),
    "new": (None, [changed("new", 7, 70, "throttled", 8_000, level="topic", dimension="msg")], ("held back", "throttled", 70, 72, 8_000)),
    "well-again": (("no_consumer", 900), [changed("well-again", 7, 70, None)], ("current", None, 70, 72, 0)),
    "unloaded": (("no_consumer", 900), [changed("unloaded", 7, 70, None, open=False)], ("unknown", None, 70, 72, 0)),
    "twice": (
        ("in_flight", 9), [changed("twice", 7, 65, "no_permits", 50), changed("twice", 8, 70, "no_consumer", 80)],
        ("no consumer", "no_consumer", 70, 72, 80),
    ),
    "in-the-window": (("in_flight", 9), [changed("in-the-window", 3, 50, "no_consumer", 5)], ("no consumer", "no_consumer", 50, 60, 9)),
    "the-same": (("no_consumer", 9), [changed("the-same", 1, -60, "no_consumer", 5)], ("no consumer", "no_consumer", 0, 60, 9)),
    "drained": (("no_consumer", 9), [changed("drained", 3, 50, "no_permits", 5)], ("no consumer", "no_consumer", 0, 60, 9)),
}  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """All cases on b1, whose log goes on; the last one on b2, whose log was drained."""
    warehouse = Warehouse(f"file:{tmp_path_factory.mktemp('now') / 'warehouse'}")
    create_missing_tables(warehouse)
    window = {"window_start": THREE, "window_end": second(WINDOW_END_S), "log_until": second(WINDOW_END_S), "clock_segment": 0, "events": 9}
    tables: dict[str, list[Row]] = {
        "broker_windows": [window, {**window, "broker": "b2:8080"}],
        "lane_snapshots": [{"broker": "b2:8080", "mark": "drained", "next_seq": 9, "state": b""}],
        "names": [{"id": text_id("b", broker), "level": "broker", "broker": broker} for broker in ("b1:8080", "b2:8080")],
    }
    for name, (main, changes, _) in CASES.items():
        of_broker = {"broker": "b2:8080"} if name == "drained" else {}
        if main is not None:
            tables.setdefault("subscription_causes", []).append({**charged(name, *main), **of_broker})
        tables.setdefault("cause_transitions", []).extend({**change, **of_broker} for change in changes)
    for table, rows in tables.items():
        write(warehouse, table, rows)
    return ReadingRoom(warehouse)


def rows_of(room: ReadingRoom, at: datetime | None) -> dict[str, Row]:
    return {row["subscription"]: row for row in room.rows(why_sql(at))}


@pytest.mark.parametrize("case", CASES)
def test_the_last_change_counts(room: ReadingRoom, case: str) -> None:
    status, cause, since_s, as_of_s, backlog = CASES[case][2]
    row = rows_of(room, None)[case]
    assert (row["status"], row["cause"], row["since"], row["as_of"], row["backlog"]) == (
        status, cause, second(since_s), second(as_of_s), backlog,
    )  # fmt: skip


def test_the_longest_backlog_comes_first_also_where_no_window_has_it(room: ReadingRoom) -> None:
    assert [*rows_of(room, None)][:3] == ["unloaded", "well-again", "new"]


def test_of_an_instant_of_the_past_its_window_tells(room: ReadingRoom) -> None:
    before = rows_of(room, second(59))
    assert {name: row["cause"] for name, row in before.items()} == {name: main[0] for name, (main, _, _) in CASES.items() if main}
    assert all(row["as_of"] == second(WINDOW_END_S) for row in before.values())
