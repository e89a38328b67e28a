"""The same log through the real job, cut into files, commits, micro-batches and runs: the tables stay the same, row for row."""

from pathlib import Path

import pytest
from capture_events import capture_events, write_events
from job_run import run_job, tables_in
from lane_tables import tables_of
from log_ways import WAYS, Way, assert_balance, logs_cut_short, outcomes_in_tasks
from pyspark.sql import SparkSession

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures

#: Together: repeats, shuffles, several files, commits and micro-batches of either query; a run that goes on where another ended.
BY_DEFAULT = (logs_cut_short, outcomes_in_tasks)
LONG = pytest.mark.slow(reason="one to four runs of the job; two ways run by default, test_order cuts random logs in the pure lane")


@pytest.mark.parametrize("way", [pytest.param(way, id=way.__name__, marks=() if way in BY_DEFAULT else LONG) for way in WAYS])
def test_tables_do_not_depend_on_how_the_log_came(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse, way: Way
) -> None:
    events = capture_events(captures / "t_restart", until_as_of=False)
    way(events, tmp_path / "events", warehouse, run_job)
    assert tables_of(events) == tables_in(spark, warehouse)
    assert_balance(warehouse, len(events))
    newest = max(event["epoch"] for event in events)
    (row,) = ReadingRoom(warehouse, consistent=True).rows("SELECT epoch, unix_micros(as_of) AS ts FROM newest_events")
    assert tuple(row.values()) == (newest, max(event["ts"] for event in events if event["epoch"] == newest))


@pytest.mark.slow(reason="three runs of the job; test_order has epochs in any order in the pure lane, test_job_captures many at once")
def test_several_captures_in_one_warehouse_in_any_order(spark: SparkSession, captures: Path, tmp_path: Path) -> None:
    """All captures are of one broker id: their epochs lie side by side in one lane."""
    names = ("f_limit_above_need", "l_holes_redelivery_seek")
    logs = {name: capture_events(captures / name) for name in names}
    whole = tables_of([event for name in names for event in logs[name]])
    newest_first = sorted(names, key=lambda name: -logs[name][0]["epoch"])
    for order, steps in (("at once", [newest_first]), ("newest first", [[name] for name in newest_first])):
        warehouse, events = Warehouse(str(tmp_path / order)), tmp_path / f"events {order}"
        for step in steps:
            for name in step:
                write_events(logs[name], events / name / "events.jsonl.gz")
            run_job(events, warehouse, drain=step == steps[-1])
        assert tables_in(spark, warehouse) == whole, order
