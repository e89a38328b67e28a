"""Rows that the driver holds, appended once, and seen by Spark."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.open_tables import forget_table
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.append import append_rows, is_appended
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.render.arrow import arrow_schema
from schemas.render.ddl import CHECKPOINT_INTERVAL
from schemas.tables.bookkeeping import BATCH_MANIFEST, LANE_CONTROL

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
ORDER = dict.fromkeys(LANE_CONTROL.names, 0) | {"kind": "drain", "issued_at": AT}


@pytest.fixture
def control(tmp_path: Any) -> Warehouse:
    """A warehouse with an empty lane_control, whose folder has a blank in its name."""
    warehouse = Warehouse(f"file:{tmp_path / 'a house'}")
    create_missing_tables(warehouse)
    return warehouse


def rows_in(spark: SparkSession, warehouse: Warehouse) -> list[dict[str, Any]]:
    return [row.asDict() for row in spark.read.format("delta").load(warehouse.table(LANE_CONTROL.name)).collect()]


def append(warehouse: Warehouse, rows: Iterable[dict[str, Any]], once: tuple[str, int] | None = None) -> None:
    append_rows(warehouse, LANE_CONTROL, list(rows), once)


def test_a_version_is_appended_once(spark: SparkSession, control: Warehouse) -> None:
    for version in (0, 0, 1, 0, 1):
        append(control, [{**ORDER, "seq": 2**62 + version}], ("app", version))
    append(control, [{**ORDER, "seq": 5}], ("another", 0))
    append(control, [{**ORDER, "seq": 6}])
    append(control, [{**ORDER, "seq": 6}])
    append(control, [], ("app", 7))
    assert sorted(row["seq"] for row in rows_in(spark, control)) == [5, 6, 6, 2**62, 2**62 + 1]
    assert [is_appended(control, LANE_CONTROL.name, "app", version) for version in (0, 1, 7)] == [True, True, False]
    assert {row["issued_at"].astimezone(UTC) for row in rows_in(spark, control)} == {AT}


def test_what_spark_wrote_is_seen_and_the_other_way_round(spark: SparkSession, control: Warehouse) -> None:
    path = control.table(LANE_CONTROL.name)
    for version in range(4):
        if version % 2:
            append(control, [{**ORDER, "seq": version}], ("app", version))
        else:
            spark.read.format("delta").load(path).limit(0).write.format("delta").mode("append").option("txnAppId", "app").option(
                "txnVersion", version
            ).save(path)
            forget_table(path)  # a process that begins knows nothing of its own
        append(control, [{**ORDER, "seq": 99}], ("app", version))
        assert newest_version_at(path) == version + 1
    assert sorted(arrow_rows(path)["seq"].to_pylist()) == [1, 3]
    assert arrow_rows(path, ["seq", "kind"], {"seq": [3, 99], "kind": ["drain"]}).to_pylist() == [{"seq": 3, "kind": "drain"}]
    assert arrow_rows(path, among={"seq": [3], "kind": ["tombstone"]}).num_rows == 0
    assert arrow_rows(path, among={"kind": []}).num_rows == 0


@pytest.mark.parametrize("wrong", [{"kind": "nonsense"}, {"kind": None}, {"seq": None}])
def test_rows_that_break_what_is_declared_are_refused(spark: SparkSession, control: Warehouse, wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"(?i)kind|seq|null"):
        append(control, [{**ORDER, **wrong}])
    with pytest.raises(KeyError):
        append(control, [{"kind": "drain"}])
    assert rows_in(spark, control) == []


def test_a_map_is_appended(spark: SparkSession, control: Warehouse) -> None:
    texts = dict.fromkeys((field.name for field in BATCH_MANIFEST.fields if field.type == "string"), "lanes")
    row = dict.fromkeys(BATCH_MANIFEST.names, 0) | texts | {"table_versions": {"a": "1", "b": "2"}, "written_at": AT}
    row["newest_events"] = None
    append_rows(control, BATCH_MANIFEST, [row], ("app", 0))
    (found,) = spark.read.format("delta").load(control.table(BATCH_MANIFEST.name)).collect()
    assert found.asDict() | {"written_at": None} == row | {"written_at": None}


def test_a_table_that_is_not_there_is_not_made(spark: SparkSession, tmp_path: Any) -> None:
    nowhere = Warehouse(str(tmp_path / "nowhere"))
    with pytest.raises(Exception, match=r"(?i)not exist|not found|no files"):
        append(nowhere, [ORDER])
    assert newest_version_at(nowhere.table(LANE_CONTROL.name)) == -1


def test_a_checkpoint_of_delta_rs_keeps_rows_and_transactions(spark: SparkSession, control: Warehouse) -> None:
    every = int(CHECKPOINT_INTERVAL)
    for version in range(every + 2):
        append(control, [{**ORDER, "seq": version}], ("app", version))
    path = control.table(LANE_CONTROL.name)
    assert len(rows_in(spark, control)) == every + 2
    assert DeltaTable.forPath(spark, path).history(1).collect()[0]["version"] == every + 2
    spark.sql(f"OPTIMIZE delta.`{path}`")
    append(control, [{**ORDER, "seq": -1}], ("app", every + 1))
    append(control, [{**ORDER, "seq": -2}], ("app", every + 2))
    assert sorted(row["seq"] for row in rows_in(spark, control)) == [-2, *range(every + 2)]


def test_rows_are_appended_though_somebody_deletes_others_beside_it(control: Warehouse) -> None:
    """As a backfill does, between the look at the table and the commit."""
    append(control, [{**ORDER, "seq": 1}], ("app", 0))
    schema = arrow_schema(LANE_CONTROL.fields)
    made = 0

    def rows() -> pa.RecordBatchReader:
        nonlocal made
        made += 1
        if made == 1:
            deltalake.DeltaTable(control.table(LANE_CONTROL.name)).delete("seq = 1")
        return pa.Table.from_pylist([{**ORDER, "seq": 2}], schema).to_reader()

    append_rows(control, LANE_CONTROL, rows, ("app", 1))
    append_rows(control, LANE_CONTROL, rows, ("app", 1))
    assert made == 2, "delta-rs refused the first commit"
    assert [row["seq"] for row in arrow_rows(control.table(LANE_CONTROL.name)).to_pylist()] == [2]
