"""The tables of a warehouse: made where they are missing, given new columns, refused where they are not what is declared."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import deltalake
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from pipeline.faults import BadWarehouse
from pipeline.store.address import delta_url, local_path, object_address
from pipeline.store.table_log import opened, storage_options, table_url
from pipeline.warehouse.layout import Warehouse, writer_of
from pipeline.warehouse.small_tables import newest_version
from pipeline.warehouse.writer_mark import marked
from schemas.field import Table
from schemas.render.ddl import add_columns, constraints, create_table, delta_path, properties
from schemas.render.spark import SPARK_TYPES, struct
from schemas.tables import REPORT_TABLES, TABLES, WATCH_TABLES
from schemas.tables.bookkeeping import LANE_CONTROL

#: Creating a table is one small commit that mostly waits for the file system.
CREATED_AT_ONCE = 4
CHECK_PREFIX = "delta.constraints."
#: The least version of writers that keep CHECK constraints. Spark finds it by itself, delta-rs must be given it.
WRITERS_THAT_CHECK = {"delta.minWriterVersion": "3"}
#: Whoever opens a table asks a store for each commit since the newest checkpoint.
OF_OBJECT_STORES = {"delta.checkpointInterval": "10"}
#: Spark shows this instead of any setting with "token" in it, so also instead of a check that allows 'token_bucket'.
REDACTED = "*********(redacted)"


def create_missing_tables(spark: SparkSession, warehouse: Warehouse) -> None:
    """Create every declared table that the warehouse lacks, empty, several at once; check those that it has.

    A table of an earlier version gets the columns that were added to its declaration since (`Field.added`).
    Raises BadWarehouse if a table is not what is declared; of WATCH_TABLES only their writer does, whom the job can do without.
    """
    with ThreadPoolExecutor(CREATED_AT_ONCE) as threads:
        for waiting in [threads.submit(_create_or_check, spark, warehouse, table) for table in TABLES]:
            waiting.result()


def make_report_table(spark: SparkSession, warehouse: Warehouse, table: Table) -> None:
    """Create one of REPORT_TABLES in a warehouse of a version before it. Raises BadWarehouse if it is another.

    Needs no lock: the job that holds it never writes these tables, and Delta makes a table once, whoever asks.
    """
    _create_or_check(spark, warehouse, table)


def check_table(spark: SparkSession, warehouse: Warehouse, table: Table) -> None:
    """Raise BadWarehouse unless the existing table has exactly the declared columns, types and CHECK constraints.

    The order of columns does not matter: everything is written and read by name. The message names the table, every difference and
    the command that makes the table anew.
    """
    found, settings = _schema_and_settings(spark, warehouse.table(table.name))
    columns = {f.name: f.dataType.simpleString() for f in found.fields}
    checks = {key.removeprefix(CHECK_PREFIX): value for key, value in settings.items() if key.startswith(CHECK_PREFIX)}
    checks |= {name: expression for name, expression in constraints(table).items() if checks.get(name) == REDACTED}
    differences = _differences("column", {f.name: SPARK_TYPES[f.type].simpleString() for f in table.fields}, columns)
    differences += _differences("check", constraints(table), checks)
    if differences:
        raise BadWarehouse(
            f"table {table.name} in {warehouse.root} is not what this version declares: {'; '.join(differences)}. "
            f"{_remedy(warehouse, table)}"
        )


def make_as_declared(spark: SparkSession, warehouse: Warehouse, table: Table) -> None:
    """Give a table of another version the declared columns and checks, which its rows must keep. It loses its NOT NULL.

    The table stays the same to those who read it as a stream. Interrupted, it is run again.
    """
    path = warehouse.table(table.name)
    try:
        check_table(spark, warehouse, table)
    except BadWarehouse:
        rows = spark.read.format("delta").load(path).select(*table.names)
        rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(path)
        _replace_checks(spark, path, table)


def _replace_checks(spark: SparkSession, path: str, table: Table) -> None:
    _, settings = _schema_and_settings(spark, path)
    found = {key.removeprefix(CHECK_PREFIX): check for key, check in settings.items() if key.startswith(CHECK_PREFIX)}
    declared = constraints(table)
    kept = {name for name in declared if _is_same(found.get(name, ""), declared[name])}
    # By Spark wherever the table is: delta-rs would keep an IN of two values as an OR, and the table would be another again.
    for name in found.keys() - kept:
        spark.sql(f"ALTER TABLE {delta_path(path)} DROP CONSTRAINT {name}")
    for name in declared.keys() - kept:
        spark.sql(f"ALTER TABLE {delta_path(path)} ADD CONSTRAINT {name} CHECK ({declared[name]})")


def _schema_and_settings(spark: SparkSession, path: str) -> tuple[StructType, Mapping[str, str]]:
    """Columns and table properties of an existing table."""
    if delta_url(path) is not None:
        table = opened(path)
        return StructType.fromJson(json.loads(table.schema().to_json())), table.metadata().configuration
    # Not DESCRIBE DETAIL: it counts the table's files, ten times as slow, and this runs at every start.
    rows = spark.sql(f"SHOW TBLPROPERTIES {delta_path(path)}").collect()
    return DeltaTable.forPath(spark, path).toDF().schema, {row["key"]: row["value"] for row in rows}


def _remedy(warehouse: Warehouse, table: Table) -> str:
    """What the operator can do about a table that is another."""
    if table in REPORT_TABLES:
        return f"It holds only reports: move {warehouse.table(table.name)} away, and a new one is made"
    # A rebuild of lanes keeps the tombstones of lane_control, and makes the table as it is declared.
    query = "lanes" if table.name == LANE_CONTROL.name else writer_of(table.name)
    return f"Compute anew: {warehouse.rebuild_command(query)}"


def _differences(kind: str, declared: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What is missing, unknown or different, one phrase each."""
    missing = [f"{kind} {name} ({declared[name]}) is missing" for name in declared if name not in found]
    unknown = [f"{kind} {name} ({found[name]}) is not declared" for name in found if name not in declared]
    changed = [f"{kind} {n} is {found[n]}, declared {declared[n]}" for n in declared if n in found and not _is_same(found[n], declared[n])]
    return missing + unknown + changed


def _is_same(one: str, other: str) -> bool:
    """Whether they are equal but for blanks: Spark puts some between the words of a check."""
    return one.replace(" ", "") == other.replace(" ", "")


def _create_or_check(spark: SparkSession, warehouse: Warehouse, table: Table) -> None:
    path = warehouse.table(table.name)
    if newest_version(spark, path) < 0:
        _create(spark, path, table)
        return
    _add_columns(spark, path, table)
    _widen_checks(spark, path, table)
    if table not in WATCH_TABLES:
        check_table(spark, warehouse, table)


def _add_columns(spark: SparkSession, path: str, table: Table) -> None:
    """Give a table of an earlier version the columns that were added since. Rows that are there have null in them."""
    added = [f for f in table.fields if f.added]
    if not added:
        return
    found, _ = _schema_and_settings(spark, path)
    missing = [f for f in added if f.name not in found.names]
    if not missing:
        return
    if delta_url(path) is None:
        spark.sql(add_columns(missing, path))
    else:
        fields = deltalake.Schema.from_json(struct(missing).json()).fields
        opened(path).alter.add_columns(fields, commit_properties=marked())


def _widen_checks(spark: SparkSession, path: str, table: Table) -> None:
    """Give a table of an earlier version the checks that allow more by now."""
    widened = {f.name: (f.check, f.checks_before) for f in table.fields if f.checks_before}
    if not widened:
        return
    _, settings = _schema_and_settings(spark, path)
    for name, (check, before) in widened.items():
        found = settings.get(CHECK_PREFIX + name)
        if found in before:
            _drop_check(spark, path, name)
        if found in before or found is None:  # a start that was interrupted between the two commits left none
            _add_check(spark, path, name, check)


def _drop_check(spark: SparkSession, path: str, name: str) -> None:
    if delta_url(path) is None:
        spark.sql(f"ALTER TABLE {delta_path(path)} DROP CONSTRAINT {name}")
    else:
        opened(path).alter.drop_constraint(name, commit_properties=marked())


def _add_check(spark: SparkSession, path: str, name: str, check: str) -> None:
    if delta_url(path) is None:
        spark.sql(f"ALTER TABLE {delta_path(path)} ADD CONSTRAINT {name} CHECK ({check})")
    else:
        opened(path).alter.add_constraint({name: check}, commit_properties=marked())


def _create(spark: SparkSession, path: str, table: Table) -> None:
    """Make the table, empty. Whoever else does so at the same time makes the same one."""
    if delta_url(path) is None:
        spark.sql(create_table(table, path))
        return
    url = table_url(path)
    folder = local_path(path)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    deltalake.DeltaTable.create(
        url,
        schema=deltalake.Schema.from_json(struct(table.fields).json()),
        mode="ignore",
        partition_by=list(table.partition_by),
        description=table.meaning,
        configuration={
            **properties(table),
            **(WRITERS_THAT_CHECK if constraints(table) else {}),
            **(OF_OBJECT_STORES if object_address(path) else {}),
        },
        commit_properties=marked(),
        raise_if_key_not_exists=False,
        storage_options=storage_options(url),
    )
