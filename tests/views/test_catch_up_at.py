"""The forecast at the last check before an instant, of few checks: it is the row that the view `catch_up_forecasts` has, of all checks."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from captured_warehouse import append_plain

from pipeline.query.room import ReadingRoom
from pipeline.query.views.catch_up_at import catch_up_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

START = datetime(2026, 1, 5, 3, tzinfo=UTC)
BROKER = {"broker": "b1", "epoch": 1}
OF_EPOCH = "broker = 'b1' AND epoch = 1"
#: Topics by name: of which minute on it is on the broker, until which, and the minute at which a consumer opens its cursor again.
TOPICS = {"orders": (0, 100, 97), "audit": (0, 100, None), "moved": (0, 70, None), "young": (95, 100, None)}
#: Each step between checks, in seconds, in turn.
EVERY_S = {
    "a minute": (60,),
    "twelve seconds": (12,),
    "a quarter of an hour": (900,),
    "a pause": (60,) * 40 + (4_000,),
    "set back": (60,) * 88 + (-1_800,),
}
FORESEEN = "current_at, current_from, current_to, most_entries_per_s, soonest_at, allowed, outpaced, shut_out"


def rounds(every_s: tuple[int, ...]) -> list[datetime]:
    """When each round of checks begins."""
    steps = [0, *(every_s[n % len(every_s)] for n in range(99))]
    return [START + timedelta(seconds=sum(steps[: n + 1])) for n in range(len(steps))]


def walked(seed: int, every_s: tuple[int, ...]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each check of a topic with the rows of its two subscriptions: as much comes and goes as chance will have it, and it turns."""
    chance = Random(seed)
    counts = {(topic, name): {"left": 3_000, "came": 0, "gone": 0, "opened_at": START - timedelta(minutes=1)}
              for topic in TOPICS for name in ("billing", "export")}  # fmt: skip
    for n, at in enumerate(rounds(every_s)):
        for place, (topic, (begin, end, reopened)) in enumerate(TOPICS.items()):
            if not begin <= n < end:
                continue
            check = {**BROKER, "topic": topic, "check_time": at + timedelta(seconds=place), "check_number": 4 * n + place + 1}
            if reopened == n:
                counts[topic, "billing"] |= {"came": 0, "gone": 0, "opened_at": at}
            for name in ("billing", "export"):
                step(counts[topic, name], chance.randrange(200), chance.randrange(500 if n // 20 % 2 else 90))
            held = {"check_source": "log", "policy_size": "producer_request_hold", "decision": chance.choice(["size", *["none"] * 9])}
            yield {**check, **held}, [row(check, name, counts[topic, name]) for name in ("billing", "export")]


def step(counts: dict[str, Any], came: int, most: int) -> None:
    """As many go as may, of those that are left."""
    gone = min(counts["left"], most)
    counts |= {"left": counts["left"] + came - gone, "came": counts["came"] + came, "gone": counts["gone"] + gone}


def row(check: dict[str, Any], name: str, counts: dict[str, Any]) -> dict[str, Any]:
    """Of subscription_backlog: entries of 100 bytes and two messages."""
    return {**check, "subscription": name, "opened_at": counts["opened_at"], "durable": True, "complete": True, "in_flight_entries": 7,
            "msg_backlog": counts["left"], "backlog_size": 100 * counts["left"], "published_entries": counts["came"],
            "acknowledged_entries": counts["gone"],
            "dispatched_entries": counts["gone"], "dispatched_msgs": 2 * counts["gone"]}  # fmt: skip


def micros(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value.timestamp() * 1e6) if isinstance(value, datetime) else value for name, value in row.items()}


@pytest.fixture(scope="module", params=EVERY_S)
def checked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[ReadingRoom, list[datetime]]:
    """A broker with a limit that all share. Also the times of its checks, in their order."""
    warehouse = Warehouse(f"file:{tmp_path_factory.mktemp('checked')}")
    create_missing_tables(warehouse)
    walk = list(walked(7, EVERY_S[request.param]))
    append_plain(warehouse, "topic_backlog", [micros(check) for check, _ in walk])
    append_plain(warehouse, "subscription_backlog", [micros(row) for _, rows in walk for row in rows])
    limit = {
        **BROKER,
        "seen_seq": 1,
        "seen_at": START - timedelta(minutes=1),
        "in_force": True,
        "msg_rate": 10,
        "byte_rate": 0,
        "period_s": 1,
    }
    limits = [{**limit, "limit_kind": "broker_dispatch_rate", "set_by": "broker_config", "applied_msg_rate": 10, "topic": None},
              {**limit, "limit_kind": "topic_dispatch_rate", "set_by": "namespace", "msg_rate": 9, "topic": "orders"}]  # fmt: skip
    append_plain(warehouse, "policies", [micros(one) for one in limits])
    return ReadingRoom(warehouse), [check["check_time"] for check, _ in walk]


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times in seconds."""
    found = ((name, row[name]) for name in FORESEEN.split(", "))
    return {name: value.timestamp() if isinstance(value, datetime) else value for name, value in found}


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Sums of fractions differ in their last digits by the rows that they begin with."""
    return {name: pytest.approx(value, rel=1e-12, abs=1e-5) if isinstance(value, float) else value for name, value in row.items()}


def of_subscription(row: dict[str, Any]) -> tuple[str, str]:
    return row["topic"], row["subscription"]


@pytest.mark.parametrize("topics", [("orders", "young"), ("audit", "moved")], ids="+".join)
def test_it_is_the_row_of_the_view(checked: tuple[ReadingRoom, list[datetime]], topics: tuple[str, ...]) -> None:
    room, times = checked
    here = f"{OF_EPOCH} AND topic IN ({', '.join(repr(topic) for topic in topics)})"
    of_view = {(*of_subscription(row), row["check_number"]): row for row in room.rows(f"SELECT * FROM catch_up_forecasts WHERE {here}")}
    rates = room.rows(f"SELECT topic, subscription, check_number, to_time FROM subscription_rates WHERE {here} ORDER BY check_number")
    known = set()
    for end in (times[1], times[50], times[-9], times[-1]):
        found = room.rows(catch_up_at(OF_EPOCH, here, end))
        newest = {of_subscription(row): row["check_number"] for row in rates if row["to_time"] <= end}
        assert {of_subscription(row): row["check_number"] for row in found} == newest
        for row in found:
            of_check = of_view[*of_subscription(row), row["check_number"]]
            assert plain(row) == rounded(plain(of_check)), end
            known |= {name for name, value in plain(row).items() if value is not None}
    assert {"most_entries_per_s", "shut_out"} <= known
