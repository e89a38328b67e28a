"""What goes wrong around the job: lost and old checkpoints, a micro-batch run twice, a damaged log. Refused, or without loss."""

import json
import random
import shutil
from pathlib import Path

import pytest
from capture_events import capture_events, write_events
from delta.tables import DeltaTable
from job_run import run_job, tables_in
from lane_tables import tables_of
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from console.command_line import main
from pipeline.faults import BadWarehouse
from pipeline.query.views.catalog import VIEWS
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES

pytestmark = pytest.mark.captures


def checkpoint(warehouse: Warehouse, query: str) -> Path:
    return Path(warehouse.checkpoint(query))


@pytest.mark.slow(reason="seven runs of the job; test_guard refuses the same checkpoints by default, test_rebuild resets lanes")
def test_lost_and_old_checkpoints_are_refused_and_a_reset_gives_the_same_tables(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse
) -> None:
    events = capture_events(captures / "f_limit_above_need")
    folder = tmp_path / "events"
    write_events(events[:300], folder / "a.jsonl")
    run_job(folder, warehouse, drain=False)
    older = shutil.copytree(checkpoint(warehouse, "lanes"), tmp_path / "older")
    write_events(events[300:], folder / "b.jsonl")
    run_job(folder, warehouse)
    whole = tables_of(events)
    assert tables_in(spark, warehouse) == whole

    shutil.rmtree(checkpoint(warehouse, "lanes"))
    with pytest.raises(BadWarehouse, match=r"spark-submit\.sh rebuild lanes"):
        run_job(folder, warehouse)
    shutil.copytree(older, checkpoint(warehouse, "lanes"))
    with pytest.raises(BadWarehouse, match=r"spark-submit\.sh rebuild lanes"):
        run_job(folder, warehouse)
    assert tables_in(spark, warehouse) == whole, "a refusal changes nothing"

    assert main(["rebuild", "lanes", "--warehouse", warehouse.root, "--yes"]) == 0
    run_job(folder, warehouse)
    assert tables_in(spark, warehouse) == whole

    shutil.rmtree(checkpoint(warehouse, "ingest"))
    with pytest.raises(BadWarehouse, match=r"spark-submit\.sh rebuild all"):
        run_job(folder, warehouse)


@pytest.mark.slow(reason="two runs of the job; test_every_commit_fails runs micro-batches of both queries again by default")
def test_a_micro_batch_of_lanes_that_runs_twice_writes_once(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse
) -> None:
    events = capture_events(captures / "p1_batches")
    write_events(events, tmp_path / "events" / "a.jsonl.gz")
    run_job(tmp_path / "events", warehouse)
    for query in ("ingest", "lanes"):
        last = max((checkpoint(warehouse, query) / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
    run_job(tmp_path / "events", warehouse)
    assert tables_in(spark, warehouse) == tables_of(events)
    manifest = spark.read.format("delta").load(warehouse.table("batch_manifest"))
    assert manifest.groupBy("query", "query_id", "batch_id").count().where("count > 1").count() == 0


def test_a_consistent_cut_does_not_show_half_a_micro_batch(
    spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of one table that no manifest tells of yet: in the table, in its view, but not in the cut."""
    log = capture_events(captures / "p1_batches")
    write_events(log, tmp_path / "events" / "a.jsonl.gz")
    run_job(tmp_path / "events", warehouse)
    path = warehouse.table("subscription_throttle")
    whole = spark.read.format("delta").load(path).count()
    spark.read.format("delta").load(path).write.format("delta").mode("append").save(path)
    manifest = DeltaTable.forPath(spark, warehouse.table("batch_manifest")).toDF().where("query = 'lanes' AND batch_id = 0")
    later = manifest.withColumns(
        {"batch_id": F.lit(99).cast("long"), "source_offsets": F.regexp_replace("source_offsets", ":[0-9]+,", ":98,")}
    )
    later.write.format("delta").mode("append").save(warehouse.table("batch_manifest"))
    seen = "SELECT (SELECT count(*) FROM subscription_throttle) AS rows, (SELECT max(batch_id) FROM batch_manifest) AS newest, "
    seen += "lanes_behind FROM log_balance"
    capsys.readouterr()
    try:
        for options, wanted in (["--consistent"], [whole, 1, 0]), ([], [2 * whole, 99, -len(log)]):
            assert main(["sql", seen, "--warehouse", warehouse.root, "--format", "json", *options]) == 0
            assert list(json.loads(capsys.readouterr().out).values()) == wanted
    finally:
        for view in [*(table.name for table in TABLES), *VIEWS]:
            spark.catalog.dropTempView(view)


def test_a_damaged_log_loses_nothing_unaccounted(spark: SparkSession, captures: Path, tmp_path: Path, warehouse: Warehouse) -> None:
    """One line in fifty is damaged: half of them keep their envelope and become tombstones, the others look lost."""
    events = capture_events(captures / "c_broker_limit")
    rng = random.Random(5)
    lines = [json.dumps(event).encode() for event in events]
    damaged = rng.sample(range(1, len(lines)), len(lines) // 50)
    for position in damaged[::2]:
        lines[position] = json.dumps({**events[position], "topic": 7}).encode()
    for position in damaged[1::2]:
        lines[position] = lines[position][: len(lines[position]) // 3]
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n\n")
    run_job(tmp_path / "events", warehouse)
    sums = {
        row["query"]: row for row in spark.read.format("delta").load(warehouse.table("batch_manifest")).groupBy("query").sum().collect()
    }
    ingest, lanes = sums["ingest"], sums["lanes"]
    tombstones = len(damaged[::2])
    assert ingest["sum(rows_in)"] == len(lines) == ingest["sum(bronze)"] + ingest["sum(quarantined)"]
    assert ingest["sum(quarantined)"] == len(damaged)
    assert lanes["sum(rows_in)"] == ingest["sum(bronze)"] + tombstones
    assert (lanes["sum(applied)"], lanes["sum(quarantined)"], lanes["sum(held)"]) == (len(lines) - len(damaged), tombstones, 0)
    assert lanes["sum(lost)"] == len(damaged) - tombstones
    tables = tables_in(spark, warehouse)
    assert sum(gap["events"] for gap in tables["log_gaps"]) == len(damaged) - tombstones
    assert all(row["completeness"] < 1 for row in tables["subscription_throttle"])
