"""Transactions of the simulator: what nobody may read is not delivered, the log has each beginning and end, and goes as a real broker's."""

from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from as_captured import TRANSACTION, between, per_s, real, simulated, steps
from simulated import shipped_run

Position = tuple[int, int]


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    run = shipped_run("transaction")
    (life,) = run.facts["lives"]
    return run.events(life)


def position(event: dict[str, Any], prefix: str = "") -> Position:
    return event[f"{prefix}ledger"], event[f"{prefix}entry"]


def test_nothing_is_delivered_behind_the_first_message_of_an_open_transaction(events: list[dict[str, Any]]) -> None:
    """By `transaction_open` and `transaction_end` alone."""
    first: dict[tuple[str, int], Position] = {}
    deliveries_meanwhile = 0
    for event in events:
        if event["type"] == "transaction_open":
            first[event["topic"], event["txn_least_bits"]] = position(event)
        elif event["type"] == "transaction_end":
            del first[event["topic"], event["txn_least_bits"]]
        elif event["type"] == "dispatch":
            bounds = [bound for (topic, _), bound in first.items() if topic == event["topic"]]
            assert all(position(event, "last_") < bound for bound in bounds)
            deliveries_meanwhile += bool(bounds)
    assert not first
    assert deliveries_meanwhile > 5


def test_a_beginning_follows_the_first_message_and_an_end_the_marker(events: list[dict[str, Any]]) -> None:
    found: Counter[str] = Counter()
    for before, event in pairwise(events):
        if event["type"] == "transaction_open" and before["type"] == "publish":
            assert position(before) == position(event)
            found["open"] += 1
        elif event["type"] == "transaction_end":
            assert (before["type"], before["topic"], before["bytes"]) == ("publish", event["topic"], 56)
            found[event["transaction_action"]] += 1
    assert found == {"open": 5, "commit": 3, "abort": 2}


def test_a_topic_that_is_loaded_finds_the_open_ones(events: list[dict[str, Any]]) -> None:
    of_topic = [event for event in events if event.get("topic", "").endswith("/moved")]
    unloaded = next(place for place, event in enumerate(of_topic) if event["type"] == "topic_unload")
    before, after = ([e for e in part if e["type"] == "transaction_open"] for part in (of_topic[:unloaded], of_topic[unloaded:]))
    assert [position(event) for event in before] == [position(event) for event in after]
    assert len(after) == 1


def test_the_state_of_a_topic_has_the_open_ones_and_up_to_where_one_reads(events: list[dict[str, Any]]) -> None:
    latest: dict[str, tuple[int, Position]] = {}
    seen = set()
    for event in events:
        if event["type"] in ("transaction_open", "transaction_end"):
            latest[event["topic"]] = (event["open_transactions"], position(event, "max_read_"))
        elif event["type"] == "topic_state":
            count, bound = latest.get(event["topic"], (0, (-1, -1)))
            assert event["open_transactions"] == count
            assert count == 0 or position(event, "max_read_") == bound
            seen.add(count)
    assert seen == {0, 1, 2}


def test_the_broker_acknowledges_markers_and_what_is_aborted_and_nobody_gets_it(events: list[dict[str, Any]]) -> None:
    """A message of an aborted transaction is known by the `transaction` just before its `publish`: in that stretch no other is open."""
    published = [event for event in events if event["type"] in ("transaction", "publish") and event["topic"].endswith("/orders")]
    markers = {position(event) for event in published if event["type"] == "publish" and event["bytes"] == 56}
    by_broker, by_consumers = defaultdict(set), defaultdict(set)
    for event in events:
        if event["type"] in ("broker_ack", "ack") and event["topic"].endswith("/orders"):
            (by_broker if event["type"] == "broker_ack" else by_consumers)[event["sub"]].add(position(event))
    last_open = max(event["ts"] for event in events if event["type"] == "transaction_open")
    last = [after for before, after in pairwise(published) if before["type"] == "transaction" and after["ts"] >= last_open - 1_000]
    aborted = {position(event) for event in last if event["type"] == "publish" and event["bytes"] != 56}
    assert len(markers) == 4
    assert len(aborted) > 30
    assert set(by_broker) == {"shared", "exclusive", "away"}
    for subscription, acknowledged in by_broker.items():
        assert acknowledged >= markers | aborted
        assert not acknowledged & by_consumers[subscription]


def test_it_asks_as_the_real_broker_while_a_transaction_is_open(tmp_path: Path) -> None:
    """Each read comes back with nothing after 10 ms, and the next one follows 10 ms later. A real broker is a little late each time."""
    theirs = between(real("ai_transactions"), "s", 40, 51)
    mine = between(simulated(TRANSACTION, tmp_path / "run"), "s", 11, 22)
    assert steps(mine) == steps(theirs) == {("read", "read_done nothing"), ("read_done nothing", "read")}
    assert per_s(mine, 11)["read"] == pytest.approx(per_s(theirs, 11)["read"], rel=0.15)


def test_a_read_that_waits_comes_back_empty_first_as_in_the_real_broker(tmp_path: Path) -> None:
    """A topic with transactions: a new entry wakes the read before one may read it."""
    theirs = between(real("ai_transactions"), "s", 52, 56)
    mine = between(simulated(TRANSACTION, tmp_path / "run"), "s", 2, 10)
    expected = {
        ("read", "read_done nothing"),
        ("read_done nothing", "read"),
        ("read", "read_done"),
        ("read_done", "dispatch"),
        ("dispatch", "read"),
    }
    assert expected <= steps(mine)
    assert expected <= steps(theirs)
    assert steps(mine) - expected <= {("read", "read")}
