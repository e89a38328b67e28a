"""The declared tables as Delta really makes, guards and describes them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table, create_missing_tables, make_report_table
from schemas.field import Field, Table
from schemas.render.ddl import comment, constraints, create_table
from schemas.render.spark import struct
from schemas.tables import TABLES, TABLES_BY_NAME


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(str(tmp_path_factory.mktemp("a warehouse with spaces")))
    create_missing_tables(warehouse)
    return warehouse


@pytest.fixture
def names(spark: SparkSession, tmp_path: Path) -> Warehouse:
    """A warehouse to spoil, with the small table `names` alone."""
    warehouse = Warehouse(str(tmp_path))
    spark.sql(create_table(TABLES_BY_NAME["names"], warehouse.table("names")))
    return warehouse


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_a_made_table_has_the_declared_columns_and_comments(spark: SparkSession, made: Warehouse, table: Table) -> None:
    schema = spark.read.format("delta").load(made.table(table.name)).schema
    assert [(f.name, f.dataType, f.nullable) for f in schema.fields] == [(f.name, f.dataType, f.nullable) for f in struct(table.fields)]
    assert [f.metadata["comment"] for f in schema.fields] == [comment(f) for f in table.fields]
    check_table(made, table)


@pytest.mark.parametrize("table", [t for t in TABLES if constraints(t)], ids=lambda t: t.name)
def test_every_check_is_enforced_on_append(spark: SparkSession, made: Warehouse, table: Table) -> None:
    values = {
        "string": "'?'", "long": "-1", "int": "-1", "boolean": "true", "double": "-1", "timestamp": "timestamp'2026-01-05'",
        "date": "date'2026-01-05'", "map<string,string>": "map('a', 'b')", "array<bigint>": "array(1)",
        "array<string>": "array('a')", "binary": "X'00'",
        "array<struct<broker_id:bigint,epoch:bigint,at:timestamp>>": "array(struct(1, 1, timestamp'2026-01-05'))",
    }  # fmt: skip
    bad = spark.range(1).selectExpr(*(f"CAST({values[f.type]} AS {f.type.replace('long', 'bigint')}) AS `{f.name}`" for f in table.fields))
    with pytest.raises(Exception, match="CHECK constraint (?:" + "|".join(constraints(table)) + ") "):
        bad.write.format("delta").mode("append").save(made.table(table.name))
    broken = bad.selectExpr(*(f"NOT ({expression}) AS `{name}`" for name, expression in constraints(table).items())).collect()[0]
    assert [name for name in constraints(table) if broken[name] is not True] == [], "the row that must be refused keeps them"


def test_null_in_a_required_column_is_refused(spark: SparkSession, made: Warehouse) -> None:
    with pytest.raises(Exception, match="NOT NULL constraint violated for column: id"):
        spark.sql(f"INSERT INTO delta.`{made.table('names')}` VALUES (NULL, 'broker', 'b', NULL, NULL)")


def test_making_tables_again_keeps_rows(spark: SparkSession, names: Warehouse) -> None:
    spark.sql(f"INSERT INTO delta.`{names.table('names')}` VALUES (1, 'broker', 'b1:8080', NULL, NULL)")
    create_missing_tables(names)
    assert spark.read.format("delta").load(names.table("names")).count() == 1
    assert spark.read.format("delta").load(names.table("log_gaps")).count() == 0


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("ADD COLUMN stray INT", r"column stray \(int\) is not declared"),
        ("DROP CONSTRAINT level", r"check level \(level IN .*\) is missing"),
        ("ADD CONSTRAINT more CHECK (id > 0)", r"check more \(id > 0\) is not declared"),
    ],
)
def test_an_altered_table_is_refused_by_name_with_the_command(spark: SparkSession, names: Warehouse, change: str, difference: str) -> None:
    spark.sql(f"ALTER TABLE delta.`{names.table('names')}` {change}")
    with pytest.raises(BadWarehouse, match=f"table names .*{difference}.*spark-submit.sh rebuild all --warehouse"):
        create_missing_tables(names)


def test_a_table_of_lanes_is_rebuilt_from_the_events_that_are_there(spark: SparkSession, made: Warehouse) -> None:
    declared = Table("log_gaps", "", grain=(), fields=TABLES_BY_NAME["log_gaps"].fields[:-1])
    with pytest.raises(BadWarehouse, match=r"column step_us \(bigint\) is not declared.*spark-submit.sh rebuild lanes --warehouse"):
        check_table(made, declared)


def test_missing_and_changed_columns_are_named(spark: SparkSession, names: Warehouse) -> None:
    declared = Table("names", "", grain=(), fields=(Field("id", "int", "id"), Field("new", "string", "new")))
    with pytest.raises(BadWarehouse, match=r"column new \(string\) is missing.*column id is bigint, declared int"):
        check_table(names, declared)


def test_a_start_adds_the_columns_that_were_declared_since(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    names = TABLES_BY_NAME["names"]
    make_report_table(warehouse, names)
    spark.sql(f"INSERT INTO delta.`{warehouse.table('names')}` VALUES (1, 'broker', 'b1:8080', NULL, NULL)")
    new = (
        Field("number", "long", "how many", "bytes", nullable=True, added=True),
        Field("one", "binary", "one", nullable=True, added=True),
    )
    declared = replace(names, fields=(*names.fields, *new))
    with pytest.raises(BadWarehouse, match=r"column number \(bigint\) is missing"):
        check_table(warehouse, declared)
    for _ in range(2):
        make_report_table(warehouse, declared)
    rows = spark.read.format("delta").load(warehouse.table("names"))
    assert [(row.id, row.number, row.one) for row in rows.collect()] == [(1, None, None)]
    assert [f.metadata["comment"] for f in rows.schema.fields[-2:]] == [comment(f) for f in new]
    assert newest_version_at(warehouse.table("names")) == 2, "made, filled, altered once"
    with pytest.raises(BadWarehouse, match=r"column number \(bigint\) is not declared"):
        check_table(warehouse, names)


def test_an_added_column_is_null_in_rows_of_before() -> None:
    wrongs: list[dict[str, Any]] = [{"nullable": False}, {"nullable": True, "check": "x > 0"}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="field x: rows of before have null"):
            Field("x", "long", "", added=True, **wrong)
