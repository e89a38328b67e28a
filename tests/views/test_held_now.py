"""The view `why` between two windows: another cause holds since the newest window, as cause_transitions has it. No Spark."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from lane_rows import text_id
from views.conftest import EPOCH, THREE, write

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.diagnosis.words import text_lines
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
    "drained": (("no_consumer", 9), [changed("drained", 3, 50, "no_permits", 5)], ("slow consumers", "no_permits", 50, 60, 9)),
    # At the end of a log that is drained its clients leave.
    "drained-left": (("no_permits", 9), [changed("drained-left", 3, 50, "no_consumer", 5)], ("slow consumers", "no_permits", 0, 60, 9)),
    "started-alone": (None, [changed("started-alone", 7, 70, "no_consumer", 80)], ("no consumer", "no_consumer", 70, 72, 80)),
    "started-held": (
        None, [changed("started-held", 7, 70, "throttled", 80, level="topic", dimension="msg")], ("held back", "throttled", 70, 72, 80),
    ),
    "started-well": (None, [changed("started-well", 7, 70, "in_flight", 5)], ("keeping up", "in_flight", 70, 72, 5)),
    "started-long": (
        None, [changed("started-long", 7, 65, "no_permits", 50), changed("started-long", 8, 100, "in_flight", 50)],
        ("unacknowledged", "in_flight", 100, 102, 50),
    ),
    "started-again": (
        None,
        [
            changed("started-again", 7, 65, "no_permits", 50), changed("started-again", 8, 70, None),
            changed("started-again", 9, 100, "in_flight", 5),
        ],
        ("keeping up", "in_flight", 100, 102, 5),
    ),
    "started-free": (
        None, [changed("started-free", 7, 65, "no_permits", 50), changed("started-free", 8, 70, None)], ("current", None, 70, 72, 0),
    ),
    "started-unknown": (
        None, [changed("started-unknown", 7, 70, "unknown", 5, unknown_reason="beginning_not_seen", complete=False)],
        ("unknown", "unknown", 70, 72, 5),
    ),
}  # fmt: skip
#: Newest event of the brokers that micro-batches of this version tell of.
KNOWN_UNTIL_S = {"b1:8080": 75, "b3:8080": 110}
#: Figures of windows alone.
OF_WINDOWS = ("share", "time_share", "next_cause", "next_share", "backlog_s", "pace_per_s", "checked_at", "completeness")

#: The life of b3 before this one.
BEFORE: Row = {"broker": "b3:8080", "epoch": EPOCH - 1}


def broker_of(case: str) -> str:
    return "b2:8080" if case.startswith("drained") else "b3:8080" if case.startswith("started") else "b1:8080"


def reached() -> list[dict[str, Any]]:
    return [{"broker_id": text_id("b", name), "epoch": EPOCH, "at": second(at_s)} for name, at_s in KNOWN_UNTIL_S.items()]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Cases on b1, whose log goes on; on b2, whose log was drained; on b3, which has just started again."""
    warehouse = Warehouse(f"file:{tmp_path_factory.mktemp('now') / 'warehouse'}")
    create_missing_tables(warehouse)
    window = {"window_start": THREE, "window_end": second(WINDOW_END_S), "log_until": second(WINDOW_END_S), "clock_segment": 0, "events": 9}
    tables: dict[str, list[Row]] = {
        "broker_windows": [window, {**window, "broker": "b2:8080"}, {**window, **BEFORE}],
        "subscription_causes": [{**charged("before", "no_consumer", 9), **BEFORE}],
        "batch_manifest": [{"query": "lanes", "table_versions": {"names": "1"}, "newest_events": reached()}],
        "lane_snapshots": [{"broker": "b2:8080", "milestone": "drained", "next_seq": 9, "state": b""}],
        "names": [{"id": text_id("b", broker), "level": "broker", "broker": broker} for broker in ("b1:8080", "b2:8080", "b3:8080")],
    }
    for name, (main, changes, _) in CASES.items():
        of_broker = {"broker": broker_of(name)}
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


def test_a_row_tells_up_to_when_a_change_would_be_known(room: ReadingRoom) -> None:
    until = {row["broker"]: row["known_until"] for row in rows_of(room, None).values()}
    assert until == {"b1:8080": second(75), "b2:8080": second(WINDOW_END_S), "b3:8080": second(110)}


def test_of_a_broker_that_has_just_started_changes_alone_are_known(room: ReadingRoom) -> None:
    rows = [row for row in rows_of(room, None).values() if row["broker"] == "b3:8080"]
    assert sorted(row["subscription"] for row in rows) == sorted(name for name in CASES if name.startswith("started"))
    assert {row[name] for row in rows for name in OF_WINDOWS} == {None}
    assert {row["epoch"] for row in rows} == {EPOCH}
    lasts = {row["subscription"]: row["lasts_s"] for row in rows}
    assert (lasts["started-long"], lasts["started-again"], lasts["started-free"]) == (37, 2, None), "from a change without a backlog on"


def test_the_newest_events_are_those_of_the_newest_epoch(room: ReadingRoom) -> None:
    rows = room.rows("SELECT broker, epoch, as_of, window_start, window_as_of FROM newest_events ORDER BY broker")
    assert [tuple(row.values()) for row in rows] == [
        ("b1:8080", EPOCH, second(75), THREE, second(60)),
        ("b2:8080", EPOCH, second(60), THREE, second(60)),
        ("b3:8080", EPOCH, second(110), None, None),
    ]


def test_of_an_instant_of_the_past_its_window_tells_and_changes_until_its_end(room: ReadingRoom) -> None:
    before = rows_of(room, second(59))
    mains = {name: main[0] for name, (main, _, _) in CASES.items() if main}
    changes = {"in-the-window": "no_consumer", "drained": "no_permits", "before": "no_consumer"}
    assert {name: row["cause"] for name, row in before.items()} == {**mains, **changes}
    assert (before["in-the-window"]["since"], before["in-the-window"]["status"]) == (second(50), "no consumer")
    assert all(row["as_of"] == second(WINDOW_END_S) for row in before.values())


#: What `explain` says of subscriptions that no window has: a part of the verdict, of the first advice, and how sure it is.
EXPLAINED = {
    "started-alone": ("behind by 80 entries at 2026-01-05T03:01:12Z: no consumer. Since", "Start its consumers", "medium"),
    "started-held": ("held back. Since 2026-01-05T03:01:10Z it is the topic's limiter", "The next finished window", "medium"),
    "started-unknown": ("a cause that is not known (the log begins after the subscription)", "The log begins after", "low"),
    "new": ("behind by 8,000 entries at 2026-01-05T03:01:12Z: held back. Since", "The next finished window", "medium"),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPLAINED)
def test_explain_tells_of_a_subscription_that_no_window_has(room: ReadingRoom, case: str) -> None:
    verdict, advice, confidence = EXPLAINED[case]
    document = answer(room, TOPIC, case, None, None, timedelta(minutes=10))
    assert verdict in document["verdict"]
    assert advice in document["advice"][0]["do"]
    assert (document["behind"], document["confidence"], document["cause"], document["share"]) == (True, confidence, None, None)
    assert ("first_window" in document["missing"]) == case.startswith("started")
    assert "limits          none that is known" in [*text_lines(document)]


def test_of_an_instant_before_the_first_window_is_over_there_is_no_answer(room: ReadingRoom) -> None:
    with pytest.raises(NoAnswer, match="is in the log"):
        answer(room, TOPIC, "started-alone", None, second(80), timedelta(minutes=10))
