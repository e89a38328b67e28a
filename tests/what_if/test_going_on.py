"""A world after the end of its record: its demand, its consumers, and when a subscription is current."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.command_line import main
from driver.loading import load_log
from driver.session import ROOT
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.what_if import answer
from pipeline.what_if.answer import Case, case_of, what_if
from pipeline.what_if.changes import Changes, changes_of
from pipeline.what_if.compare import FEW_ENTRIES, self_check
from pipeline.what_if.going_on import LEAST_TAIL_NS, NS_PER_S, gone_on
from pipeline.what_if.projection import current_from
from tests.support.suite.examples import examples

PROMISED = (Path(__file__).parents[2] / "docs/reference/json.md").read_text(encoding="utf-8").partition("## what-if")[2]
OF_LIFE = set(re.findall(r"^\| `subscriptions\[\]\.projected\.as_it_was\.([a-z_]+)(?:\[\][a-z_.]*)?` \|", PROMISED, re.MULTILINE))
OF_UNTIL = set(re.findall(r"^\| `until\.([a-z_]+)` \|", PROMISED, re.MULTILINE))
TOPIC = "persistent://real/y/payments"
MINUTE_S = 60.0
#: Before its consumers leave.
TO = datetime(2026, 11, 21, 11, 48, 20, tzinfo=UTC)

Document = dict[str, Any]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """The bundled log of a real broker, which ends while its load goes on."""
    warehouse = f"file:{tmp_path_factory.mktemp('going-on')}/warehouse"
    load_log(str(ROOT / "demo/y_incident/events.jsonl.gz"), warehouse, load_settings(None, [], {}), 1, lambda _: None)
    return ReadingRoom(Warehouse(warehouse), consistent=True)


@pytest.fixture(scope="module")
def case(room: ReadingRoom) -> Case:
    """A subscription with 60 messages/s, of a topic that gets 91."""
    return case_of(room, TOPIC, "ledger", Changes(), None, (None, None))


@settings(max_examples=examples(60), deadline=None)
@given(before_end=st.integers(0, 50), seconds=st.integers(1, 300))
def test_the_last_part_comes_again_at_its_rate(case: Case, before_end: int, seconds: int) -> None:
    lasts_ns, from_ns = seconds * NS_PER_S, case.world.end_ns - before_end * NS_PER_S
    was, _ = gone_on(case.world, from_ns, 0)
    world, demand = gone_on(case.world, from_ns, lasts_ns)
    assert world.end_ns == from_ns + lasts_ns
    assert demand.to_ns - demand.from_ns >= min(LEAST_TAIL_NS, from_ns - case.world.begin_ns)
    number = case.target.topic
    before, after = was.scales[number], world.scales[number]
    assert before.is_whole
    assert len(before.publishes["ns"]) == int((case.world.scales[number].publishes["ns"] <= from_ns).sum())
    new = {name: values[len(before.publishes["ns"]) :] for name, values in after.publishes.items()}
    assert after.is_whole
    assert after.total - before.total == len(new["ns"])
    assert (np.diff(new["ns"]) >= 0).all()
    assert len(new["ns"]) == 0 or (new["ns"].min() > from_ns and new["ns"].max() <= world.end_ns)
    rounds = lasts_ns / (demand.to_ns - demand.from_ns)
    assert demand.entries[number] * int(rounds) <= len(new["ns"]) <= demand.entries[number] * demand.times
    assert (after.places(new["ledger"], new["entry"]) == np.arange(before.total, after.total)).all()
    # The wall clock moves with the monotonic one: ages go on.
    rows = np.flatnonzero(before.publishes["ns"] > demand.from_ns)[: len(new["ns"])]
    moved_ns = new["ns"][: len(rows)] - before.publishes["ns"][rows]
    moved_ms = new["publish_ts"][: len(rows)] - before.publishes["publish_ts"][rows]
    assert (moved_ns // 1_000_000 == moved_ms).all()


def test_those_who_are_there_at_the_end_stay_and_quotas_are_checked_on(case: Case) -> None:
    from_ns = case.world.end_ns - 10 * NS_PER_S
    world, _ = gone_on(case.world, from_ns, 600 * NS_PER_S)
    there = [one for one in case.world.presences if one.from_ns <= from_ns < one.to_ns]
    assert len(there) == sum(one.to_ns > world.end_ns for one in world.presences) == 10
    rounds = [row["ns"] for row in world.record.of("quota_round") if row["phase"] == "start"]
    assert rounds == sorted(rounds)
    assert max(rounds) > world.end_ns - 60 * NS_PER_S


def test_too_many_entries_are_refused(case: Case) -> None:
    with pytest.raises(BadConfig, match=r"--until: .* entries would come until then; at most 20,000,000 are replayed"):
        gone_on(case.world, case.world.end_ns, 365 * 86_400 * NS_PER_S)


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=60), st.floats(0, 100))
def test_current_is_for_good(backlog: list[int], entries_per_s: float) -> None:
    found = current_from(np.array(backlog), entries_per_s)
    few = max(FEW_ENTRIES, 0.002 * max(backlog), entries_per_s)
    tail = 0
    while tail < len(backlog) and backlog[len(backlog) - 1 - tail] <= few:
        tail += 1
    assert found == (len(backlog) - tail if tail else None)


def test_both_lives_go_on_as_their_rates_say(room: ReadingRoom) -> None:
    """Of 91 messages/s that are published 60 get through, as it was set. Without a limit of the subscription or the broker all do."""
    changes = changes_of(["subscription.dispatch_rate=none", "broker.dispatch_rate=none"])
    document = what_if(room, TOPIC, "ledger", changes, None, (None, TO), MINUTE_S)
    assert set(document["until"]) == OF_UNTIL
    lasted = (document["until"]["to"] - document["until"]["demand_to"]).total_seconds()
    assert lasted == pytest.approx(MINUTE_S, abs=1)
    (life,) = [one["projected"] for one in document["subscriptions"] if one["subscription"] == "ledger"]
    assert set(life["as_it_was"]) == set(life["would_be"]) == OF_LIFE
    grown = life["as_it_was"]["at_end"] - life["as_it_was"]["samples"][0]["backlog"]
    assert grown == pytest.approx(lasted * (document["until"]["entries_per_s"] - 60), rel=0.1)
    assert life["as_it_was"]["current_at"] is None
    assert life["would_be"]["current_at"] == document["until"]["demand_to"]


def test_the_command_tells_that_it_is_a_projection(room: ReadingRoom, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["what-if", TOPIC, "ledger", "--set", "subscription.dispatch_rate=none", "--warehouse", room.warehouse.root]
    assert main([*words, "--until", "5m"]) == 0
    out = capsys.readouterr().out
    assert "A projection to " in out
    assert "of the record come again and again" in out
    assert "No consumer of ledger is there at its beginning: --to begins it earlier." in out
    assert "ledger, as it was set: not current until then, " in out
    assert main([*words, "--until", "soon"]) == 2
    assert "--until" in capsys.readouterr().err


def test_without_the_record_there_is_no_projection(room: ReadingRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    other = self_check(np.full((1, 1), 100), np.zeros((1, 1), dtype=np.int64), (0, 0), (0, 0), 0)
    monkeypatch.setattr(answer, "_checked", lambda *_: other)
    document = what_if(room, TOPIC, "ledger", Changes(), None, (None, None), MINUTE_S)
    assert not document["self_check"]["ok"]
    assert document["until"] is None
    assert all(one["projected"] is None and one["predicted"] is None for one in document["subscriptions"])
