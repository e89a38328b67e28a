"""Logs of tables are opened once, side by side in a store, and as they are at the version that is wanted."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from query.conftest import append, event
from s3_server import S3

from pipeline.faults import BadWarehouse
from pipeline.query import table_logs
from pipeline.query.table_logs import TableLogs
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import make_report_table
from schemas.tables.watch import RUN_LEDGER


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

    def opened_when_all_are_asked(uri: str) -> SimpleNamespace:
        together.wait(timeout=30)
        return SimpleNamespace(version=lambda: int(uri.rpartition("t")[2]))

    monkeypatch.setattr(table_logs, "opened", opened_when_all_are_asked)
    expected = {f"t{number}": number for number in range(16)}
    assert TableLogs(Warehouse("s3a://lake/warehouse")).newest([*expected]) == expected


def test_of_a_table_in_a_store_the_version_is_known_with_its_log(lake: str, s3: S3) -> None:
    """Each request takes some ten milliseconds: the version is not asked for by itself."""
    warehouse = Warehouse(lake)
    make_report_table(warehouse, RUN_LEDGER)
    s3.requests.clear()
    logs = TableLogs(warehouse)
    assert logs.newest(["run_ledger"]) == {"run_ledger": 0}
    of_newest = len(s3.requests)
    assert logs.at({"run_ledger": 0})["run_ledger"].version() == 0
    assert len(s3.requests) == of_newest
    assert sum(request.endswith("_last_checkpoint") for request in s3.requests) == 1


def test_a_table_in_a_store_that_is_not_there_or_is_damaged(lake: str) -> None:
    """The version of a damaged one is known; to open it gives the reason."""
    warehouse = Warehouse(lake)
    files_at(lake).create(f"{warehouse.table('names')}/_delta_log/{0:020}.json", "{}")
    logs = TableLogs(warehouse)
    assert logs.newest(["names", "quarantine"]) == {"names": 0, "quarantine": -1}
    with pytest.raises(BadWarehouse, match="table names at version 0 cannot be read"):
        logs.at({"names": 0})
