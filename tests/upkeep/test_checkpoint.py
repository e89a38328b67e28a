"""`status --checkpoint`: what lies there, whether it fits, and the one command that starts anew: `rebuild`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from console.checkpoint_lines import checkpoint_lines
from console.command_line import main
from pipeline.lanes.state_layout import STATE_LAYOUT
from pipeline.upkeep.checkpoint import inspect
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import existing_tables
from schemas.tables import WATCH_TABLES


def every_file(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_the_lanes_checkpoint_tells_its_batches_sources_and_state(made: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(made.checkpoint("lanes").removeprefix("file:"))
    before = every_file(folder)
    capsys.readouterr()
    assert main(["status", "--checkpoint", "lanes", "--warehouse", made.root, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["query_id"], found["refused"]) == (json.loads((folder / "metadata").read_text())["id"], None)
    last = max(int(path.name) for path in (folder / "commits").glob("[0-9]*"))
    assert (found["planned"], found["committed"]) == (last, last)
    assert [found["sources"][table]["reservoirVersion"] for table in ("dispatch_events", "lane_control")] == [5, 2]
    state = found["state"]
    assert (state["store"], state["partitions"], state["lanes"]) == ("RocksDBStateStoreProvider", 2, 1)
    assert state["formats"] == [state["readable_format"]] == [f"DLAN layout {STATE_LAYOUT}"]
    assert 0 < state["bytes"] < found["bytes"] <= sum(path.stat().st_size for path in folder.rglob("*"))
    assert every_file(folder) == before, "a look changes nothing"


def test_a_checkpoint_that_is_gone_names_the_command(spark: SparkSession, copied: Callable[[], Warehouse]) -> None:
    warehouse = copied()
    shutil.rmtree(Path(warehouse.checkpoint("ingest").removeprefix("file:")))
    found = inspect(spark, warehouse, "ingest")
    assert (found["query_id"], found["planned"], found["committed"], found["sources"], found["state"]) == (None,) * 5
    command = f"./spark-submit.sh rebuild all --warehouse {warehouse.root} --events URI"
    lines = list(checkpoint_lines(found))
    assert lines[1].startswith("fits        no: ingest: micro-batch 3 is in the tables, but the checkpoint is gone.")
    assert command in lines[1]
    assert lines[-1] == f"anew with   {command}"


def test_rebuild_all_takes_everything_with_it_once_it_is_confirmed(
    spark: SparkSession, copied: Callable[[], Warehouse], capsys: pytest.CaptureFixture[str]
) -> None:
    """What `rebuild lanes` does, tables and all, is in test_job_faults."""
    warehouse = copied()
    tables, rebuild = existing_tables(warehouse), ["rebuild", "all", "--warehouse", warehouse.root]
    assert main(rebuild) == 2
    assert "pass --yes where nobody can be asked" in capsys.readouterr().err
    assert existing_tables(warehouse) == tables
    assert main([*rebuild, "--yes", "--events", "/log"]) == 0
    assert "stream --once --events /log" in capsys.readouterr().out
    assert existing_tables(warehouse) == [table.name for table in WATCH_TABLES]
    assert not Path(warehouse.checkpoint("lanes").removeprefix("file:")).exists(), "lanes have read what ingest wrote"
