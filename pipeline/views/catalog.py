"""Every table and view of a warehouse under its plain name, for one Spark session."""

import re
from collections.abc import Collection
from importlib.resources import files

from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.warehouse.cut import Batch, Cut
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.local_tables import newest_version
from schemas.packages import PACKAGES
from schemas.render.ddl import delta_path
from schemas.render.spark import struct
from schemas.tables import JOB_TABLES, REPORT_TABLES, TABLES

#: In the order in which they are registered: a view may use tables and views before it. One `<view>.sql` beside this file each.
VIEWS = (
    *PACKAGES[0].views,
    "newest_windows",
    *(view for package in PACKAGES[1:] for view in package.views),
    "log_balance",
    "log_health",
    "runs",
    "micro_batches",
)


def sql_of(view: str) -> str:
    """The view's query, with the comment block that explains it. Read as a resource: the code may be in a zip."""
    return files("pipeline.views").joinpath(f"{view}.sql").read_text(encoding="utf-8")


def question(view: str) -> str:
    """The question that the view answers: the first line of its comment block."""
    return sql_of(view).partition("\n")[0].removeprefix("-- ")


def register(spark: SparkSession, warehouse: Warehouse, cut: Cut | None = None, statement: str | None = None) -> list[str]:
    """Make every table and view of the warehouse a temporary view of this session; returns their names, tables first.

    With `statement` (SQL) only those whose names are words of it, and what their queries name: Spark analyses each view, which takes
    seconds for all. They stay fresh: each query reads the newest version of the tables; with `cut` those of the job stay at its versions.
    Raises BadWarehouse if a table of the job is missing.
    """
    names = _all_names() if statement is None else named_in(statement)
    register_tables(spark, warehouse, cut, names)
    _register_reports(spark, warehouse, names)
    register_views(spark, names)
    return names


def register_tables(spark: SparkSession, warehouse: Warehouse, cut: Cut | None = None, names: Collection[str] | None = None) -> None:
    """Make the job's tables (those among `names`) temporary views, as `register` does."""
    for table in JOB_TABLES:
        if names is not None and table.name not in names:
            continue
        path = warehouse.table(table.name)
        if newest_version(spark, path) < 0:
            raise BadWarehouse(
                f"no table {table.name} in {warehouse.root}. Is it the right --warehouse? "
                f"One is made by: ./spark-submit.sh stream --events DIR --warehouse {warehouse.root}"
            )
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {table.name} AS SELECT * FROM {delta_path(path)}{_as_of(table.name, cut)}")


def register_views(spark: SparkSession, names: Collection[str] = VIEWS) -> None:
    """Make the views (those among `names`) temporary views of a session in which all tables and views that they name are registered."""
    for view in VIEWS:
        if view in names:
            spark.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS\n{sql_of(view)}")


def named_in(statement: str) -> list[str]:
    """Tables and views whose names are words of the statement, and what the queries of these views name; as `register` orders them."""
    found: set[str] = set()
    texts = [statement]
    while texts:
        words = set(re.findall(r"\w+", texts.pop().lower()))
        new = [name for name in _all_names() if name in words and name not in found]
        found.update(new)
        texts += [re.sub(r"--.*", "", sql_of(name)) for name in new if name in VIEWS]
    return [name for name in _all_names() if name in found]


def _all_names() -> list[str]:
    return [*(table.name for table in TABLES), *VIEWS]


def _register_reports(spark: SparkSession, warehouse: Warehouse, names: Collection[str]) -> None:
    """The tables that report on the others; without rows where nobody made them yet."""
    for table in REPORT_TABLES:
        if table.name not in names:
            continue
        path = warehouse.table(table.name)
        if newest_version(spark, path) >= 0:
            spark.sql(f"CREATE OR REPLACE TEMP VIEW {table.name} AS SELECT * FROM {delta_path(path)}")
        else:
            spark.createDataFrame([], struct(table.fields)).createOrReplaceTempView(table.name)


def _as_of(table: str, cut: Cut | None) -> str:
    """What follows the table's name so that only what belongs to the cut is read."""
    if cut is None:
        return ""
    if table == "batch_manifest":
        return f" WHERE {_up_to('ingest', cut.ingest)} OR {_up_to('lanes', cut.lanes)}"
    return f" VERSION AS OF {cut.versions[table]}"


def _up_to(query: str, newest: Batch | None) -> str:
    if newest is None:
        return "false"
    return f"(query = '{query}' AND batch_id <= {newest.batch_id})"
