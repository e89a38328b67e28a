"""The real job over every real broker's log: the Delta tables say what the broker's own counters say, and what the pure lane says."""

from pathlib import Path
from typing import Any

import pytest
from bookkeeper.broker_figures import throttle_counters_from_metrics
from capture_events import capture_events, write_events
from compared_figures import counters_differing, counters_now, differing
from job_run import run_job, tables_in
from lane_tables import Table, tables_of
from loaded import load_into, tables_unlike
from pyspark.sql import SparkSession

from pipeline.warehouse.layout import Warehouse
from schemas.tables import LANE_TABLES

pytestmark = pytest.mark.captures
CAPTURES = (
    "a_sub_msg_limit", "c_broker_limit", "e_slow_consumer", "f_limit_above_need", "h_size_quota_eviction", "i_age_quota_precise",
    "l_holes_redelivery_seek", "m_unload", "o_unwritable", "p1_batches", "r_classic_limiter", "s_producers_cut_off", "t_restart",
    "y_incident",
)  # fmt: skip


def assert_as_the_broker_and_the_lane_say(tables: dict[str, Table], capture: Path, events: list[dict[str, Any]]) -> None:
    """Counters equal the broker's, everything equals the pure lane's tables of the same events."""
    assert counters_differing(tables, capture) == []
    assert tables_of(events) == tables
    assert tables["log_gaps"] == []
    assert sum(row["left_mismatches"] for row in tables["subscription_throttle"]) == 0


@pytest.mark.slow(reason="two runs of the job; by default both captures go through it with all others, under names of their own")
@pytest.mark.parametrize("name", ["t_restart", "y_incident"])
def test_a_capture_in_a_warehouse_of_its_own(spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse, name: str) -> None:
    events = capture_events(captures / name)
    write_events(events, tmp_path / "events" / "events.jsonl.gz")
    run_job(tmp_path / "events", warehouse)
    assert_as_the_broker_and_the_lane_say(tables_in(spark, warehouse), captures / name, events)


@pytest.fixture(scope="module")
def logs(captures: Path) -> dict[str, list[dict[str, Any]]]:
    """Every capture's events, each under the name of a broker of its own."""
    return {name: [event | {"broker": f"{name}:8080"} for event in capture_events(captures / name)] for name in CAPTURES}


@pytest.fixture(scope="module")
def together(spark: SparkSession, logs: dict[str, list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """All captures in one warehouse."""
    folder = tmp_path_factory.mktemp("all")
    for name, events in logs.items():
        write_events(events, folder / "events" / name / "events.jsonl.gz")
    warehouse = Warehouse(str(folder / "warehouse"))
    run_job(folder / "events", warehouse)
    return warehouse


@pytest.fixture(scope="module")
def tables_together(spark: SparkSession, together: Warehouse) -> dict[str, Table]:
    return tables_in(spark, together)


@pytest.mark.parametrize("name", CAPTURES)
def test_counters_equal_the_brokers(
    captures: Path, logs: dict[str, list[dict[str, Any]]], tables_together: dict[str, Table], name: str
) -> None:
    tables = {table: [row for row in rows if row["broker"] == f"{name}:8080"] for table, rows in tables_together.items()}
    assert_as_the_broker_and_the_lane_say(tables, captures / name, logs[name])


def test_load_makes_the_same_tables(together: Warehouse, tmp_path: Path) -> None:
    loaded = load_into(Path(together.root).parent / "events", tmp_path / "loaded")
    assert tables_unlike(together, loaded) == []


def test_a_micro_batch_writes_one_file_into_a_table(together: Warehouse) -> None:
    """However many lanes and tasks it has; a small file for each would make readers slow."""
    added = {}
    for table in LANE_TABLES:
        log = Path(together.table(table.name), "_delta_log").glob("*.json")
        added[table.name] = [sum('"add"' in line for line in version.read_text(encoding="utf-8").splitlines()) for version in log]
        assert max(added[table.name]) <= 1, table.name
    assert sum(added["quota_checks"]) > 0, "they were written"


def test_every_capture_is_tried(captures: Path) -> None:
    assert sorted(CAPTURES) == sorted(path.name for path in captures.iterdir() if path.is_dir())


#: (capture, level, dimension) of a counted read that is altered so that it no longer counts.
ALTERED = [
    ("c_broker_limit", "broker", "msgs"), ("c_broker_limit", "broker", "bytes"), ("r_classic_limiter", "topic", "msgs"),
    ("y_incident", "topic", "bytes"), ("a_sub_msg_limit", "sub", "msgs"), ("p1_batches", "sub", "msgs"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "level", "dimension"), ALTERED)
def test_an_altered_read_is_noticed(captures: Path, name: str, level: str, dimension: str) -> None:
    events = capture_events(captures / name)
    field = f"{level}_{dimension}"
    counted = next(e for e in reversed(events) if e["type"] == "read" and 0 <= e.get(field, -1) < e[f"want_{dimension}"])
    counted[field] = -1
    mine = counters_now(tables_of(events)["subscription_throttle"])
    assert differing(mine, throttle_counters_from_metrics(captures / name / "metrics.txt"))


def without_a_counted_read(capture: Path) -> tuple[list[dict[str, Any]], int]:
    """The capture's events but one read that counted, and the place of that."""
    events = capture_events(capture)
    counted = [e for e in events if e["type"] == "read" and e.get("sub_msgs", -1) == 0][-1]
    return [e for e in events if e is not counted], counted["seq"]


def assert_the_loss_is_told(tables: dict[str, Table], captures: Path, lost: int) -> None:
    mine = counters_now(tables["subscription_throttle"])
    assert differing(mine, throttle_counters_from_metrics(captures / "a_sub_msg_limit" / "metrics.txt"))
    assert [(lost, lost)] == [(gap["from_seq"], gap["to_seq"]) for gap in tables["log_gaps"]]
    assert min(row["completeness"] for row in tables["subscription_throttle"]) < 1


def test_a_deleted_read_is_noticed_and_told(captures: Path) -> None:
    events, lost = without_a_counted_read(captures / "a_sub_msg_limit")
    assert_the_loss_is_told(tables_of(events), captures, lost)


@pytest.mark.slow(reason="a run of the job; the test above asks the pure lane, whose tables the job's equal")
def test_the_job_tells_of_a_deleted_read(spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse) -> None:
    events, lost = without_a_counted_read(captures / "a_sub_msg_limit")
    write_events(events, tmp_path / "events" / "events.jsonl")
    run_job(tmp_path / "events", warehouse)
    assert_the_loss_is_told(tables_in(spark, warehouse), captures, lost)
