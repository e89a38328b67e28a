"""Which clients hold a subscription back: consumers that are connected, the worst one first."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.diagnosis.clients import client_lines, clients, lies_with_clients

T0 = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
NOTHING = ("as_of_seq", "consumer_name", "permits", "unacked_msgs", "redelivered_msgs", "blocked", "on")


def event(kind: str, seq: int, consumer: int, conn: int = 7, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "seq": seq,
        "at": T0 + timedelta(seconds=seq),
        "conn": conn,
        "consumer": consumer,
        **dict.fromkeys(NOTHING),
        **fields,
    }


def state(seq: int, consumer: int, unacked: int, permits: int, again: int = 0, **fields: Any) -> dict[str, Any]:
    told = {"as_of_seq": seq - 1, "unacked_msgs": unacked, "permits": permits, "redelivered_msgs": again}
    return event("consumer_state", seq, consumer, **{**told, **fields})


THREE = [
    *(event("consumer_open", 1 + n, n, consumer_name=f"worker-{n}") for n in range(3)),
    state(10, 0, 5, 95, 40),
    state(11, 1, 100, 0),
    state(12, 2, 0, 0),
]
REMOTES = [{"conn": 7, "remote": "10.0.0.9:51234"}]


def names(cause: str, events: list[dict[str, Any]] = THREE) -> list[str]:
    return [one["consumer_name"] for one in clients(events, REMOTES, cause)]


@pytest.mark.parametrize(("cause", "worst"), [("no_permits", "worker-1"), ("redelivery", "worker-0"), ("unacked_limit", "worker-1")])
def test_the_worst_one_comes_first(cause: str, worst: str) -> None:
    assert names(cause)[0] == worst


def test_of_idle_consumers_those_without_permits_come_first() -> None:
    assert names("no_flow") == ["worker-1", "worker-2", "worker-0"]


def test_who_has_left_is_not_named_and_who_came_back_is() -> None:
    left = [*THREE, event("consumer_close", 20, 1), event("consumer_close", 21, 2)]
    assert names("no_permits", left) == ["worker-0"]
    back = [*(one for one in left if (one["type"], one["consumer"]) != ("consumer_open", 2)), event("consumer_open", 22, 2)]
    assert [one["consumer"] for one in clients(back, REMOTES, "no_permits")] == [0, 2]


def test_figures_are_of_this_life_of_the_consumer() -> None:
    """Its latest state is from before it came again, under the same id."""
    events = [event("consumer_open", 30, 1, consumer_name="worker-1"), event("consumer_close", 20, 1), state(11, 1, 100, 0)]
    (one,) = clients(events, REMOTES, "no_permits")
    assert (one["unacked_msgs"], one["as_of"], one["connected_since"]) == (None, None, T0 + timedelta(seconds=30))


def test_a_log_that_begins_in_the_middle_has_consumers_by_their_states() -> None:
    (one,) = clients([state(11, 1, 100, 0) | {"consumer_name": "worker-1"}], [], "no_permits")
    assert (one["consumer_name"], one["remote"], one["connected_since"]) == ("worker-1", None, None)
    assert client_lines([one]) == ["worker-1 on connection 7: 100 messages unacknowledged, 0 permits (at 2026-11-21T03:00:11Z)"]


def test_who_is_unknown_is_not_called_the_worst() -> None:
    unknown = [*THREE, event("consumer_open", 4, 3)]
    for cause in ("no_flow", "no_permits", "redelivery"):
        assert [one["consumer"] for one in clients(unknown, REMOTES, cause)][-1] == 3


def test_a_state_that_is_written_after_the_consumer_has_left_is_no_sign_of_it() -> None:
    late = [event("consumer_open", 1, 0), event("consumer_close", 20, 0), state(21, 0, 5, 95, as_of_seq=19)]
    assert clients(late, [], "no_permits") == clients([*late, event("consumer_blocked", 22, 0, on=False)], [], "no_permits") == []


@pytest.mark.parametrize(
    ("events", "capped"),
    [
        ([], None),
        ([event("consumer_blocked", 5, 0, on=True)], True),
        ([event("consumer_blocked", 5, 0, on=True), state(9, 0, 5, 95, blocked=False)], False),
        ([event("consumer_blocked", 9, 0, on=True), state(5, 0, 5, 95, blocked=False)], True),
        ([event("consumer_blocked", 1, 0, on=True)], None),
    ],
    ids=["not told", "by its event", "by a later state", "by a later event", "of a life before"],
)
def test_whether_it_has_reached_its_cap(events: list[dict[str, Any]], capped: bool | None) -> None:
    (one,) = clients([event("consumer_open", 2, 0), *events], [], "no_permits")
    assert one["capped"] is capped


def test_one_is_one() -> None:
    (line,) = client_lines(clients([state(11, 1, 1, 1)], [], "no_permits"))
    assert "1 message unacknowledged, 1 permit (at" in line


def test_the_lines_name_three_and_count_the_others() -> None:
    capped = [*THREE, event("consumer_blocked", 15, 1, on=True), event("consumer_open", 4, 3)]
    assert client_lines(clients(capped, REMOTES, "redelivery")) == [
        "worker-0 at 10.0.0.9:51234, since 2026-11-21T03:00:01Z: 5 messages unacknowledged, 95 permits, 40 delivered again"
        " (at 2026-11-21T03:00:10Z)",
        "worker-1 at 10.0.0.9:51234, since 2026-11-21T03:00:02Z: 100 messages unacknowledged, 0 permits, has reached its cap"
        " (at 2026-11-21T03:00:11Z)",
        "worker-2 at 10.0.0.9:51234, since 2026-11-21T03:00:03Z: 0 messages unacknowledged, 0 permits (at 2026-11-21T03:00:12Z)",
        "and 1 consumer more",
    ]
    assert client_lines(clients(capped[-1:], REMOTES, "redelivery")) == [
        "consumer 3 at 10.0.0.9:51234, since 2026-11-21T03:00:04Z: the log does not say what it holds"
    ]
    assert client_lines(None) == []


@pytest.mark.parametrize(
    ("last", "main", "expected"),
    [
        ("no_flow", "no_permits", "no_flow"),
        ("throttled", "no_permits", "no_permits"),
        (None, "in_flight", "in_flight"),
        (None, "reading", None),
    ],
)
def test_the_cause_at_the_end_decides_if_it_lies_with_consumers(last: str | None, main: str, expected: str | None) -> None:
    assert lies_with_clients({"cause": main, "last_cause": None if last is None else {"cause": last}}) == expected
