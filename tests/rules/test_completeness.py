"""What a broker's collector has no point for, nobody can know: rows that need it are not complete, and say why."""

from typing import Any

import pytest
from bookkeeper.quota_cases import CASES
from bookkeeper.quota_script import EVICTION
from bookkeeper.quota_script import Log as QuotaLog
from busy_log import busy_log
from lane_tables import Table, tables_of
from log_builder import Log

from schemas.completeness import INCOMPLETE_REASONS
from schemas.events import TYPES_BY_NAME
from schemas.events.points import POINTS
from schemas.packages import NEEDS
from schemas.tables import TABLES_BY_NAME


def logged(*missing: str | None) -> list[dict[str, Any]]:
    """A log with rows in every table that knows whether it is complete, of a broker that lacks these points."""
    events = busy_log(seconds=70)
    events += [{**event, "seq": len(events) + 1 + k} for k, event in enumerate(tail(events[-1]))]
    return [{**event, "missing_points": list(missing)} if event["type"] == "broker_start" else event for event in events]


def tail(last: dict[str, Any]) -> list[dict[str, Any]]:
    """A connection, and a topic whose size quota is exceeded."""
    topic = {"topic": "persistent://shop/eu/quota"}
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("conn_open", {"conn": 900}),
        ("writability", {"conn": 900, "writable": False, "pending_bytes": 9}),
        ("topic_load", topic),
        ("backlog_quota", {**topic, "quota_type": "destination_storage", "limit": 10, "policy": EVICTION}),
        ("backlog_quota", {**topic, "quota_type": "message_age", "limit": -1, "policy": EVICTION}),
        ("ledger_open", {**topic, "ledger": 1}),
        ("cursor_open", {**topic, "sub": "s", "durable": True, "ledger": 1, "entry": -1}),
        ("publish", {**topic, "ledger": 1, "entry": 0, "msgs": 1, "bytes": 100, "publish_ts": 1}),
        ("quota_round", {"phase": "start"}),
        ("quota_check", {**topic, "duration_us": 1}),
        ("quota_round", {"phase": "end", "duration_us": 1}),
    ]
    envelope = {name: last[name] for name in ("v", "broker", "epoch", "ts", "ns")}
    return [{**envelope, "type": kind, **fields} for kind, fields in kinds]


def reasons(rows: Table) -> set[str | None]:
    assert all(row["complete"] == (row["incomplete_reason"] is None) for row in rows)
    return {row["incomplete_reason"] for row in rows}


def test_every_table_that_knows_whether_it_is_complete_names_what_it_needs() -> None:
    assert set(NEEDS) == {name for name, table in TABLES_BY_NAME.items() if "incomplete_reason" in table.names}
    assert {event for needed in NEEDS.values() for event in needed} <= set(TYPES_BY_NAME)


def test_nothing_is_missing_in_a_log_without_missing_points() -> None:
    old = [{name: value for name, value in event.items() if name != "missing_points"} for event in logged()]
    assert tables_of(old) == tables_of(logged())
    for table in NEEDS:
        assert tables_of(old)[table], table
        assert "points_missing" not in reasons(tables_of(old)[table])


@pytest.mark.parametrize("point", ["read", "quota_check", "throttle", "publish", "flow", "of_a_later_collector", None])
def test_rows_that_need_a_missing_point_say_so(point: str | None) -> None:
    whole, without = tables_of(logged()), tables_of(logged(point))
    for table, needed in NEEDS.items():
        if set(POINTS.get(point or "", ())) & set(needed):
            assert reasons(without[table]) == {"points_missing"}, table
            marks = ("complete", "incomplete_reason")
            assert [{k: v for k, v in row.items() if k not in marks} for row in without[table]] == [
                {k: v for k, v in row.items() if k not in marks} for row in whole[table]
            ]
        else:
            assert without[table] == whole[table]


def test_a_broker_before_pip_406_has_no_reads_and_says_so() -> None:
    """Pulsar 4.0.0 and 4.0.1 (docs/guide/collector.md): deliveries are counted, what limiters did is not known."""
    log = Log().start()
    log.events[0]["missing_points"] = ["throttle", "request", "read"]
    (row,) = tables_of(log.dispatch(7).events)["subscription_throttle"]
    assert (row["reads"], row["dispatched_msgs"], row["complete"], row["incomplete_reason"]) == (0, 7, False, "points_missing")


def test_other_reasons_have_names_too() -> None:
    met = Log().read()
    assert reasons(tables_of(met.events)["subscription_throttle"]) == {"beginning_not_seen"}
    lost = Log().start().read()
    del lost.events[-3]
    lost.events.append(
        {**lost.events[-1], "seq": 900, "ts": lost.events[-1]["ts"] + 90_000_000, "ns": lost.events[-1]["ns"] + 90_000_000_000}
    )
    assert "events_lost" in reasons(tables_of(lost.events)["limiter_windows"]) | reasons(tables_of(lost.events)["subscription_throttle"])
    assert set(INCOMPLETE_REASONS) == {"points_missing", "beginning_not_seen", "events_lost", "deletions_unknown"}


@pytest.mark.parametrize(("deleted", "expected"), [(3, (False, "deletions_unknown")), (0, (True, None))])
def test_an_eviction_behind_a_restart_is_not_certain_where_deleted_entries_have_no_names(deleted: int, expected: tuple[bool, Any]) -> None:
    """The plan skips entries in proportion to those that are left, and slides over deleted ones: it may even end at another cursor."""
    log = QuotaLog().load(size=2000, size_policy=EVICTION).fill(1, [1000] * 10)
    for sub, entries in (("one", deleted), ("two", 0)):
        log.of_topic("cursor_open", sub=sub, durable=True, ledger=1, entry=-1, entries=entries, snapshot=True)
    tables = tables_of(log.check().events)
    (row,) = tables["quota_evictions"]
    assert (row["action"], row["complete"], row["incomplete_reason"]) == ("evict", *expected)
    assert {row["complete"] for row in tables["topic_backlog"]} == {True}, "positions are known"


def test_golden_cases_of_quotas_stay_complete_but_for_their_own_reasons() -> None:
    known = {reason for case in CASES for table in NEEDS for reason in reasons(tables_of(case.events)[table])}
    assert "points_missing" not in known
