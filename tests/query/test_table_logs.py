"""Logs of tables are opened once, side by side in a store, and as they are at the version that is wanted."""

import threading
from pathlib import Path

import pytest
from query.conftest import append, event

from pipeline.faults import BadWarehouse
from pipeline.query import table_logs
from pipeline.query.table_logs import TableLogs
from pipeline.warehouse.layout import Warehouse


def test_the_newest_version_is_the_one_that_was_found_until_it_is_looked_for_anew(two_days: Warehouse) -> None:
    logs = TableLogs(two_days)
    before = logs.newest(["dispatch_events", "no_such_table"])
    assert before["no_such_table"] == -1
    append(two_days, "dispatch_events", [event(9)])
    assert logs.newest(["dispatch_events"])["dispatch_events"] == before["dispatch_events"]
    logs.refresh()
    assert logs.newest(["dispatch_events"])["dispatch_events"] == before["dispatch_events"] + 1


def test_a_log_that_is_open_at_its_version_is_given_again(two_days: Warehouse) -> None:
    logs = TableLogs(two_days)
    newest = logs.newest(["dispatch_events"])
    first = logs.at(newest)["dispatch_events"]
    assert logs.at(newest)["dispatch_events"] is first
    assert logs.at({"dispatch_events": 0})["dispatch_events"].version() == 0
    assert first.version() == newest["dispatch_events"], "who holds it keeps it as it was"


def test_a_table_or_a_version_that_is_not_there_is_named(two_days: Warehouse) -> None:
    logs = TableLogs(two_days)
    with pytest.raises(BadWarehouse, match="no_such_table"):
        logs.at({"no_such_table": 0})
    with pytest.raises(BadWarehouse, match="dispatch_events at version 99"):
        logs.at({"dispatch_events": 99})


def test_of_each_table_the_newest_commits_are_told_newest_first(two_days: Warehouse) -> None:
    for _ in range(3):
        append(two_days, "dispatch_events", [event(9)])
    logs = TableLogs(two_days)
    newest = logs.newest(["dispatch_events"])["dispatch_events"]
    found = logs.commits(["dispatch_events", "no_such_table"], 2)
    assert [commit.version for commit in found["dispatch_events"]] == [newest, newest - 1]
    assert found["no_such_table"] == []
    Path(two_days.table("dispatch_events").removeprefix("file:"), "_delta_log", f"{newest - 1:020}.json").unlink()
    assert [commit.version for commit in logs.commits(["dispatch_events"], 2)["dispatch_events"]] == [newest], (
        "one that is gone is left out"
    )


def test_a_store_is_asked_for_many_tables_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to each waits until all have been asked for: one after the other none would come."""
    together = threading.Barrier(16)

    def version_when_all_are_asked(uri: str) -> int:
        together.wait(timeout=30)
        return int(uri.rpartition("t")[2])

    monkeypatch.setattr(table_logs, "newest_version_at", version_when_all_are_asked)
    expected = {f"t{number}": number for number in range(16)}
    assert TableLogs(Warehouse("s3a://lake/warehouse")).newest([*expected]) == expected
