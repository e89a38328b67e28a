"""Rows that tasks of Spark write: once, whole, with bounds that are true, and read by Spark as they were."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

from pipeline.store.table_log import newest_version_at, opened
from pipeline.warehouse import data_files as table_file
from pipeline.warehouse.append_frame import append_in_tasks
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.render.spark import struct
from schemas.tables.bookkeeping import LANE_CONTROL

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)


@pytest.fixture
def control(tmp_path: Any) -> Warehouse:
    warehouse = Warehouse(f"file:{tmp_path / 'a house'}")
    create_missing_tables(warehouse)
    return warehouse


def rows(spark: SparkSession, seqs: list[int | None], partitions: int = 3) -> DataFrame:
    told = [{**dict.fromkeys(LANE_CONTROL.names, 0), "kind": "drain", "issued_at": AT, "seq": seq} for seq in seqs]
    schema = struct(LANE_CONTROL.fields)
    for field in schema.fields:
        field.nullable = True
    return spark.createDataFrame([tuple(row[name] for name in LANE_CONTROL.names) for row in told], schema).repartition(partitions)


def seqs_in(spark: SparkSession, warehouse: Warehouse) -> list[int]:
    found = spark.read.format("delta").load(warehouse.table(LANE_CONTROL.name)).where("seq >= 0").select("seq", "issued_at").collect()
    assert {row.issued_at.astimezone(UTC) for row in found} <= {AT}
    return sorted(row.seq for row in found)


@pytest.mark.parametrize("row_group", [2, 65_536])
def test_rows_are_written_once_in_one_commit(
    spark: SparkSession, control: Warehouse, monkeypatch: pytest.MonkeyPatch, row_group: int
) -> None:
    monkeypatch.setattr(table_file, "ROW_GROUP_ROWS", row_group)
    before, wanted = newest_version_at(control.table(LANE_CONTROL.name)), [1, 2, 2**62, 3, 5]
    for version in (0, 0, 1, 0):
        append_in_tasks(rows(spark, wanted), control, LANE_CONTROL, ("app", version), f"run-{version}")
    assert seqs_in(spark, control) == sorted(2 * wanted)
    assert newest_version_at(control.table(LANE_CONTROL.name)) == before + 2
    files = opened(control.table(LANE_CONTROL.name)).get_add_actions(flatten=True)
    bounds = list(zip(files["min.seq"].to_pylist(), files["max.seq"].to_pylist(), strict=True))
    assert (min(least for least, _ in bounds), max(most for _, most in bounds)) == (1, 2**62)
    assert sum(files["num_records"].to_pylist()) == 10
    assert spark.read.format("delta").load(control.table(LANE_CONTROL.name)).where(f"seq = {2**62}").count() == 2


def test_no_rows_are_no_commit(spark: SparkSession, control: Warehouse) -> None:
    before = newest_version_at(control.table(LANE_CONTROL.name))
    assert append_in_tasks(rows(spark, []), control, LANE_CONTROL, ("app", 0), "run") == 0
    assert newest_version_at(control.table(LANE_CONTROL.name)) == before


def test_columns_that_are_not_given_are_null_or_refused(spark: SparkSession, control: Warehouse) -> None:
    with pytest.raises(PythonException, match=r"lane_control\.seq would be null"):
        append_in_tasks(rows(spark, [1, 2]).drop("seq"), control, LANE_CONTROL, ("app", 0), "run")
    with pytest.raises(PythonException, match=r"lane_control\.seq would be null in 1 rows"):
        append_in_tasks(rows(spark, [1, None], 1), control, LANE_CONTROL, ("app", 0), "run")
    assert seqs_in(spark, control) == []
