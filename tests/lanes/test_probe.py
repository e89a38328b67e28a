"""A probe says what the bookkeeper says of the same instant, whatever way the events came; and it changes nothing."""

from itertools import groupby
from typing import Any

import numpy as np
import pytest
from bookkeeper.quota_books import Event, QuotaBooks
from bookkeeper.quota_cases import CASES, Case
from bookkeeper.quota_random import quota_logs
from bookkeeper.quota_script import EXCEPTION, TOPIC, Log, ms
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables, tables_of
from quota_tables import checks_of
from suite.examples import examples

from pipeline.faults import BrokenInvariant
from pipeline.lanes.probe import Probe

Row = dict[str, Any]
PROBED = [case for case in CASES if case.probes]


def probe_of(events: list[Event], *chunks: np.ndarray) -> Probe:
    """Of events of one epoch, offered in `chunks` if they are given."""
    probe = Probe(events[0]["epoch"], SETTINGS)
    for chunk in chunks or (lane_rows(events),):
        probe.offer(chunk)
    return probe


def said_by(probe: Probe, now_us: int, events: list[Event]) -> dict[str, Row]:
    """Topic → what the probe says, in the bookkeeper's words; `decision` is left out, for nothing is looked up anew as a check would."""
    tables = as_tables(probe.at(now_us), events)
    found = {}
    for topic in {row["topic"] for row in tables["topic_backlog"]}:
        (said,) = checks_of(
            {name: [row for row in tables[name] if row["topic"] == topic] for name in ("topic_backlog", "subscription_backlog")}
        )
        found[topic] = {name: value for name, value in said.items() if name not in ("decision", "check_time_us")}
    return found


def kept(events: list[Event]) -> QuotaBooks:
    books = QuotaBooks()
    for event in events:
        books.apply(event)
    return books


def last_epoch(events: list[Event]) -> list[Event]:
    """Events of the last epoch, of a broker that checks only where its log says so."""
    chosen = [list(of_one) for _, of_one in groupby(events, key=lambda event: event["epoch"])][-1]
    seldom = {"backlogQuotaCheckIntervalInSeconds": "1000000"}
    return [e | {"settings": e["settings"] | seldom} if e["type"] == "broker_start" else e for e in chosen]


@pytest.mark.parametrize("case", PROBED, ids=[case.id for case in PROBED])
def test_golden_case(case: Case) -> None:
    for applied, now_ms, shown in case.probes:
        said = said_by(probe_of(case.events[:applied]), now_ms * 1000, case.events)[TOPIC]
        assert {name: said[name] for name in shown} == shown


@settings(max_examples=examples(60), deadline=None)
@given(quota_logs(), st.data())
def test_every_instant_of_a_random_log_is_as_the_bookkeeper_says(log: list[Event], data: st.DataObject) -> None:
    events = last_epoch(log)
    until = data.draw(st.integers(1, len(events)), label="events")
    now_us = events[until - 1]["ts"] + data.draw(st.sampled_from((0, 999, 5_000_000)), label="µs later")
    books, said = kept(events[:until]), said_by(probe_of(events[:until]), now_us, events)
    assert said.keys() == books.topics.keys()
    for topic, mine in said.items():
        judge = books.probe(topic, now_us // 1000)
        subscriptions = [{name: sub[name] for name in one} for one, sub in zip(mine["subscriptions"], judge["subscriptions"], strict=True)]
        assert mine == {name: judge[name] for name in mine} | {"subscriptions": subscriptions}


def a_log() -> list[Event]:
    """A topic with an age limit, three ledgers, two subscriptions, checks, and acknowledgements here and there."""
    log = Log().load(age=2, age_policy=EXCEPTION).sub("c1", (1, -1)).sub("c2", (1, -1)).producers(2)
    for second in range(30):
        log.at(second).open(second // 10 + 1) if second % 10 == 0 else log.at(second)
        log.publish(second // 10 + 1, second % 10)
        if second % 3 == 0:
            log.acked_to("c2", (second // 10 + 1, second % 10)).check()
    return log.events


def test_asking_changes_nothing() -> None:
    events = a_log()
    asked = Probe(events[0]["epoch"], SETTINGS)
    for event in events:
        asked.offer(lane_rows([event]))
        assert said_by(asked, event["ts"], events) == said_by(asked, event["ts"], events)
    assert said_by(asked, ms(40) * 1000, events) == said_by(probe_of(events), ms(40) * 1000, events) != {}


def test_a_probe_at_a_check_says_what_the_check_said() -> None:
    events = a_log()
    rows = [row for row in tables_of(events)["topic_backlog"] if row["check_source"] == "log"]
    checks = [number for number, event in enumerate(events) if event["type"] == "quota_check"]
    assert len(rows) == len(checks) > 5
    for row, number in zip(rows, checks, strict=True):
        (probed,) = as_tables(probe_of(events[: number + 1]).at(events[number]["ts"]), events)["topic_backlog"]
        assert probed == row


@pytest.mark.parametrize("seed", range(5))
def test_order_and_repeats_do_not_matter(seed: int) -> None:
    events, now_us = a_log(), ms(40) * 1000
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(events)), 2))
    shuffled = np.array_split(lane_rows(events)[order], 4)
    assert said_by(probe_of(events, *shuffled), now_us, events) == said_by(probe_of(events), now_us, events)


def test_a_gap_is_given_up_and_said() -> None:
    events, now_us = a_log(), ms(40) * 1000
    whole = said_by(probe_of(events), now_us, events)[TOPIC]
    holed = said_by(probe_of([event for event in events if event["seq"] != 7]), now_us, events)[TOPIC]
    assert (whole["complete"], holed["complete"]) == (True, False)
    assert holed["subscriptions"][0]["msg_backlog"] == whole["subscriptions"][0]["msg_backlog"] > 0


def test_nothing_lives_after_the_broker_stopped() -> None:
    events = a_log()
    stop = {**{name: events[-1][name] for name in ("v", "broker", "epoch", "ts", "ns")}, "seq": len(events) + 1, "type": "broker_stop"}
    assert probe_of([*events, stop]).at(stop["ts"]) == []


def test_events_of_another_epoch_are_refused() -> None:
    with pytest.raises(BrokenInvariant, match="another epoch"):
        Probe(5, SETTINGS).offer(lane_rows(a_log()))
