"""`explain` names clients by the events of a warehouse: of three consumers one holds all, and one has left."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from loaded import load_into
from log_builder import SUB, TOPIC, Log

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.verdict import Document
from pipeline.diagnosis.words import text_lines
from pipeline.query.room import ReadingRoom

JSON = (Path(__file__).parents[2] / "docs/reference/json.md").read_text(encoding="utf-8")
WHERE = {"topic": TOPIC, "sub": SUB}


def log() -> Log:
    story = Log()
    story.add("broker_start", cluster="c", version="4.0.8", settings={}, log_version="1.2")
    story.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
    story.add("cursor_open", **WHERE, durable=True, ledger=5, entry=-1).add("dispatcher_open", **WHERE, sub_type="Shared")
    for conn in (1, 2, 3):
        story.at(conn).add("conn_open", conn=conn, remote=f"10.0.0.{conn}:4000")
        story.add("consumer_open", **WHERE, conn=conn, consumer=0, consumer_name=f"worker-{conn}")
    story.publish(9).read().dispatch(9, 900)
    story.at(4).add("consumer_close", **WHERE, conn=3, consumer=0)
    for conn, unacked in ((1, 0), (2, 9)):
        figures = {"permits": 100 - unacked, "unacked_msgs": unacked, "redelivered_msgs": 0, "blocked": conn == 2}
        story.at(10).add("consumer_state", **WHERE, conn=conn, consumer=0, as_of_seq=len(story.events), **figures)
    story.at(90).add("consumer_close", **WHERE, conn=1, consumer=0)
    return story.at(100).add("heartbeat", dropped=0)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    folder = tmp_path_factory.mktemp("clients")
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in log().events), encoding="utf-8")
    return ReadingRoom(load_into(folder / "events.jsonl", folder / "warehouse"))


@pytest.fixture(scope="module")
def document(room: ReadingRoom) -> Document:
    return answer(room, TOPIC, SUB, None, None, timedelta(minutes=10))


def test_those_that_are_connected_are_named_with_what_they_hold(document: Document) -> None:
    assert document["cause"] == "in_flight"
    (one,) = document["clients"]
    told = {name: one[name] for name in ("consumer_name", "remote", "conn", "unacked_msgs", "permits", "redelivered_msgs", "capped")}
    assert told == {
        "consumer_name": "worker-2", "remote": "10.0.0.2:4000", "conn": 2, "unacked_msgs": 9, "permits": 91, "redelivered_msgs": 0,
        "capped": True,
    }  # fmt: skip
    line = "worker-2 at 10.0.0.2:4000, since 2026-11-21T11:20:02Z: 9 messages unacknowledged, 91 permits, has reached its cap"
    assert any(line in text for text in text_lines(document))


def test_at_an_instant_before_they_are_those_of_then(room: ReadingRoom) -> None:
    first = answer(room, TOPIC, SUB, None, None, timedelta(minutes=10))["from"]
    found = answer(room, TOPIC, SUB, None, first + timedelta(seconds=60), timedelta(minutes=1))
    assert [one["consumer_name"] for one in found["clients"]] == ["worker-2", "worker-1"]


def test_their_keys_are_those_that_are_promised(document: Document) -> None:
    promised = set(re.findall(r"^\| `clients\[\]\.([a-z_]+)` \|", JSON, re.MULTILINE))
    assert [set(one) for one in document["clients"]] == [promised]
