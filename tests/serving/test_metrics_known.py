"""What is known of a log with a hole, without its beginning, of two brokers: a line that could be wrong is not printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from broker_scrapes import ALWAYS
from capture_events import write_events
from loaded import load_into

from pipeline.query.room import ReadingRoom
from pipeline.serving.metrics.text import metrics_text

(F_LIMIT,) = (scrape for scrape in ALWAYS if scrape.name == "f_limit_above_need")
Event = dict[str, Any]


def texts_of(events: Sequence[Event], folder: Path) -> tuple[list[str], list[str]]:
    """Lines with topics, and with namespaces."""
    log = write_events(list(events), folder / "log" / "events.jsonl.gz").parent
    room = ReadingRoom(load_into(log, folder / "warehouse"))
    return metrics_text(room).splitlines(), metrics_text(room, topics=False).splitlines()


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return F_LIMIT.events()


def test_an_event_that_is_lost_takes_every_line_that_it_could_have_changed(events: list[Event], tmp_path: Path) -> None:
    publishes = [event for event in events if event["type"] == "publish"]
    lost = publishes[len(publishes) // 2]
    assert texts_of([event for event in events if event is not lost], tmp_path) == ([], [])


def test_without_its_beginning_nothing_is_known(events: list[Event], tmp_path: Path) -> None:
    beginning = [event for event in events if event["seq"] > 200]
    assert 200 < len(beginning) < len(events)
    assert texts_of(beginning, tmp_path) == ([], [])


def test_two_brokers_of_a_cluster_have_one_series_each_counter_added_up(events: list[Event], tmp_path: Path) -> None:
    """The topic is on both, as if it had moved: it has the series of one."""
    alone, _ = texts_of(events, tmp_path / "one")
    both, _ = texts_of([*events, *({**event, "broker": "127.0.0.2:8080"} for event in events)], tmp_path / "two")
    checks = "pulsar_storage_backlog_quota_check_duration_seconds_count"
    (of_one,), (of_both,) = ([line for line in lines if line.startswith(checks)] for lines in (alone, both))
    assert float(of_both.split()[1]) == 2 * float(of_one.split()[1]) > 0
    assert [line for line in both if 'topic="' in line] == [line for line in alone if 'topic="' in line] != []


def test_a_subscription_that_no_check_has_seen_has_its_counters_alone(events: list[Event], tmp_path: Path) -> None:
    first_round = next(event["seq"] for event in events if event["type"] == "quota_round")
    until = [event for event in events if event["seq"] < first_round]
    opened = {event["sub"] for event in until if event["type"] == "dispatcher_open"}
    lines, sums = texts_of(until, tmp_path)
    found = {line.partition("{")[0] for line in lines if line[0] != "#"}
    assert opened
    assert found == {f"pulsar_subscription_dispatch_throttled_{dimension}_events" for dimension in ("msg", "bytes")}
    assert sums == []


def test_an_age_that_the_broker_may_have_seen_otherwise_has_no_line(events: list[Event], tmp_path: Path) -> None:
    """A log without the broker's checks: the rules check at the interval, and nobody knows what the broker saw at its own."""
    unchecked = [event for event in events if event["type"] not in ("quota_check", "quota_round")]
    lines, _ = texts_of([{**event, "seq": seq} for seq, event in enumerate(unchecked, 1)], tmp_path)
    assert [line for line in lines if "backlog_size{" in line]
    assert [line for line in lines if "backlog_age_seconds{" in line] == []
