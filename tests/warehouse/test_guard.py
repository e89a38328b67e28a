"""A checkpoint that is not the one that wrote the tables is refused."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_cache import forget_cached_tables

from pipeline.faults import BadWarehouse
from pipeline.query.newest_room import NewestRoom
from pipeline.warehouse.guard import check_checkpoint
from pipeline.warehouse.layout import Warehouse

ID = "11111111-0000-0000-0000-000000000000"
MANIFEST = "query string, query_id string, batch_id long, source_offsets string, table_versions map<string,string>, written_at timestamp"
TABLE = {"ingest": "dispatch_events", "lanes": "subscription_throttle"}


def offsets(batch: int) -> str:
    """What Spark writes for a micro-batch."""
    return f'v1\n{{"batchTimestampMs":{batch}}}\n{{"logOffset":{batch}}}'


@pytest.fixture
def written(spark: SparkSession, warehouse: Warehouse) -> Callable[..., Path]:
    """Makes a warehouse in which `query` has finished micro-batches 0 to `last`; returns its checkpoint folder."""

    def make(query: str, last: int = 2) -> Path:
        for _ in range(last + 1):
            spark.createDataFrame([("b",)], "broker string").write.format("delta").mode("append").save(warehouse.table(TABLE[query]))
        rows = [(query, ID, n, offsets(n), {TABLE[query]: str(n)}, datetime(2026, 1, 1, 0, n, tzinfo=UTC)) for n in range(last + 1)]
        spark.createDataFrame(rows, MANIFEST).coalesce(1).write.format("delta").mode("append").save(warehouse.table("batch_manifest"))
        checkpoint = Path(warehouse.checkpoint(query))
        (checkpoint / "offsets").mkdir(parents=True)
        (checkpoint / "commits").mkdir()
        (checkpoint / "metadata").write_text(json.dumps({"id": ID}))
        for n in range(last + 1):
            (checkpoint / "offsets" / str(n)).write_text(offsets(n))
            (checkpoint / "commits" / str(n)).write_text("v1\n{}")
        return checkpoint

    return make


def refused(spark: SparkSession, warehouse: Warehouse, query: str) -> str:
    """The message of the refusal, which must name the command."""
    with pytest.raises(BadWarehouse) as raised:
        check_checkpoint(NewestRoom(warehouse), query)
    message = str(raised.value)
    command = {"lanes": "rebuild lanes --warehouse", "ingest": "rebuild all --warehouse"}[query]
    assert f"./spark-submit.sh {command} {warehouse.root}" in message
    return message


def test_a_new_warehouse_may_begin(spark: SparkSession, warehouse: Warehouse) -> None:
    check_checkpoint(NewestRoom(warehouse), "ingest")
    check_checkpoint(NewestRoom(warehouse), "lanes")


@pytest.mark.parametrize("query", ["ingest", "lanes"])
def test_its_own_checkpoint_is_continued(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path], query: str) -> None:
    checkpoint = written(query)
    (checkpoint / "offsets" / "3").write_text(offsets(3))  # planned, not finished
    (checkpoint / "offsets" / "0").unlink()  # beyond what Spark retains
    check_checkpoint(NewestRoom(warehouse), query)


@pytest.mark.parametrize("query", ["ingest", "lanes"])
def test_a_deleted_checkpoint_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path], query: str) -> None:
    shutil.rmtree(written(query))
    assert "the checkpoint is gone" in refused(spark, warehouse, query)


def test_a_checkpoint_of_another_query_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    (written("lanes") / "metadata").write_text(json.dumps({"id": "other"}))
    assert "of query other" in refused(spark, warehouse, "lanes")


def test_a_damaged_checkpoint_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    (written("lanes") / "metadata").write_text("{")
    assert "damaged" in refused(spark, warehouse, "lanes")


def test_a_checkpoint_restored_from_an_older_copy_is_refused(
    spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]
) -> None:
    (written("ingest") / "offsets" / "2").unlink()
    assert "micro-batch 2 is in the tables, but the checkpoint is older: its last is 1" in refused(spark, warehouse, "ingest")


def test_a_checkpoint_that_went_another_way_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    (written("lanes") / "offsets" / "1").write_text(offsets(7))
    assert "other input in micro-batch 1" in refused(spark, warehouse, "lanes")


def test_tables_without_any_memory_of_their_writer_are_refused(
    spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]
) -> None:
    shutil.rmtree(written("lanes"))
    shutil.rmtree(warehouse.table("batch_manifest"))
    assert "table subscription_throttle has rows" in refused(spark, warehouse, "lanes")


def test_a_checkpoint_without_its_manifest_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    written("ingest")
    shutil.rmtree(warehouse.table("batch_manifest"))
    assert "batch_manifest knows of none" in refused(spark, warehouse, "ingest")


def test_a_batch_that_never_finished_may_be_repeated(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    checkpoint = written("ingest", last=0)
    (checkpoint / "commits" / "0").unlink()
    shutil.rmtree(warehouse.table("batch_manifest"))
    check_checkpoint(NewestRoom(warehouse), "ingest")


def test_a_deleted_table_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    written("lanes")
    shutil.rmtree(warehouse.table("subscription_throttle"))
    assert "table subscription_throttle is gone, micro-batch 2 left it at version 2" in refused(spark, warehouse, "lanes")


def test_a_table_restored_from_an_older_copy_is_refused(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    written("lanes")
    log = Path(warehouse.table("subscription_throttle")) / "_delta_log"
    for file in log.glob("*00002.*"):
        file.unlink()
    forget_cached_tables(spark)
    assert "stands at version 1" in refused(spark, warehouse, "lanes")


def test_one_query_does_not_answer_for_the_other(spark: SparkSession, warehouse: Warehouse, written: Callable[..., Path]) -> None:
    written("ingest")
    shutil.rmtree(written("lanes"))
    check_checkpoint(NewestRoom(warehouse), "ingest")
    refused(spark, warehouse, "lanes")
