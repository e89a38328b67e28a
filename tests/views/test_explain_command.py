"""`explain` over a small warehouse: exit status, words, the document that is promised; it agrees with the view `why`."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from console.command_line import main
from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.diagnosis.words import MISSING
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.times import span_of
from pipeline.warehouse.layout import Warehouse


@pytest.fixture(scope="module")
def room(small_warehouse: Warehouse) -> ReadingRoom:
    """Over the small warehouse."""
    return ReadingRoom(small_warehouse)


ORDERS, AUDIT = "persistent://shop/eu/orders", "persistent://finance/eu/audit-partition-0"
WHY = (Path(__file__).parents[2] / "docs" / "guide" / "why.md").read_text(encoding="utf-8")
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
KEYS = PAGE.partition("## explain TOPIC SUBSCRIPTION")[2].partition("\n## ")[0]
THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)


def asked(capsys: pytest.CaptureFixture[str], warehouse: Warehouse, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["explain", *words, "--warehouse", warehouse.root])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("topic", "subscription", "code", "words"),
    [
        (ORDERS, "billing", 1, "is behind by 1,200 entries at 2026-01-05T03:03:00Z. 88% of its backlog of the last "),
        (ORDERS, "idle", 1, "charged to no consumer being connected"),
        (ORDERS, "export", 0, "is current at 2026-01-05T03:03:00Z: it had no backlog"),
        (AUDIT, "gone", 1, "is behind at 2026-01-05T03:03:00Z is not known: neither a window nor a quota check has it then"),
        ("persistent://shop/eu/order", "billing", 2, f"did you mean {ORDERS}?"),
        (ORDERS, "biling", 2, "has no subscription biling in the log, only billing, export, idle, report"),
    ],
)
def test_exit_status_and_verdict(
    small_warehouse: Warehouse, capsys: pytest.CaptureFixture[str], topic: str, subscription: str, code: int, words: str
) -> None:
    found, out, err = asked(capsys, small_warehouse, topic, subscription)
    assert (found, words in (err if code == 2 else out.splitlines()[0])) == (code, True)


def test_json_has_the_keys_that_are_promised(small_warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, small_warehouse, ORDERS, "billing", "--format", "json")
    document = json.loads(out)
    promised = set(re.findall(r"^\| `([a-z_.\[\]]+)` \|", KEYS, re.MULTILINE))
    # Nothing was evicted, nobody is shut out, and so on: these have no keys here.
    nothing = paths(document) - promised
    assert nothing <= {"clients", "holders", "age", "producers_shut_out", "evicted", "compactions", "replicators", "needed"}
    without = {key for key in promised if key.split(".")[0].removesuffix("[]") in nothing}
    assert (code, paths(document) - nothing) == (1, promised - without)
    assert [document[key] for key in ("cause", "level", "dimension", "confidence")] == ["throttled", "topic", "msg", "medium"]
    assert document["missing"] == ["events_lost", "who_set_limits"]
    assert all(f"`{code}`" in WHY for code in MISSING)


def test_the_place_that_rules_is_named_with_those_that_it_shadows(
    small_warehouse: Warehouse, capsys: pytest.CaptureFixture[str], room: ReadingRoom
) -> None:
    """A policy of the topic shadows its namespace's since 03:02; before, the namespace's ruled."""
    _, out, _ = asked(capsys, small_warehouse, ORDERS, "billing")
    now = "topic_dispatch_rate: topic (10 messages per 1 s above the publish rate) rules over namespace (500 messages per 1 s)"
    assert f"precedence      {now}\n" in out
    then = answer(room, ORDERS, "billing", None, THREE + timedelta(minutes=1), timedelta(minutes=1))["policies"]
    assert [(one["set_by"], one["in_force"]) for one in then if one["limit_kind"] == "topic_dispatch_rate"] == [("namespace", True)]


def paths(document: Any, at: str = "") -> set[str]:
    """Keys down to the values; those of a list's items as `name[].key`."""
    if isinstance(document, dict):
        return {path for key, value in document.items() for path in paths(value, f"{at}.{key}" if at else key)}
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return {path for one in document for path in paths(one, f"{at}[]")}
    return {at}


def test_over_the_newest_window_it_says_what_the_view_why_says(room: ReadingRoom) -> None:
    rows = room.rows("SELECT * FROM why")
    assert len({row["status"] for row in rows}) >= 4
    for row in rows:
        found = answer(room, row["topic"], row["subscription"], row["broker"], None, timedelta(seconds=60))
        named = ("status", "cause", "level", "dimension", "unknown_reason", "backlog", "waiting", "since")
        assert {name: found[name] for name in named} == {name: row[name] for name in named}
        assert found["share"] == (None if row["share"] is None else pytest.approx(row["share"]))


def test_at_an_instant_it_answers_as_of_then(room: ReadingRoom) -> None:
    found = answer(room, ORDERS, "billing", None, THREE + timedelta(seconds=30), timedelta(seconds=30))
    assert (found["to"], found["now"], found["backlog"]) == (THREE + timedelta(minutes=1), False, 400)
    assert found["share"] == pytest.approx(0.75)
    assert found["more_consumers"] is None, "the view is of now"


def test_where_the_broker_has_no_window_there_is_no_answer(room: ReadingRoom) -> None:
    with pytest.raises(NoAnswer, match=r"b1:8080 has no finished window from .*; the last one before ends 2026-01-05T03:03:00Z"):
        answer(room, ORDERS, "billing", None, THREE + timedelta(hours=2), timedelta(minutes=10))
    with pytest.raises(NoAnswer, match=r"nothing happened to billing .* before"):
        answer(room, ORDERS, "billing", None, THREE - timedelta(hours=2), timedelta(minutes=10))
    with pytest.raises(NoAnswer, match=r"nothing happened to billing .* on b9"):
        answer(room, ORDERS, "billing", "b9", None, timedelta(minutes=10))


@pytest.mark.parametrize("text", ["", "10", "m", "0m", "-5m", "1.5h", "10 m", "1w"])
def test_a_wrong_window_is_named(text: str) -> None:
    with pytest.raises(BadConfig, match=r"--window .*as 90s, 10m, 2h or 1d"):
        span_of("--window", text)


def test_the_limiter_that_blocked_most_reads_comes_first(room: ReadingRoom) -> None:
    uncovers = answer(room, ORDERS, "billing", None, None, timedelta(hours=1))["uncovers"]
    assert [(one["reads"], one["wanted_entries"], one["granted_entries"], one["next_level"]) for one in uncovers] == [
        (80, 8_000, 1_000, "broker"),
        (20, 2_000, 2_000, None),
    ]
