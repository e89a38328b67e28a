"""Whether a check shows what the broker saw: what decides on the oldest position may change between the round's start and the check."""

from typing import Any

import pytest
from bookkeeper.quota_books import QuotaBooks
from bookkeeper.quota_random import quota_logs
from hypothesis import given, settings
from lane_tables import tables_of
from log_builder import Log
from suite.examples import examples

Event = dict[str, Any]
TOPIC = "persistent://a/b/c"
MS = 0.001


def a_log() -> Log:
    """A topic with an open ledger, a closed one and two subscriptions, the slower one at its beginning."""
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings={})
    log.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=1, snapshot=True)
    for sub in ("slow", "fast"):
        log.add("cursor_open", topic=TOPIC, sub=sub, durable=True, ledger=1, entry=-1)
    for kind in ("destination_storage", "message_age"):
        log.add("backlog_quota", topic=TOPIC, quota_type=kind, limit=-1, policy="producer_request_hold")
    for entry in range(4):
        log.add("publish", topic=TOPIC, ledger=1, entry=entry, msgs=1, bytes=10, publish_ts=1_700_000_000_000)
    log.add("ledger_close", topic=TOPIC, ledger=1, entries=4, bytes=40, close_ts=1_700_000_000_001)
    return log.add("ledger_open", topic=TOPIC, ledger=2)


def moved(log: Log, sub: str, entry: int) -> Log:
    """Acknowledged up to there, in memory and in the metadata."""
    log.add("ack", topic=TOPIC, sub=sub, consumer=0, ack_type="cumulative", ledger=1, entry=entry)
    for persisted in (False, True):
        log.add("mark_delete", topic=TOPIC, sub=sub, ledger=1, entry=entry, persisted=persisted)
    return log


def checked(log: Log, at_s: float) -> Log:
    """The check of a round that began 30 ms before."""
    return log.at(at_s).add("quota_check", topic=TOPIC, duration_us=30_000).add("quota_round", phase="end", duration_us=30_000)


def certainty(log: Log) -> list[bool]:
    return [row["believed_age_is_certain"] for row in tables_of(log.events)["topic_backlog"]]


def begun(log: Log, at_s: float) -> Log:
    return log.at(at_s).add("quota_round", phase="start")


def test_nothing_moved_since_the_round_began() -> None:
    log = moved(a_log().at(9), "slow", 0)
    assert certainty(checked(begun(log, 10), 10 + 30 * MS)) == [True]


def test_the_slowest_cursor_moved_in_the_round() -> None:
    log = moved(begun(a_log(), 10).at(10 + 10 * MS), "slow", 3)
    log = checked(log, 10 + 30 * MS)
    assert certainty(log) == [False]
    assert certainty(checked(begun(log, 20), 20 + 30 * MS)) == [False, True]


def test_a_cursor_that_is_not_the_slowest_moved() -> None:
    log = moved(begun(a_log(), 10).at(10 + 10 * MS), "fast", 1)
    assert certainty(checked(log, 10 + 30 * MS)) == [True]


def test_the_first_entry_of_a_topic_without_backlog_came_in_the_round() -> None:
    log = moved(moved(a_log().at(5), "slow", 3), "fast", 3)
    log = begun(log, 10).at(10 + 10 * MS)
    log.add("publish", topic=TOPIC, ledger=2, entry=0, msgs=1, bytes=10, publish_ts=1_700_000_010_000)
    assert certainty(checked(log, 10 + 30 * MS)) == [False]


def test_a_producer_that_asks_gives_the_moment() -> None:
    """What it looked up stays until the next look."""
    log = moved(begun(a_log(), 10).at(10 + 10 * MS), "slow", 2)
    log = checked(log, 10 + 30 * MS).at(11).add("quota_check", topic=TOPIC, cause="producer")
    assert certainty(checked(begun(log, 20), 20 + 30 * MS)) == [False, True]


def test_without_checks_in_the_log_nothing_is_certain() -> None:
    log = a_log()
    for second in range(100, 400, 10):
        log.at(second).add("heartbeat", dropped=0)
    assert set(certainty(log)) == {False}


def what_looks_find(events: list[Event]) -> dict[tuple[int, str], list[tuple[int, object]]]:
    """By epoch and topic: (ts, what a look right after that event would find)."""
    books, found = QuotaBooks(), {}
    for event in events:
        books.apply(event)
        for name, topic in books.topics.items():
            clone = topic.clone()
            clone.oldest = None
            readable = clone.look_up_oldest(books.rules.precise)
            seen = None if clone.oldest is None else (clone.oldest.position, clone.oldest.ts_ms)
            found.setdefault((event["epoch"], name), []).append((event["ts"], (readable, seen)))
    return found


@pytest.mark.parametrize("honest", [True, False])
def test_a_check_that_is_certain_found_the_same_at_every_moment_of_its_round(honest: bool) -> None:
    @settings(max_examples=examples(100), deadline=None)
    @given(quota_logs(honest=honest))
    def holds(events: list[Event]) -> None:
        looks = what_looks_find(events)
        checks = [event for event in events if event["type"] == "quota_check" and "duration_us" in event]
        for row in tables_of(events)["topic_backlog"]:
            if row["check_source"] != "log" or not row["believed_age_is_certain"]:
                continue
            key = (row["epoch"], row["topic"])
            ends = [e for e in checks if (e["epoch"], e["topic"]) == key and e["ts"] >= row["check_time"]]
            if not ends:
                continue
            start = ends[0]["ts"] - ends[0]["duration_us"]
            before = [found for ts, found in looks[key] if ts < start][-1:]
            within = [found for ts, found in looks[key] if start <= ts < row["check_time"]]
            assert len(set(before + within)) <= 1, (row, before, within)

    holds()
