"""A consumer that ends again and again: nobody is connected for most of the time, and still it is not absent since then."""

import json
from datetime import timedelta
from typing import Any

import pytest
from charges import charge, evidence, judged, served
from loaded import load_into
from log_builder import SUB, TOPIC, Log

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.came_back import returns
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

SECOND = 1_000_000
WHERE = {"topic": TOPIC, "sub": SUB}


@pytest.mark.parametrize(
    ("story", "times"),
    [
        ("", 0),
        ("+a", 0),
        ("+a -a", 0),
        ("-a", 0),
        ("-a +b", 1),
        ("+a -a +a -a +b -b", 2),
        ("-a -b +a -a +b", 2),
        ("+c -a +a -a +a -b +b", 0),  # c is there all the time
        ("-a +a -b +b -c +c", 0),  # three from before, restarted one by one
        ("+a -a +a +b -b -a", 1),
    ],
)
def test_a_return_is_a_consumer_that_comes_when_the_last_one_has_left(story: str, times: int) -> None:
    kinds = {"+": "consumer_open", "-": "consumer_close"}
    events = [{"type": kinds[one[0]], "ts": n * SECOND, "conn": ord(one[1]), "consumer": 0} for n, one in enumerate(story.split())]
    assert returns(events, len(events) * SECOND) == times


@pytest.mark.parametrize(("end_s", "times"), [(130, 2), (140, 0)])
def test_consumers_that_stay_away_do_not_come_and_go(end_s: int, times: int) -> None:
    """Two restarts at first; they left for good after 16 s."""
    events = [
        {"type": kind, "ts": at_s * SECOND, "conn": 1, "consumer": 0}
        for kind, at_s in (
            ("consumer_close", 2),
            ("consumer_open", 5),
            ("consumer_close", 9),
            ("consumer_open", 12),
            ("consumer_close", 16),
        )
    ]
    assert returns(events, end_s * SECOND) == times


def of(times: int | None, **around: Any) -> dict[str, Any]:
    """Ten minutes: nobody is connected for 50 s of each."""
    rows = [charge(m, "no_consumer", 50) for m in range(10)] + [charge(m, "in_flight", 10, weight=2, main=False) for m in range(10)]
    return judged(evidence(rows, 10, throttle=[served(m, 50) for m in range(10)]), came_back=times, **around)


def test_from_two_returns_on_they_come_and_go_and_the_reason_is_asked_for() -> None:
    found = of(2)
    assert "charged to consumers that connect and leave again, since 2026-01-05T12:00:00Z (10 min)." in found["verdict"]
    (only,) = found["advice"]
    assert only["do"] == (
        "Its consumers connect and leave again: 2 times one came back in this stretch. Look in their logs why they end, then start them."
        " This shows who is connected:"
    )


@pytest.mark.parametrize(
    ("times", "kind", "who"), [(None, "subscription", "consumer"), (1, "subscription", "consumer"), (5, "reader", "reader")]
)
def test_who_is_just_not_there_is_to_be_started(times: int | None, kind: str, who: str) -> None:
    found = of(times, cursor_kind=kind)
    assert f"charged to no {who} being connected" in found["verdict"]
    assert "Start it" in found["advice"][0]["do"]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """From 25 s on one consumer comes each 20 s, gets an entry, and is gone after a second."""
    story = Log()
    story.add("broker_start", cluster="c", version="4.0.8", settings={}, log_version="1.2")
    story.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
    story.add("cursor_open", **WHERE, durable=True, ledger=5, entry=-1).add("dispatcher_open", **WHERE, sub_type="Shared")
    story.publish(9)
    for life in range(1, 10):
        story.at(20 * life + 5).add("consumer_open", **WHERE, conn=1, consumer=life)
        story.read().dispatch(1, 100).at(20 * life + 6).add("consumer_close", **WHERE, conn=1, consumer=life)
    story.at(240).add("heartbeat", dropped=0)
    folder = tmp_path_factory.mktemp("came_back")
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in story.events), encoding="utf-8")
    return load_into(folder / "events.jsonl", folder / "warehouse")


def test_the_returns_are_those_of_the_stretch(warehouse: Warehouse) -> None:
    room = ReadingRoom(warehouse)
    found = answer(room, TOPIC, SUB, None, None, timedelta(minutes=10))
    assert (found["cause"], found["came_back"]) == ("no_consumer", 8)
    assert "consumers that connect and leave again" in found["verdict"]
    part = answer(room, TOPIC, SUB, None, found["from"] + timedelta(seconds=90), timedelta(seconds=30))
    assert (part["to"] - part["from"], part["came_back"]) == (timedelta(minutes=1), 2)
