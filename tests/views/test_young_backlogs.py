"""Who is behind, and who only works on what has come, from second to second. Rows by hand, of windows and checks of five seconds.

The live demo's `refunds#desk` had 20 entries a second, and acknowledged 12. In its second minute it was said to keep up, with 500 entries.
Whoever acknowledges many at once has steps in its backlog, and keeps up.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from views.conftest import EPOCH, THREE, write

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.words import text_lines
from pipeline.query.room import ReadingRoom
from pipeline.query.views.why_at import why_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.literals import instant
from pipeline.warehouse.tables import create_missing_tables

TOPIC = "persistent://real/incident/refunds"
STEP_S, UNTIL_S = 5, 500
COME_PER_S = 20
#: When somebody asks.
ASKED_S = (*range(STEP_S, 150, STEP_S), *range(160, 400, 20), *range(400, UNTIL_S + 1, 10))
Row = Mapping[str, Any]
#: Entries that are acknowledged until a second after the first one came.
Acknowledged = Callable[[float], float]

#: Subscription → what its consumers acknowledge of 20 entries a second.
CONSUMERS: dict[str, Acknowledged] = {
    "slow": lambda s: 12 * s,
    "nearly": lambda s: 19.4 * s,
    "an-eighth-less": lambda s: 17.5 * s,
    "hangs": lambda s: 20 * min(s, 100) - 10,
    "takes-15-s": lambda s: 20 * max(0, s - 15),
    "takes-2-s-and-stops": lambda s: 20 * max(0, min(s, 200) - 2),
    "each-15-s": lambda s: 20 * max(0, 15 * (s // 15) - 1),
    "each-20-s": lambda s: 20 * max(0, 20 * (s // 20) - 1),
    "each-30-s": lambda s: 20 * max(0, 30 * (s // 30) - 1),
    "long-then-stops": lambda s: 20 * max(0, min(s, 400) - 1),
    "long-then-slow": lambda s: 20 * (min(s, 400) - 1) + 12 * max(0, s - 400) if s > 1 else 0,
    "lets-expire": lambda s: 0,
}
#: Entries that expire, of those that nobody acknowledges in a minute.
EXPIRED: dict[str, Acknowledged] = {"lets-expire": lambda s: 20 * max(0, s - 60)}
#: The same, since when it is said to be behind: from one of these seconds on, and never before, to the end.
BEHIND_FROM_S: dict[str, tuple[int, int] | None] = {
    "slow": (35, 40),
    "nearly": None,
    "hangs": (105, 115),
    "takes-15-s": None,
    "takes-2-s-and-stops": (210, 220),
    "an-eighth-less": (60, 80),
    "each-15-s": None,
    "each-20-s": None,
    "each-30-s": None,
    "long-then-stops": (410, 430),
    "long-then-slow": (430, 460),
    "lets-expire": (35, 40),
}


def second(after_three: float) -> datetime:
    return THREE + timedelta(seconds=after_three)


def left(subscription: str, s: float) -> int:
    return round(COME_PER_S * s - CONSUMERS[subscription](s) - EXPIRED.get(subscription, lambda _: 0)(s))


def mean_left(subscription: str, begin_s: int) -> float:
    """Entries that are there in a window, on average."""
    return sum(left(subscription, begin_s + tenth * STEP_S / 10) for tenth in range(10)) / 10


def rows_of(subscription: str) -> Iterator[tuple[str, Row]]:
    """Its rows: all that came was delivered at once."""
    about = {"topic": TOPIC, "subscription": subscription}
    for number, s in enumerate(range(0, UNTIL_S, STEP_S)):
        end_s = s + STEP_S
        window = {"window_start": second(s), "window_end": second(end_s), "clock_segment": 0}
        ns = STEP_S * 10**9
        yield "subscription_causes", {
            **about, **window, "cause": "in_flight", "ns": ns, "backlog_ns": ns, "entry_us": round(mean_left(subscription, s) * ns / 1000),
            "first_at": second(s), "is_main": True, "main_since": second(0), "backlog_end": left(subscription, end_s),
        }  # fmt: skip
        yield "subscription_throttle", {
            **about, **window, "opened_at": THREE, "sub_type": "Shared", "dispatched_entries": COME_PER_S * STEP_S, "dispatched_msgs": 1,
        }  # fmt: skip
        checked = round(CONSUMERS[subscription](end_s))
        yield "subscription_backlog", {
            **about, "opened_at": THREE, "check_time": second(end_s - 1e-3), "check_number": number + 1, "durable": True,
            "msg_backlog": left(subscription, end_s), "in_flight_entries": left(subscription, end_s), "acknowledged_entries": checked,
            "published_entries": COME_PER_S * end_s, "cursor_kind": "subscription",
            "expired_entries": round(EXPIRED.get(subscription, lambda _: 0)(end_s)),
        }  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    return room_of(Warehouse(f"file:{tmp_path_factory.mktemp('young') / 'warehouse'}"), UNTIL_S)


def room_of(warehouse: Warehouse, until_s: int) -> ReadingRoom:
    """Of all consumers, until a second."""
    create_missing_tables(warehouse)
    tables: dict[str, list[Row]] = {}
    for subscription in CONSUMERS:
        for table, row in rows_of(subscription):
            if row.get("window_end", row.get("check_time")) <= second(until_s):
                tables.setdefault(table, []).append(row)
    tables["topic_backlog"] = [
        {"topic": TOPIC, "check_time": row["check_time"], "check_number": row["check_number"], "epoch": EPOCH}
        for row in tables["subscription_backlog"]
        if row["subscription"] == "slow"
    ]
    tables["broker_windows"] = [
        {"window_start": second(s), "window_end": second(s + STEP_S), "clock_segment": 0, "log_until": second(s + STEP_S), "events": 9}
        for s in range(0, until_s, STEP_S)
    ]
    for table, found in tables.items():
        write(warehouse, table, found)
    return ReadingRoom(warehouse)


@pytest.fixture(scope="module")
def statuses(room: ReadingRoom) -> dict[str, dict[int, str]]:
    """Subscription → second → status as of then."""
    found: dict[str, dict[int, str]] = {name: {} for name in CONSUMERS}
    for s in ASKED_S:
        for row in room.rows(why_at(f"epoch = {EPOCH}", instant(second(s)))):
            found[row["subscription"]][s] = row["status"]
    return found


@pytest.mark.parametrize("subscription", CONSUMERS)
def test_who_is_behind_is_so_from_soon_on_and_to_the_end(statuses: Mapping[str, Mapping[int, str]], subscription: str) -> None:
    behind = [s for s, status in statuses[subscription].items() if status == "unacknowledged"]
    others = {status for s, status in statuses[subscription].items() if s not in behind}
    assert others <= {"keeping up"}
    expected = BEHIND_FROM_S[subscription]
    if expected is None:
        assert not behind
        return
    first, last = expected
    assert behind, "never"
    assert first <= behind[0] <= last
    assert behind == [s for s in ASKED_S if s >= behind[0]], "it does not change its mind"


@pytest.mark.parametrize(
    ("subscription", "at_s", "pace"),
    [
        ("slow", 20, "more come than go; if that goes on, it is behind"),
        ("slow", 60, "it does not catch up at this rate"),
        ("nearly", 20, None),
        ("nearly", 300, None),
        ("takes-15-s", 200, None),
    ],
)
def test_the_pace_says_nothing_else_than_the_verdict(room: ReadingRoom, subscription: str, at_s: int, pace: str | None) -> None:
    document = answer(room, TOPIC, subscription, None, second(at_s), timedelta(minutes=1))
    (line,) = (line for line in text_lines(document) if line.startswith("pace"))
    after = line.partition("before the last check)")[2]
    assert after == ("" if pace is None else f": {pace}"), document["verdict"]


def test_consumers_that_acknowledge_too_little_are_not_told_to_restart(room: ReadingRoom) -> None:
    slow, hanging = (answer(room, TOPIC, name, None, second(360), timedelta(minutes=1)) for name in ("slow", "hangs"))
    assert "Its consumers acknowledge 12.0 entries/s, and 20.0 come. Speed its consumers up, or add some." in slow["advice"][0]["do"]
    assert not any("unload" in (step["command"] or "") for step in slow["advice"])
    assert "delivered and waits for acknowledgements" in hanging["advice"][0]["do"]
    assert any("unload" in (step["command"] or "") for step in hanging["advice"])


def test_more_consumers_help_where_acknowledgements_come_and_are_too_few(tmp_path: Any) -> None:
    room = room_of(Warehouse(f"file:{tmp_path / 'warehouse'}"), 120)
    found = {row["subscription"]: (row["answer"], row["why"]) for row in room.rows("SELECT * FROM more_consumers")}
    # One that stopped 20 s ago has acknowledged in the last half minute.
    helped = {"slow", "an-eighth-less", "hangs"}
    assert {name for name, answer in found.items() if answer == ("yes", "in_flight")} == helped
    assert {name for name, answer in found.items() if answer == ("no", "in_flight")} == set(CONSUMERS) - helped
