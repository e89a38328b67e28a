"""The truth of a simulation: whole, without overlaps, the cause that the scenario is about, and the same for the same seed."""

import dataclasses
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from simulated import Run, run_into, shipped, shipped_run, truth_by_subscription

from sim.scenario import Faults

#: Scenario → (end of the topic, subscription) → its main cause.
MAIN = {
    "no_consumer": {("orders", "nobody"): "no_consumer", ("orders", "away"): "no_consumer", ("orders", "gone"): "no_consumer"},
    "throttled": {("topic-bytes", "shared"): "throttled topic bytes", ("sub-msg", "limited"): "throttled subscription msg"},
    "throttled_broker": {("orders", "billing"): "throttled broker msg", ("payments", "fraud"): "throttled broker msg"},
    "throttled_classic": {("orders", "first"): "throttled topic msg", ("above-need", "s"): "in_flight"},
    "channel": {("images", "shared"): "channel", ("images", "exclusive"): "in_flight", ("images", "one-of-two"): "in_flight"},
    "unacked_limit": {("orders", "forgetful"): "unacked_limit", ("orders", "many-forgetful"): "unacked_limit"},
    "no_permits": {("orders", "slow"): "no_permits", ("orders", "slow-exclusive"): "no_permits", ("orders", "hangs"): "no_permits"},
    "no_flow": {("orders", "idle"): "no_flow", ("orders", "idle-exclusive"): "no_flow", ("orders", "well"): "in_flight"},
    "redelivery": {("orders", "gives-back"): "redelivery", ("orders", "two-give-back"): "redelivery", ("orders", "well"): "in_flight"},
    "in_flight": {("orders", "long-work"): "in_flight", ("orders", "late-acks"): "in_flight"},
    "delayed": {("reminders", "sender"): "delayed", ("some-later", "sender"): "delayed"},
    "reading": {("orders", "behind"): "reading", ("orders", "current"): "in_flight"},
    "catching_up": {("orders", "back"): "catching_up", ("orders", "back-exclusive"): "catching_up"},
    "stuck": {("orders", "stuck"): "stuck", ("orders", "well"): "in_flight"},
    "transaction": {("orders", "shared"): "transaction", ("orders", "exclusive"): "transaction", ("moved", "shared"): "transaction"},
    "keys_blocked": {("orders", "one-slow"): "keys_blocked", ("few", "one-stops"): "keys_blocked", ("orders", "well"): "in_flight"},
}


@pytest.mark.parametrize("name", MAIN)
def test_a_scenario_has_the_cause_that_it_is_about(name: str) -> None:
    times: dict[tuple[str, str], Counter[str]] = {}
    for one in shipped_run(name).truth:
        cause = " ".join(part for part in (one["cause"], one["level"], one["dimension"]) if part)
        times.setdefault((one["topic"].rpartition("/")[2], one["subscription"]), Counter())[cause] += one["to_ns"] - one["from_ns"]
    assert {key: times[key].most_common(1)[0][0] for key in MAIN[name]} == MAIN[name]


def backlog_times(run: Run) -> dict[tuple[str, int, str, str], list[tuple[int, int]]]:
    """From the log alone: the stretches with backlog, by counting entries that are published and acknowledged."""
    found: dict[tuple[str, int, str, str], list[tuple[int, int]]] = {}
    for life in run.facts["lives"]:
        entries: dict[str, int] = {}
        acked: dict[tuple[str, str], set[tuple[int, int]]] = {}
        since: dict[tuple[str, str], int] = {}
        for event in run.events(life):
            topic, ns = event.get("topic"), event["ns"]
            if event["type"] == "cursor_open":
                acked[topic, event["sub"]] = set()
            elif event["type"] == "publish":
                entries[topic] = entries.get(topic, 0) + 1
            elif event["type"] in ("ack", "broker_ack"):
                acked[topic, event["sub"]].add((event["ledger"], event["entry"]))
            for key, of in acked.items():
                behind = entries.get(key[0], 0) > len(of)
                if behind and key not in since:
                    since[key] = ns
                elif not behind and key in since:
                    place = (life["broker"], life["epoch"], *key)
                    found.setdefault(place, []).append((since.pop(key), ns))
        for key, began in since.items():
            found.setdefault((life["broker"], life["epoch"], *key), []).append((began, life["ended_ns"]))
    return found


@pytest.mark.parametrize("name", ["delayed", "unacked_limit", "stuck", "keys_blocked", "transaction"])
def test_the_intervals_are_exactly_the_time_with_backlog(name: str) -> None:
    """Counted from the log by single acknowledgements, of subscriptions that share entries; to the µs that lie between two events.

    Not counted are topics that are unloaded.
    """
    run = shipped_run(name)
    unloaded = {event["topic"] for life in run.facts["lives"] for event in run.events(life) if event["type"] == "topic_unload"}
    expected = {
        key: stretches for key, stretches in backlog_times(run).items() if not key[3].endswith("exclusive") and key[2] not in unloaded
    }
    assert expected
    for key, stretches in expected.items():
        mine = truth_by_subscription(run)[key]
        assert all(first["to_ns"] <= second["from_ns"] for first, second in pairwise(mine))
        total = sum(one["to_ns"] - one["from_ns"] for one in mine)
        backlog = sum(end - began for began, end in stretches)
        assert abs(total - backlog) <= 200_000 * (len(stretches) + 1)
        assert abs(total - backlog) <= backlog // 500


@pytest.mark.parametrize("name", ["life", "mixed", "transaction", "keys_blocked"])
def test_intervals_do_not_overlap_and_neighbours_differ(name: str) -> None:
    for intervals in truth_by_subscription(shipped_run(name)).values():
        for first, second in pairwise(intervals):
            assert first["from_ns"] < first["to_ns"] <= second["from_ns"]
            same = all(first[name] == second[name] for name in ("cause", "level", "dimension"))
            assert not (same and first["to_ns"] == second["from_ns"])


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    scenario = dataclasses.replace(shipped("losses"), duration_s=60.0)
    for folder, seed in (("a", 5), ("b", 5), ("c", 6)):
        run_into(scenario, tmp_path / folder, seed)
    bytes_of = {
        folder: {str(path.relative_to(tmp_path / folder)): path.read_bytes() for path in sorted((tmp_path / folder).rglob("*.*"))}
        for folder in "abc"
    }
    assert len(bytes_of["a"]) == 3
    assert bytes_of["a"] == bytes_of["b"]
    assert bytes_of["a"] != bytes_of["c"]


def test_faults_change_the_log_and_not_the_truth(tmp_path: Path) -> None:
    scenario = dataclasses.replace(shipped("losses"), duration_s=120.0)
    faulty = run_into(scenario, tmp_path / "faulty")
    whole = run_into(dataclasses.replace(scenario, faults=Faults()), tmp_path / "whole")
    assert faulty.truth == whole.truth
    (life,) = faulty.facts["lives"]
    counts = life["faults"]
    assert len(faulty.lines) == life["events"] - counts["lost"] + counts["repeated"]
    events = faulty.events(life)
    assert len(faulty.lines) - len(events) >= counts["damaged"] > 0
    seqs = [event["seq"] for event in events]
    assert any(second < first for first, second in pairwise(seqs))
    share = counts["lost"] / life["events"]
    assert 0.04 < share < 0.06
    assert {event["seq"]: event for event in whole.events(life) if event["type"] != "heartbeat"}.items() >= {
        event["seq"]: event for event in events if event["type"] != "heartbeat"
    }.items()


def test_a_log_of_version_1_0_has_nothing_of_1_1(tmp_path: Path) -> None:
    scenario = dataclasses.replace(shipped("mixed"), duration_s=60.0, log_version="1.0")
    run = run_into(scenario, tmp_path / "old")
    text = "\n".join(run.lines)
    for word in ('"flow"', '"read_done"', '"delayed"', '"consumer_blocked"', '"redeliver"', "_tokens", '"source"', "log_version"):
        assert word not in text
    newer = run_into(dataclasses.replace(scenario, log_version="1.1"), tmp_path / "new")
    assert '"flow"' in "\n".join(newer.lines)


def test_a_log_of_version_1_1_has_nothing_of_1_2(tmp_path: Path) -> None:
    scenario = dataclasses.replace(shipped("mixed"), duration_s=60.0, log_version="1.1")
    run = run_into(scenario, tmp_path / "old")
    newer = run_into(dataclasses.replace(scenario, log_version="1.2"), tmp_path / "new")
    for word in ('_state"', '"state"', '"dispatch_share"', '"first_ledger"', '"consumer_name"'):
        assert word not in "\n".join(run.lines)
        assert word in "\n".join(newer.lines)


@pytest.mark.parametrize("name", ["delayed", "unacked_limit", "keys_blocked"])
def test_the_state_of_a_subscription_is_what_its_events_add_up_to(tmp_path: Path, name: str) -> None:
    run = run_into(dataclasses.replace(shipped(name), duration_s=60.0), tmp_path / "run")
    (life,) = run.facts["lives"]
    published: Counter[str] = Counter()
    acknowledged: defaultdict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    states = 0
    for event in run.events(life):
        of = event.get("topic"), event.get("sub")
        if event["type"] == "publish":
            published[event["topic"]] += 1
        elif event["type"] == "ack":
            assert event["ack_type"] == "individual"
            acknowledged[of].add((event["ledger"], event["entry"]))
        elif event["type"] == "state":
            states += 1
            assert event["as_of_seq"] == event["seq"] - 1
            assert event["backlog_entries"] == published[event["topic"]] - len(acknowledged[of])
    assert states >= 5


def test_every_fact_is_json_of_plain_values() -> None:
    facts = shipped_run("life").facts
    assert json.loads(json.dumps(facts)) == facts
    assert [life["broker"] for life in facts["lives"]] == ["broker-0:8080"] * 3 + ["broker-1:8080"] * 3
