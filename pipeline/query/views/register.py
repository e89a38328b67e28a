"""Every table and view of a warehouse under its plain name, for one Spark session."""

from collections.abc import Collection

from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.query.views.catalog import VIEWS, all_names, named_in, sql_of
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.cut import Cut, rows_of_the_cut
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.render.ddl import SQL_TYPES, delta_path
from schemas.render.spark import struct
from schemas.tables import JOB_TABLES, REPORT_TABLES, TABLES


def register(
    spark: SparkSession, warehouse: Warehouse, cut: Cut | None = None, statement: str | None = None, *, lenient: bool = False
) -> list[str]:
    """Make every table and view of the warehouse a temporary view of this session; returns their names, tables first.

    With `statement` (SQL) only those whose names are words of it, and what their queries name: Spark analyses each view, which takes
    seconds for all. They stay fresh: each query reads the newest version of the tables; with `cut` those of the job stay at its versions.
    Raises BadWarehouse if a table of the job is missing; `lenient`: it has no rows.
    """
    names = all_names() if statement is None else named_in(statement)
    there = [table.name for table in TABLES if newest_version_at(warehouse.table(table.name)) >= 0] if lenient else names
    register_tables(spark, warehouse, cut, [name for name in names if name in there])
    for table in JOB_TABLES:
        if table.name in names and table.name not in there:
            _register_empty(spark, table)
    register_reports(spark, warehouse, names)
    register_views(spark, names)
    return names


def register_tables(spark: SparkSession, warehouse: Warehouse, cut: Cut | None = None, names: Collection[str] | None = None) -> None:
    """Make the job's tables (those among `names`) temporary views, as `register` does."""
    for table in JOB_TABLES:
        if names is not None and table.name not in names:
            continue
        path = warehouse.table(table.name)
        if newest_version_at(path) < 0:
            raise BadWarehouse(
                f"no table {table.name} in {warehouse.root}. Is it the right --warehouse? "
                f"One is made by: ./spark-submit.sh stream --events DIR --warehouse {warehouse.root}"
            )
        source = f"{delta_path(path)}{_as_of(table.name, cut)}"
        columns = ", ".join(["*", *_added_since(spark, source, table)])
        _register(spark, table.name, f"SELECT {columns} FROM {source}")


def _added_since(spark: SparkSession, source: str, table: Table) -> list[str]:
    """Columns that were added to the declaration since the version of the table that `source` (SQL) names: null in all rows."""
    added = [f for f in table.fields if f.added]
    there = spark.sql(f"SELECT * FROM {source}").columns if added else []
    return [f"CAST(NULL AS {SQL_TYPES[f.type]}) AS `{f.name}`" for f in added if f.name not in there]


def register_views(spark: SparkSession, names: Collection[str] = VIEWS) -> None:
    """Make the views (those among `names`) temporary views of a session in which all tables and views that they name are registered."""
    for view in VIEWS:
        if view in names:
            _register(spark, view, sql_of(view))


def register_reports(spark: SparkSession, warehouse: Warehouse, names: Collection[str]) -> None:
    """The tables that report on the others; without rows where nobody made them yet."""
    for table in REPORT_TABLES:
        if table.name not in names:
            continue
        path = warehouse.table(table.name)
        if newest_version_at(path) >= 0:
            _register(spark, table.name, f"SELECT * FROM {delta_path(path)}")
        else:
            _register_empty(spark, table)


def _register(spark: SparkSession, name: str, query: str) -> None:
    """A view of a frame: Spark keeps its plan. Of `CREATE VIEW` it keeps the text, and analyses all below it each time a view is named."""
    spark.sql(query).createOrReplaceTempView(name)


def _register_empty(spark: SparkSession, table: Table) -> None:
    spark.createDataFrame([], struct(table.fields)).createOrReplaceTempView(table.name)


def _as_of(table: str, cut: Cut | None) -> str:
    """What follows the table's name so that only what belongs to the cut is read."""
    if cut is None:
        return ""
    at, belongs = cut.versions.get(table), rows_of_the_cut(cut, table)
    return ("" if at is None else f" VERSION AS OF {at}") + ("" if belongs is None else f" WHERE {belongs}")
