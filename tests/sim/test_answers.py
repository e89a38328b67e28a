"""What is said about simulated lives whose truth is known by construction: kinds that were answered wrongly once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from capture_events import write_events
from loaded import load_into
from simulated import run_into

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.topic_answer import topic_answer
from pipeline.diagnosis.words import text_lines
from pipeline.query.room import ReadingRoom
from pipeline.serving.page.topic_page import topic_page
from pipeline.serving.scale import scale_document
from pipeline.what_if.answer import what_if
from pipeline.what_if.assumptions import SHUT_OUT
from pipeline.what_if.changes import changes_of
from pipeline.what_if.limited import Asked
from pipeline.what_if.right_size import right_size
from pipeline.what_if.words import answer_lines
from sim.scenario import scenario_of

PREFIX = "persistent://shop/eu/"
BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
#: The log ends within a window. Consumers come back, a limit is raised, and connections are writable again half a minute before.
CHANGED_S, END_S = 370, 400
FAST = {"count": 1, "msgs_per_s": 400}
AWAY = {"from_s": 60, "to_s": CHANGED_S}
TOPICS: list[dict[str, Any]] = [
    {"name": f"{PREFIX}quiet", "publish": {"entries_per_s": 20, "from_s": 310}, "subscriptions": [{"name": "well", "consumers": [FAST]}]},
    {
        "name": f"{PREFIX}changed",
        "publish": {"entries_per_s": 20},
        "subscriptions": [
            {"name": "back", "consumers": [FAST | {"away": [AWAY]}]},
            {"name": "raised", "limit": {"msg_rate": 10}, "limit_changes": [{"at_s": CHANGED_S, "msg_rate": 1000}], "consumers": [FAST]},
            {"name": "writable", "consumers": [FAST | {"unwritable": [AWAY]}]},
            {"name": "back_and_slow", "consumers": [FAST | {"msgs_per_s": 100, "away": [AWAY]}]},
        ],
    },
    {
        "name": f"{PREFIX}keyed",
        "publish": {"entries_per_s": 20, "keys": 1},
        "subscriptions": [
            {"name": "one_key", "type": "Key_Shared", "consumers": [{"count": 3, "msgs_per_s": 10, "prefetch": 5000}]},
            {"name": "any_key", "consumers": [{"count": 3, "msgs_per_s": 3, "prefetch": 5000}]},
        ],
    },
    {
        "name": f"{PREFIX}full",
        "publish": {"entries_per_s": 20, "entry_bytes": [600, 600]},
        "quotas": {"size_bytes": 900_000, "size_policy": "producer_request_hold"},
        "subscriptions": [
            {"name": "held", "limit": {"msg_rate": 14}, "consumers": [FAST]},
            {"name": "slow", "consumers": [{"count": 1, "msgs_per_s": 12, "prefetch": 100_000}]},
        ],
    },
]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Of a log that ends amid its last window; its broker goes on."""
    folder = tmp_path_factory.mktemp("answers")
    table = {"title": "answers", "duration_s": END_S + 60, "start": BEGIN, "brokers": {"quota_check_s": 60}, "topics": TOPICS}
    run = run_into(scenario_of(table), folder / "sim")
    (life,) = run.facts["lives"]
    until_us = (BEGIN + timedelta(seconds=END_S)).timestamp() * 1e6
    log = write_events([event for event in run.events(life) if event["ts"] <= until_us], folder / "log" / "0.jsonl").parent
    return ReadingRoom(load_into(log, folder / "warehouse"))


def asked(room: ReadingRoom, topic: str, subscription: str, at_s: float | None = None) -> tuple[dict[str, Any], str]:
    """The document, and all its lines."""
    at = None if at_s is None else BEGIN + timedelta(seconds=at_s)
    document = answer(room, PREFIX + topic, subscription, None, at, timedelta(minutes=10))
    return document, "\n".join(text_lines(document))


@pytest.mark.parametrize("at_s", [360, None])
def test_after_a_pause_of_the_producers_consumers_are_as_quick_as_before(room: ReadingRoom, at_s: float | None) -> None:
    """Checks of the pause have a pace of 0: nothing came that could be acknowledged."""
    document, lines = asked(room, "quiet", "well", at_s)
    assert document["status"] in ("current", "keeping up"), lines
    assert "unload" not in lines


@pytest.mark.parametrize("subscription", ["back", "raised", "writable"])
def test_what_has_changed_since_the_last_window_counts_also_of_a_log_that_ends(room: ReadingRoom, subscription: str) -> None:
    document, lines = asked(room, "changed", subscription)
    assert document["status"] in ("current", "keeping up", "catching up", "unacknowledged"), lines
    assert document["last_cause"]["cause"] in ("in_flight", "catching_up")
    assert document["last_cause"]["since"] >= BEGIN + timedelta(seconds=CHANGED_S - 1)
    assert "Start its consumers" not in lines
    assert "do not read from their connections" not in lines
    assert "acknowledge only" not in lines
    scale = scale_document(room, {"topic": f"{PREFIX}changed", "subscription": subscription})
    assert '"more_consumers": 0' in scale, scale


def test_of_who_has_come_back_nobody_knows_yet_whether_that_is_enough(room: ReadingRoom) -> None:
    document, lines = asked(room, "changed", "back_and_slow")
    assert document["behind"]
    assert document["last_cause"]["cause"] != "no_consumer"
    assert document["more_consumers"] is None, lines
    scale = scale_document(room, {"topic": f"{PREFIX}changed", "subscription": "back_and_slow"})
    assert '"more_consumers": 0' in scale, scale


def test_while_a_limit_holds_it_the_rate_is_that_of_then(room: ReadingRoom) -> None:
    _, lines = asked(room, "changed", "raised", 360)
    assert "the subscription's limiter of messages (10 messages per 1 s" in lines
    assert "if its consumers take as much" in lines


def test_at_the_first_check_nobody_knows_what_comes(room: ReadingRoom) -> None:
    row = room.rows("SELECT * FROM catch_up_forecasts WHERE subscription = 'raised' ORDER BY check_number")[0]
    assert row["waiting"] > 0
    assert row["most_entries_per_s"] == pytest.approx(10)
    assert (row["publish_rate"], row["allowed"], row["soonest_at"]) == (None, None, None)


@pytest.mark.parametrize(("subscription", "answered", "more"), [("one_key", "no", 0), ("any_key", "yes", 3)])
def test_consumers_help_where_those_that_are_there_have_work(room: ReadingRoom, subscription: str, answered: str, more: int) -> None:
    document, lines = asked(room, "keyed", subscription)
    assert document["behind"]
    assert document["more_consumers"]["answer"] == answered, lines
    assert ("add some" in lines) == (more > 0)
    assert f'"more_consumers": {more}' in scale_document(room, {"topic": f"{PREFIX}keyed", "subscription": subscription})


@pytest.mark.parametrize("at_s", [360, None])
def test_what_comes_while_a_quota_shuts_producers_out_is_no_demand(room: ReadingRoom, at_s: float | None) -> None:
    held, lines = asked(room, "full", "held", at_s)
    assert held["catch_up"]["shut_out"]
    assert (held["needed"], held["catch_up"]["current_at"]) == (None, None)
    for said in (lines, asked(room, "full", "slow", at_s)[1]):
        assert "Wait" not in said
        assert "no breach in sight" not in said
        assert "a quota shut producers out in the last minutes" in said


def test_nobody_asks_what_if_of_a_demand_that_a_quota_held_back(room: ReadingRoom) -> None:
    topic, changes = f"{PREFIX}full", changes_of(["subscription.dispatch_rate.messages=30"])
    document = what_if(room, topic, "held", changes, None, (None, None))
    assert document["self_check"]["ok"], document["self_check"]
    assert SHUT_OUT in document["assumptions"]
    assert not document["sure"]
    assert f"Not sure: {SHUT_OUT}." in " ".join(answer_lines(document))
    before = what_if(room, topic, "held", changes, None, (None, BEGIN + timedelta(seconds=200)))
    assert SHUT_OUT not in before["assumptions"], "the quota was not exceeded yet"
    after = what_if(room, topic, "held", changes, None, (BEGIN + timedelta(seconds=END_S - 20), None))
    assert SHUT_OUT not in after["assumptions"], "not in the replayed time"
    sized = right_size(room, Asked(5.0, None, topic, None, (None, None)), None)
    assert [one["reasons"] for one in sized["without_answer"]] == [
        ["a quota shut producers out, so its record does not have all that comes without that"]
    ]


def test_while_a_quota_shuts_producers_out_its_growth_is_none(room: ReadingRoom) -> None:
    """By checks of a minute: it is exceeded in some. From such a one to the next nothing is a step."""
    checks = room.rows(
        f"SELECT check_number, exceeded, steps, rate_mean, shut_out FROM quota_breaches WHERE topic = '{PREFIX}full'"
        " AND quota_type = 'size' ORDER BY check_number"
    )
    first = next(number for number, row in enumerate(checks) if row["exceeded"])
    assert [row["shut_out"] for row in checks] == [number > first for number in range(len(checks))]
    assert checks[first + 1]["steps"] <= checks[first]["steps"]
    assert all(row["rate_mean"] is None or row["rate_mean"] >= 0 for row in checks), "it grows, or nobody knows"


def test_the_page_of_a_topic_names_those_that_are_let_in(room: ReadingRoom) -> None:
    topic = f"{PREFIX}full"
    opened = room.rows(
        f"SELECT timestamp_micros(ts) AS at FROM dispatch_events WHERE topic = '{topic}' AND type = 'producer_open' ORDER BY seq"
    )
    came_back = opened[1]["at"]
    before, after = (topic_page(room, {"topic": topic, "at": (came_back + timedelta(seconds=later_s)).isoformat()}) for later_s in (-1, 1))
    assert "Producers shut out." in before
    assert "Producers shut out." not in after
    assert "Quota exceeded." in after


def test_producers_that_came_back_since_the_check_are_let_in(room: ReadingRoom) -> None:
    """At each instant by the events until then."""
    topic = f"{PREFIX}full"
    events = room.rows(
        f"SELECT type, timestamp_micros(ts) AS at FROM dispatch_events WHERE topic = '{topic}'"
        " AND type IN ('producer_open', 'producer_close') ORDER BY seq"
    )
    opened = [event["at"] for event in events if event["type"] == "producer_open"][1:]
    assert opened, "a producer comes back"
    before, after = (topic_answer(room, topic, None, opened[0] + timedelta(seconds=later_s)) for later_s in (-1, 1))
    assert (before["producers_shut_out"]["let_in"], after["producers_shut_out"]["let_in"]) == (0, 1)
    assert "are shut out since" in before["verdict"]
    assert "and some are let in since" in after["verdict"]


def test_producers_are_shut_out_since_they_were_closed_last(room: ReadingRoom) -> None:
    document = topic_answer(room, f"{PREFIX}full", None, None)
    at_check_us = round(document["to"].timestamp() * 1e6) + 1_000_000
    events = room.rows(
        f"SELECT timestamp_micros(ts) AS at FROM dispatch_events WHERE topic = '{PREFIX}full' AND type = 'producer_close'"
        f" AND ts <= {at_check_us} ORDER BY seq"
    )
    closed = [event["at"] for event in events]
    assert len(closed) > 1, "they come back"
    since = document["producers_shut_out"]["since"]
    assert abs(since - closed[-1]) < timedelta(seconds=1)
    assert document["producers_shut_out"]["times"] == len(closed)
