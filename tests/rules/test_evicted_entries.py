"""Entries that an eviction's moves remove are evicted, wherever the broker went; what else moves the cursor meanwhile evicts nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_tables import tables_of
from log_builder import START_TS_US, SUB, TOPIC, Log
from suite.examples import examples

LEDGER, BYTES = 5, 100
Tables = dict[str, list[dict[str, Any]]]


def behind(entries: int, *, quota: str = "destination_storage", limit: int = 1000, precise: bool = True) -> Log:
    """A topic of so many entries of 100 bytes, none acknowledged, published one a second, with a quota that evicts."""
    log = Log().start(preciseTimeBasedBacklogQuotaCheck=str(precise).lower())
    for kind, of in (("destination_storage", -1), ("message_age", -1)):
        log.add("backlog_quota", topic=TOPIC, quota_type=kind, limit=limit if kind == quota else of, policy="consumer_backlog_eviction")
    for entry in range(entries):
        publish(log.at(entry), entry)
    return log.at(entries)


def publish(log: Log, entry: int) -> Log:
    now_ms = (START_TS_US + log._ns // 1000) // 1000
    return log.add("publish", topic=TOPIC, ledger=LEDGER, entry=entry, msgs=1, bytes=BYTES, publish_ts=now_ms)


def begun(log: Log, quota: str = "destination_storage", limit: int = 1000) -> Log:
    log.add("quota_round", phase="start")
    return log.add("quota_exceeded", topic=TOPIC, quota_type=quota, policy="consumer_backlog_eviction", limit=limit)


def moved(log: Log, entry: int) -> Log:
    return log.add("mark_delete", topic=TOPIC, sub=SUB, ledger=LEDGER, entry=entry, persisted=False)


def acknowledged(log: Log, entry: int, how: str = "individual") -> Log:
    return log.add("ack", topic=TOPIC, sub=SUB, consumer=1, ack_type=how, ledger=LEDGER, entry=entry)


def checked(log: Log) -> Log:
    log.add("quota_check", topic=TOPIC, duration_us=9)
    return log.add("quota_round", phase="end", duration_us=10)


def told(log: Log) -> tuple[dict[str, int], Tables]:
    """What became of the cursor's entries, by the check after `log`; and all tables."""
    log.at(300).add("quota_round", phase="start")
    tables = tables_of(checked(log).events)
    last = max(tables["subscription_backlog"], key=lambda row: row["check_number"])
    assert last["unexplained_entries"] == 0
    return {name: last[f"{name}_entries"] for name in ("acknowledged", "evicted", "expired")}, tables


@pytest.mark.parametrize("to", [3, 10, 11, 19])
def test_a_broker_that_goes_elsewhere_than_the_rules_evicts_all_that_it_passes(to: int) -> None:
    """2,000 bytes and 20 entries: down to 900 the rules skip 11, to entry 10."""
    fates, tables = told(checked(moved(begun(behind(20)), to)))
    assert fates == {"acknowledged": 0, "evicted": to + 1, "expired": 0}
    decision, move = tables["quota_evictions"][0], tables["quota_eviction_moves"][0]
    assert (decision["entries_planned"], decision["entries_evicted"]) == (11, to + 1)
    assert (move["reached_entry"], move["entries_evicted"], move["agrees"]) == (to, to + 1, to == 10)
    assert decision["disagreement"] == ("none" if to == 10 else "other_target")


def test_a_publish_between_decision_and_move_takes_nothing_from_the_count() -> None:
    """The broker evicts from 2,100 bytes: one entry more than from 2,000."""
    fates, _ = told(checked(moved(publish(begun(behind(20)), 20), 11)))
    assert fates == {"acknowledged": 0, "evicted": 12, "expired": 0}


def test_what_is_acknowledged_between_decision_and_move_is_not_evicted() -> None:
    log = begun(behind(20))
    for entry in (0, 4, 15):
        acknowledged(log, entry)
    fates, _ = told(checked(moved(moved(log, 0), 10)))
    assert fates == {"acknowledged": 3, "evicted": 9, "expired": 0}


@pytest.mark.parametrize("its_own_move", [True, False])
def test_what_is_acknowledged_up_to_a_position_before_the_move_is_not_evicted(its_own_move: bool) -> None:
    log = acknowledged(begun(behind(20)), 4, "cumulative")
    fates, _ = told(checked(moved(moved(log, 4) if its_own_move else log, 10)))
    assert fates == {"acknowledged": 5, "evicted": 6, "expired": 0}


def test_a_seek_between_decision_and_check_evicts_nothing() -> None:
    log = moved(begun(behind(20)), 10).add("mark_delete", topic=TOPIC, sub=SUB, ledger=LEDGER, entry=17, persisted=False, reset=True)
    fates, _ = told(checked(log))
    assert fates == {"acknowledged": 0, "evicted": 11, "expired": 0}


def test_after_the_check_of_a_size_quota_nothing_is_evicted() -> None:
    fates, _ = told(moved(checked(moved(begun(behind(20)), 10)), 14))
    assert fates == {"acknowledged": 0, "evicted": 11, "expired": 4}


@pytest.mark.parametrize("in_time", [True, False])
def test_a_broker_that_evicts_alone_evicts(in_time: bool) -> None:
    """By the rules nothing is exceeded: the quota changed, and the log does not have it."""
    quota = "message_age" if in_time else "destination_storage"
    log = begun(behind(20, limit=10**6, precise=False), quota, 5)
    fates, tables = told(checked(moved(log, 7)))
    assert fates == {"acknowledged": 0, "evicted": 8, "expired": 0}
    assert tables["quota_evictions"][0]["disagreement"] == "broker_acted_alone"


@pytest.mark.parametrize("to", [2, 8, 12])
def test_a_precise_age_eviction_goes_on_after_its_check_wherever_it_goes(to: int) -> None:
    """At 20 s all that is older than 9 s goes: up to entry 10. Each entry's time may be the broker's instead of the producer's."""
    log = checked(begun(behind(20, quota="message_age", limit=10), "message_age", 10))
    fates, _ = told(moved(log.at(20.2), to))
    assert fates == {"acknowledged": 0, "evicted": to + 1, "expired": 0}


def test_a_cursor_that_closes_after_its_eviction_keeps_its_row() -> None:
    """A precise age eviction waits for the next check: the subscription may be gone by then."""
    log = moved(checked(begun(behind(20, quota="message_age", limit=10), "message_age", 10)).at(20.2), 10)
    log.at(40).add("cursor_close", topic=TOPIC, sub=SUB).add("quota_round", phase="start")
    (decision,) = tables_of(checked(log).events)["quota_evictions"]
    assert (decision["entries_planned"], decision["entries_evicted"], decision["agrees"]) == (11, 11, True)


def test_a_cursor_that_has_come_to_where_it_was_to_go_is_evicted_no_more() -> None:
    log = checked(begun(behind(20, quota="message_age", limit=10), "message_age", 10))
    fates, _ = told(moved(moved(log.at(20.2), 10).at(21), 17))
    assert fates == {"acknowledged": 0, "evicted": 11, "expired": 7}


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["publish", "ack", "all_to", "evict"]), st.integers(0, 24)), max_size=15))
def test_every_entry_that_goes_between_decision_and_check_goes_once(steps: list[tuple[str, int]]) -> None:
    """Acknowledgements, publishes and moves of the eviction in any order."""
    log, marked, entries, live, gone = begun(behind(20)), -1, 20, set(range(20)), {"acknowledged": 0, "evicted": 0, "expired": 0}
    for act, entry in steps:
        if act == "publish":
            publish(log, entries)
            live, entries = live | {entries}, entries + 1
            continue
        entry = min(entry, entries - 1)
        passed = {entry} & live if act == "ack" else {each for each in live if each <= entry}
        if not passed:
            continue
        if act != "evict":
            acknowledged(log, entry, "individual" if act == "ack" else "cumulative")
        live -= passed
        gone["evicted" if act == "evict" else "acknowledged"] += len(passed)
        end = marked if act == "ack" else entry
        while end + 1 < entries and end + 1 not in live:
            end += 1
        if end > marked:
            moved(log, end)
            marked = end
    assert told(checked(log))[0] == gone
