"""What is written of a cursor that is gone makes no new one: threads of the broker finish after it, its last consumer among them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import as_tables, drain_row, run_lane, tables_of
from log_builder import SUB, TOPIC, Log
from suite.examples import examples

READER = "reader-1e357e2abc"
#: What may still come of a cursor that was closed.
AFTERWARDS: dict[str, dict[str, Any]] = {
    "consumer_close": {"consumer": 0, "conn": 6},
    "consumer_open": {"consumer": 0, "conn": 6},
    "ack": {"consumer": 0, "ack_type": "individual", "ledger": 5, "entry": 2},
    "mark_delete": {"ledger": 5, "entry": 2, "persisted": True},
    "dispatch": {"entries": 1, "msgs": 1, "bytes": 100},
    "cursor_close": {},
}
every_event = pytest.mark.parametrize("kind", AFTERWARDS)


def with_a_reader() -> Log:
    log = Log().start().publish(5)
    log.add("cursor_open", topic=TOPIC, sub=READER, durable=False, ledger=5, entry=-1)
    log.add("dispatcher_open", topic=TOPIC, sub=READER, sub_type="Exclusive")
    return log.add("consumer_open", topic=TOPIC, sub=READER, consumer=0, conn=6)


def closed(log: Log) -> Log:
    return log.at(42).add("dispatcher_close", topic=TOPIC, sub=READER).add("cursor_close", topic=TOPIC, sub=READER)


def checked(log: Log) -> dict[str, list[dict[str, Any]]]:
    return tables_of(log.at(50).add("quota_check", topic=TOPIC, duration_us=300).events)


@every_event
def test_a_reader_that_closed_leaves_no_cursor_behind(kind: str) -> None:
    tables = checked(closed(with_a_reader()).add(kind, topic=TOPIC, sub=READER, **AFTERWARDS[kind]))
    assert [row["subscription"] for row in tables["subscription_backlog"]] == [SUB]
    assert [row["subscriptions"] for row in tables["topic_backlog"]] == [1]
    assert {row["subscription"] for row in tables["cause_transitions"]} <= {SUB, READER}


@every_event
def test_a_reader_that_closed_before_anything_else_of_it_leaves_none(kind: str) -> None:
    """The log begins in the middle of its life."""
    log = Log().start().publish(5).add("cursor_close", topic=TOPIC, sub=READER)
    tables = checked(log.add(kind, topic=TOPIC, sub=READER, **AFTERWARDS[kind]))
    assert [row["subscription"] for row in tables["subscription_backlog"]] == [SUB]


@every_event
def test_what_comes_after_an_unload_does_not_bring_the_topic_back(kind: str) -> None:
    log = with_a_reader().add("topic_unload", topic=TOPIC).add(kind, topic=TOPIC, sub=READER, **AFTERWARDS[kind])
    (row,) = checked(log)["topic_backlog"]
    assert (row["backlog_size"], row["subscriptions"]) == (None, 0)


def test_a_reader_of_the_same_name_that_opens_again_is_there() -> None:
    log = closed(with_a_reader()).add("cursor_open", topic=TOPIC, sub=READER, durable=False, ledger=5, entry=1)
    rows = {row["subscription"]: row for row in checked(log)["subscription_backlog"]}
    assert (rows[READER]["msg_backlog"], rows[READER]["complete"]) == (3, True)


def test_after_a_loss_a_cursor_that_is_gone_may_have_been_opened_again() -> None:
    log = closed(with_a_reader()).add("heartbeat", dropped=0).add("ack", topic=TOPIC, sub=READER, **AFTERWARDS["ack"])
    log.at(50).add("quota_check", topic=TOPIC, duration_us=300)
    tables = tables_of([event for event in log.events if event["type"] != "heartbeat"])
    (row,) = [row for row in tables["subscription_backlog"] if row["subscription"] == READER]
    assert (row["complete"], row["cursor_kind"]) == (False, None)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from([*AFTERWARDS, "close", "open", "unload", "load"]), min_size=2, max_size=10), st.integers(1, 1000))
def test_who_is_gone_does_not_depend_on_where_the_log_was_cut(kinds: list[str], where: int) -> None:
    log = with_a_reader()
    for minute, kind in enumerate(kinds):
        log.at(60 * minute + 1)
        if kind == "open":
            log.add("cursor_open", topic=TOPIC, sub=READER, durable=False, ledger=5, entry=1)
        elif kind in ("unload", "load"):
            log.add(f"topic_{kind}", topic=TOPIC)
        elif kind == "close":
            log.add("cursor_close", topic=TOPIC, sub=READER)
        else:
            log.add(kind, topic=TOPIC, sub=READER, **AFTERWARDS[kind])
        log.add("quota_check", topic=TOPIC, duration_us=300)
    events = log.events
    at = 1 + where % (len(events) - 1)
    outcomes, _ = run_lane([[lane_rows(events[:at], 0)], [lane_rows(events[at:], 1)], [drain_row()]], restart=True)
    assert as_tables(outcomes, events) == tables_of(events)
