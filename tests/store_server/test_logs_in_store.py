"""Logs of real brokers with log and warehouse in the store: every table as on this machine, row for row, however the log came."""

from pathlib import Path

import pytest
from capture_events import capture_events, write_events
from dying_commits import Log, dies_at_every_commit
from in_store import run_in_store, uploaded
from job_run import run_job, tables_in
from killed_job import differences, tables_of_warehouse
from lane_tables import tables_of
from loaded import load_into, tables_unlike
from log_ways import WAYS, Way, assert_balance
from pyspark.sql import SparkSession
from real_captures import NAMES
from undisturbed import log_in_files

import pipeline.lanes.query
from console.command_line import main
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
BUNDLED = Path(__file__).parents[1] / "fixtures" / "captures"


@pytest.fixture(scope="module")
def logs(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every capture, each under the name of a broker of its own, in a file of that name."""
    folder = tmp_path_factory.mktemp("logs") / "events"
    for capture in [*(captures / name for name in NAMES), *(path for path in BUNDLED.iterdir() if path.name not in NAMES)]:
        events = [event | {"broker": f"{capture.name}:8080"} for event in capture_events(capture, until_as_of=False)]
        write_events(events, folder / f"{capture.name}.jsonl.gz")
    return folder


def test_all_captures_streamed(spark: SparkSession, logs: Path, place: str, tmp_path: Path) -> None:
    warehouse, here = Warehouse(f"{place}/warehouse"), Warehouse(str(tmp_path / "warehouse"))
    run_in_store(logs, warehouse)
    run_job(logs, here)
    assert differences(tables_of_warehouse(warehouse), tables_of_warehouse(here)) == {}, "(missing, too many)"


def test_all_captures_loaded(logs: Path, place: str, tmp_path: Path) -> None:
    here = load_into(logs, tmp_path / "warehouse")
    assert main(["load", "--events", str(logs), "--warehouse", f"{place}/warehouse", "--processes", "2"]) == 0
    assert tables_unlike(here, Warehouse(f"{place}/warehouse")) == []


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_tables_do_not_depend_on_how_the_log_came(spark: SparkSession, captures: Path, tmp_path: Path, place: str, way: Way) -> None:
    events, warehouse = capture_events(captures / "t_restart", until_as_of=False), Warehouse(f"{place}/warehouse")
    way(events, tmp_path / "events", warehouse, run_in_store)
    assert tables_of(events) == tables_in(spark, warehouse)
    assert_balance(warehouse, len(events))


@pytest.mark.parametrize("few", [pipeline.lanes.query.FEW_ROWS, -1], ids=["by the driver", "by tasks"])
def test_a_death_at_any_commit_loses_and_doubles_nothing(
    spark: SparkSession, captures: Path, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(pipeline.lanes.query, "FEW_ROWS", few)
    log_in_files(captures / "h_size_quota_eviction", tmp_path / "events", 2)
    here, there = Warehouse(str(tmp_path / "warehouse")), Warehouse(f"{place}/warehouse")
    in_store = uploaded(tmp_path / "events", f"{place}/events")
    dies_at_every_commit(spark, monkeypatch, Log(str(tmp_path / "events"), here), Log(in_store, there))
    assert differences(tables_of_warehouse(there), tables_of_warehouse(here)) == {}, "(missing, too many)"
