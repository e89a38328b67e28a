"""Key_Shared of the simulator: keys keep their order, what is put aside is reported, and the log goes as a real broker's."""

from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from as_captured import KEY_SHARED, between, per_s, real, simulated, steps
from simulated import shipped, shipped_run

REPLAYED = ("read_done replay", "entries of read_done replay")


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    run = shipped_run("keys_blocked")
    (life,) = run.facts["lives"]
    return run.events(life)


def test_what_is_read_is_delivered_or_reported_as_put_aside(events: list[dict[str, Any]]) -> None:
    """Over the whole log; the last second may lack what is summed. Where nobody is put aside nothing is reported."""
    read, delivered, aside = Counter[Any](), Counter[Any](), Counter[Any]()
    counts = {"read_done": read, "dispatch": delivered, "keys_blocked": aside}
    for event in events:
        if event["type"] in counts:
            counts[event["type"]][event["topic"], event["sub"]] += event["entries"]
    for key, count in read.items():
        assert count - delivered[key] == pytest.approx(aside[key], abs=60)
    assert [key[1] for key in read if not aside[key]] == ["well"]


def test_every_reason_of_a_slow_consumer_is_there_and_sums_are_a_second_apart(events: list[dict[str, Any]]) -> None:
    latest: dict[tuple[Any, ...], int] = {}
    reasons: defaultdict[str, set[str]] = defaultdict(set)
    apart = []
    for event in events:
        if event["type"] != "keys_blocked":
            continue
        key = event["topic"], event["sub"], event["reason"], event.get("conn")
        apart.append(event["ns"] - latest.get(key, -(10**18)))
        latest[key] = event["ns"]
        reasons[event["topic"].rpartition("/")[2], event["sub"]].add(event["reason"])
        assert (event["entries"] == 0) == (event["reason"] == "look_ahead_limit")
    assert sum(ns < 990_000_000 for ns in apart) < len(apart) / 100 + len(latest)
    assert reasons["orders", "one-stops"] == {"no_permits", "look_ahead_limit"}
    assert {"no_permits", "look_ahead_limit"} <= reasons["orders", "one-slow"]
    assert reasons["few", "one-stops"] == {"no_permits"}
    assert {"draining", "key_in_replay"} >= reasons["comes-and-goes", "late-acks"] >= {"draining"}


def test_the_replay_queue_is_never_fuller_than_the_look_ahead(events: list[dict[str, Any]]) -> None:
    limit = shipped("keys_blocked").brokers.look_ahead_per_subscription
    sizes = defaultdict(list)
    for event in events:
        if event["type"] in ("state", "keys_blocked"):
            sizes[event["topic"].rpartition("/")[2], event["sub"]].append(event["replay_entries"])
    assert max(sizes["orders", "one-stops"]) == limit
    assert max(sizes["orders", "one-slow"]) == 2 * 40
    assert max(sizes["few", "one-stops"]) < limit


def test_the_entries_of_a_key_are_acknowledged_in_order_though_their_consumer_changes(tmp_path: Path) -> None:
    """One key, two consumers that come and go in turn: nobody gets a message before those ahead of it are acknowledged or given back."""
    away = [[{"from_s": 10, "to_s": 20}], [{"from_s": 30, "to_s": 40}]]
    table = {
        "title": "one key",
        "duration_s": 60,
        "topics": [
            {
                "name": "persistent://a/b/c",
                "publish": {"entries_per_s": 20, "keys": 1},
                "subscriptions": [{"name": "s", "type": "Key_Shared", "consumers": [{"ack_after_s": 1, "away": one} for one in away]}],
            }
        ],
    }
    acks = [event for event in simulated(table, tmp_path / "run") if event["type"] == "ack"]
    assert all(first["entry"] < second["entry"] for first, second in pairwise(acks))
    assert len(acks) > 1_000
    assert {event["consumer"] for event in acks} == {0, 1}


def test_it_asks_reads_and_delivers_as_the_real_broker(tmp_path: Path) -> None:
    """The look-ahead is used up: it asks every 10 ms, and reads nothing. Permits bring two messages of the queue, then some new ones."""
    theirs = per_s(between(real("ac_key_shared_blocked"), "ks", 34, 54), 20)
    events = simulated(KEY_SHARED, tmp_path / "run")
    mine = per_s(between(events, "ks", 5, 25), 20)
    for name in ("read", *REPLAYED):
        assert mine[name] == pytest.approx(theirs[name], rel=0.15)
    # How many new ones depends on which keys the slow consumer has.
    for name in ("read_done", "entries of read_done", "dispatch"):
        assert mine[name] == pytest.approx(theirs[name], rel=0.5)
    expected = {
        ("read", "read"),
        ("read", "read_done replay"),
        ("read_done replay", "dispatch"),
        ("dispatch", "read"),
        ("read", "read_done"),
    }
    assert expected <= steps(between(events, "ks", 5, 25))
    assert expected <= steps(between(real("ac_key_shared_blocked"), "ks", 34, 54))


@pytest.mark.parametrize("kind", ["Shared", "Key_Shared"])
def test_what_a_consumer_has_that_leaves_is_given_back_before_it_is_closed_as_by_the_real_broker(tmp_path: Path, kind: str) -> None:
    """Also what the last one has."""
    table = {
        "title": "consumers leave",
        "duration_s": 40,
        "topics": [
            {
                "name": "persistent://a/b/c",
                "publish": {"entries_per_s": 20},
                "subscriptions": [
                    {"name": "s", "type": kind, "consumers": [{"ack_after_s": 2, "away": [{"from_s": at, "to_s": 99}]} for at in (20, 30)]}
                ],
            }
        ],
    }
    mine = simulated(table, tmp_path / "run")
    for log, leaves in ((real("ac_key_shared_blocked"), 1), (mine, 2)):
        places = [place for place, event in enumerate(log) if event["type"] == "redeliver"]
        assert len(places) == leaves
        for place in places:
            of = {name: log[place][name] for name in ("topic", "sub", "conn", "consumer")}
            after = [event for event in log[place : place + 5] if event["type"] == "consumer_close" and event.items() >= of.items()]
            assert len(after) == 1
            assert log[place]["cause"] == "consumer_closed"
