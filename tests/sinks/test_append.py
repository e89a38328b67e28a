"""Rows that the driver holds, appended by delta-rs and, where the warehouse is elsewhere, by Spark: the same rows, once."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pipeline.warehouse.small_tables
import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

import pipeline.sinks.append
from pipeline.sinks.append import append_rows, is_appended
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse import delta_log
from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import CHECKPOINT_INTERVAL, create_table
from schemas.tables.bookkeeping import BATCH_MANIFEST, LANE_CONTROL

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
ORDER = dict.fromkeys(LANE_CONTROL.names, 0) | {"kind": "drain", "issued_at": AT}


@pytest.fixture(params=["delta-rs", "spark"])
def control(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A warehouse with an empty lane_control, whose folder has a blank in its name; in one case as if it were not local."""
    if request.param == "spark":
        for module in (pipeline.sinks.append, pipeline.warehouse.small_tables):
            monkeypatch.setattr(module, "delta_url", lambda uri: None)
    warehouse = Warehouse(f"file:{tmp_path / 'a house'}")
    for table in (LANE_CONTROL, BATCH_MANIFEST):
        spark.sql(create_table(table, warehouse.table(table.name)))
    return warehouse


def rows_in(spark: SparkSession, warehouse: Warehouse) -> list[dict[str, Any]]:
    return [row.asDict() for row in spark.read.format("delta").load(warehouse.table(LANE_CONTROL.name)).collect()]


def append(spark: SparkSession, warehouse: Warehouse, rows: Iterable[dict[str, Any]], once: tuple[str, int] | None = None) -> None:
    append_rows(warehouse, LANE_CONTROL, list(rows), once)


def test_a_version_is_appended_once(spark: SparkSession, control: Warehouse) -> None:
    for version in (0, 0, 1, 0, 1):
        append(spark, control, [{**ORDER, "seq": 2**62 + version}], ("app", version))
    append(spark, control, [{**ORDER, "seq": 5}], ("another", 0))
    append(spark, control, [{**ORDER, "seq": 6}])
    append(spark, control, [{**ORDER, "seq": 6}])
    append(spark, control, [], ("app", 7))
    assert sorted(row["seq"] for row in rows_in(spark, control)) == [5, 6, 6, 2**62, 2**62 + 1]
    assert [is_appended(control, LANE_CONTROL.name, "app", version) for version in (0, 1, 7)] == [True, True, False]
    assert {row["issued_at"].astimezone(UTC) for row in rows_in(spark, control)} == {AT}


def test_what_spark_wrote_is_seen_and_the_other_way_round(spark: SparkSession, control: Warehouse) -> None:
    path = control.table(LANE_CONTROL.name)
    for version in range(4):
        if version % 2:
            append(spark, control, [{**ORDER, "seq": version}], ("app", version))
        else:
            spark.read.format("delta").load(path).limit(0).write.format("delta").mode("append").option("txnAppId", "app").option(
                "txnVersion", version
            ).save(path)
        append(spark, control, [{**ORDER, "seq": 99}], ("app", version))
        assert newest_version_at(path) == delta_log.version(spark, path) == version + 1
    assert sorted(arrow_rows(path)["seq"].to_pylist()) == [1, 3]
    assert arrow_rows(path, ["seq", "kind"], {"seq": [3, 99], "kind": ["drain"]}).to_pylist() == [{"seq": 3, "kind": "drain"}]
    assert arrow_rows(path, among={"seq": [3], "kind": ["tombstone"]}).num_rows == 0
    assert arrow_rows(path, among={"kind": []}).num_rows == 0


@pytest.mark.parametrize("wrong", [{"kind": "nonsense"}, {"kind": None}, {"seq": None}])
def test_rows_that_break_what_is_declared_are_refused(spark: SparkSession, control: Warehouse, wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"(?i)kind|seq|null"):
        append(spark, control, [{**ORDER, **wrong}])
    with pytest.raises(KeyError):
        append(spark, control, [{"kind": "drain"}])
    assert rows_in(spark, control) == []


def test_a_map_is_appended(spark: SparkSession, control: Warehouse) -> None:
    texts = dict.fromkeys((field.name for field in BATCH_MANIFEST.fields if field.type == "string"), "lanes")
    row = dict.fromkeys(BATCH_MANIFEST.names, 0) | texts | {"table_versions": {"a": "1", "b": "2"}, "written_at": AT}
    append_rows(control, BATCH_MANIFEST, [row], ("app", 0))
    (found,) = spark.read.format("delta").load(control.table(BATCH_MANIFEST.name)).collect()
    assert found.asDict() | {"written_at": None} == row | {"written_at": None}


def test_a_table_that_is_not_there_is_not_made(spark: SparkSession, tmp_path: Any) -> None:
    nowhere = Warehouse(str(tmp_path / "nowhere"))
    with pytest.raises(Exception, match=r"(?i)not exist|not found|no files"):
        append(spark, nowhere, [ORDER])
    assert newest_version_at(nowhere.table(LANE_CONTROL.name)) == -1


@pytest.mark.parametrize("control", ["delta-rs"], indirect=True)
def test_a_checkpoint_of_delta_rs_keeps_rows_and_transactions(spark: SparkSession, control: Warehouse) -> None:
    every = int(CHECKPOINT_INTERVAL)
    for version in range(every + 2):
        append(spark, control, [{**ORDER, "seq": version}], ("app", version))
    path = control.table(LANE_CONTROL.name)
    assert len(rows_in(spark, control)) == every + 2
    assert DeltaTable.forPath(spark, path).history(1).collect()[0]["version"] == every + 2
    spark.sql(f"OPTIMIZE delta.`{path}`")
    append(spark, control, [{**ORDER, "seq": -1}], ("app", every + 1))
    append(spark, control, [{**ORDER, "seq": -2}], ("app", every + 2))
    assert sorted(row["seq"] for row in rows_in(spark, control)) == [-2, *range(every + 2)]
