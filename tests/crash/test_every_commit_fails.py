"""A micro-batch dies before and after each of its commits, and is run again each time: the tables are what an undisturbed run gives."""

from pathlib import Path

import pytest
from dying_commits import Log, dies_at_every_commit
from killed_job import differences, tables_of_warehouse
from pyspark.sql import SparkSession
from undisturbed import log_in_files

import pipeline.lanes.query
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures


@pytest.mark.parametrize("few", [pipeline.lanes.query.FEW_ROWS, -1], ids=["by the driver", "by tasks"])
def test_a_death_at_any_commit_loses_and_doubles_nothing(
    spark: SparkSession, captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(pipeline.lanes.query, "FEW_ROWS", few)
    log_in_files(captures / "h_size_quota_eviction", tmp_path / "events", 2)
    wanted, warehouse = Warehouse(str(tmp_path / "undisturbed")), Warehouse(str(tmp_path / "warehouse"))
    events = str(tmp_path / "events")
    dies_at_every_commit(spark, monkeypatch, Log(events, wanted), Log(events, warehouse))
    assert differences(tables_of_warehouse(warehouse), tables_of_warehouse(wanted)) == {}, "(missing, too many)"
