"""Events whose seq another event has taken, found by the streaming job: the later one goes to quarantine, once."""

from pathlib import Path

from capture_events import write_events
from invariants_run import broken_invariants
from job_run import run_job
from loaded import contents, load_into, tables_unlike
from pyspark.sql import SparkSession
from upkeep_log import capture

from pipeline.repair.rebuild import forget_lanes
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table, create_missing_tables
from schemas.tables.bronze import QUARANTINE

SAME, KEPT = 5, 60


def other_log() -> list[dict[str, object]]:
    """The same events at first, then others in their places."""
    events = capture("p1_batches")[:KEPT]
    return [event if place < SAME else {**event, "ts": event["ts"] + 3} for place, event in enumerate(events)]


def test_the_later_log_goes_to_quarantine_once_also_after_a_rebuild(spark: SparkSession, warehouse: Warehouse, tmp_path: Path) -> None:
    log = tmp_path / "events"
    write_events(capture("p1_batches"), log / "z.jsonl.gz")
    run_job(log, warehouse)
    before = {table: contents(warehouse, table) for table in ("subscription_causes", "topic_backlog", "log_gaps")}
    write_events(other_log(), log / "a.jsonl.gz")
    run_job(log, warehouse)
    rows = contents(warehouse, "quarantine").to_pylist()
    assert [(Path(row["source_file"]).name, row["reason"], row["ingest_batch"]) for row in rows] == [("a.jsonl.gz", "seq_taken", 1)] * (
        KEPT - SAME
    )
    assert all("z.jsonl.gz, micro-batch 0" in row["detail"] for row in rows)
    assert all(contents(warehouse, table).equals(was) for table, was in before.items())
    assert broken_invariants(warehouse) == {}
    forget_lanes(warehouse, lambda line: None)
    run_job(log, warehouse)
    assert contents(warehouse, "quarantine").to_pylist() == rows
    assert all(contents(warehouse, table).equals(was) for table, was in before.items())


def test_in_one_micro_batch_stream_and_load_take_the_same_log(spark: SparkSession, warehouse: Warehouse, tmp_path: Path) -> None:
    log = tmp_path / "events"
    write_events(capture("p1_batches"), log / "z.jsonl.gz")
    write_events(other_log(), log / "a.jsonl.gz")
    run_job(log, warehouse)
    loaded = load_into(log, tmp_path / "loaded")
    assert contents(loaded, "quarantine").num_rows == KEPT - SAME
    assert tables_unlike(warehouse, loaded) == []


def test_a_quarantine_of_before_gets_the_check_that_allows_the_reason(tmp_path: Path) -> None:
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    folder = Path(warehouse.table(QUARANTINE.name).removeprefix("file:"))
    (first,) = (folder / "_delta_log").glob("*.json")
    (now,) = (field.check for field in QUARANTINE.fields if field.name == "reason")
    (before,) = QUARANTINE.field("reason").checks_before
    first.write_text(first.read_text().replace(now, before))
    create_missing_tables(warehouse)
    check_table(warehouse, QUARANTINE)
    assert len(list((folder / "_delta_log").glob("*.json"))) == 3
    create_missing_tables(warehouse)
    assert len(list((folder / "_delta_log").glob("*.json"))) == 3, "once is enough"
