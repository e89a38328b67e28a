"""The tables of a warehouse: made where they are missing, given new columns, refused where they are not what is declared."""

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import deltalake
from deltalake.exceptions import CommitFailedError
from pyspark.sql.types import StructType

from pipeline.faults import BadWarehouse
from pipeline.store.address import delta_url, local_path, object_address
from pipeline.store.arrow_reader import dataset_at
from pipeline.store.credentials import delta_options
from pipeline.store.open_tables import forget_table
from pipeline.store.table_log import newest_version_at, opened
from pipeline.store.whole_answers import whole_answer
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.other_version import remedy
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.render.ddl import constraints, properties
from schemas.render.spark import SPARK_TYPES, struct
from schemas.tables import TABLES, WATCH_TABLES

#: Creating a table is one small commit that mostly waits for the file system.
CREATED_AT_ONCE = 4
CHECK_PREFIX = "delta.constraints."
#: The least version of writers that keep CHECK constraints: delta-rs must be given it.
WRITERS_THAT_CHECK = {"delta.minWriterVersion": "3"}
#: Whoever opens a table asks a store for each commit since the newest checkpoint.
OF_OBJECT_STORES = {"delta.checkpointInterval": "10"}
#: A list of texts in a check.
_IN = re.compile(r"(\w+) IN \(([^()]*)\)")


def create_missing_tables(warehouse: Warehouse) -> None:
    """Create every declared table that the warehouse lacks, empty, several at once; check those that it has.

    A table of an earlier version gets the columns that were added to its declaration since (`Field.added`).
    Raises BadWarehouse if a table is not what is declared; of WATCH_TABLES only their writer does, whom the job can do without.
    """
    with ThreadPoolExecutor(CREATED_AT_ONCE) as threads:
        for waiting in [threads.submit(_create_or_check, warehouse, table) for table in TABLES]:
            waiting.result()


def make_report_table(warehouse: Warehouse, table: Table) -> None:
    """Create one of REPORT_TABLES in a warehouse of a version before it. Raises BadWarehouse if it is another.

    Needs no lock: the job that holds it never writes these tables, and Delta makes a table once, whoever asks.
    """
    _create_or_check(warehouse, table)


def check_table(warehouse: Warehouse, table: Table) -> None:
    """Raise BadWarehouse unless the existing table has exactly the declared columns, types and CHECK constraints.

    The order of columns does not matter: everything is written and read by name. The message names the table, every difference and
    the command that makes the table anew.
    """
    columns, settings = _schema_and_settings(warehouse.table(table.name))
    checks = {key.removeprefix(CHECK_PREFIX): value for key, value in settings.items() if key.startswith(CHECK_PREFIX)}
    differences = _differences("column", {f.name: SPARK_TYPES[f.type].simpleString() for f in table.fields}, columns)
    differences += _differences("check", constraints(table), checks)
    if differences:
        raise BadWarehouse(
            f"table {table.name} in {warehouse.root} is not what this version declares: {'; '.join(differences)}. "
            f"{remedy(warehouse, table)}"
        )


def make_as_declared(warehouse: Warehouse, table: Table) -> None:
    """Give a table of another version the declared columns and checks, which its rows must keep.

    The table stays the same to those who read it as a stream. Interrupted, it is run again.
    """
    path = warehouse.table(table.name)
    try:
        check_table(warehouse, table)
    except BadWarehouse:
        rows = dataset_at(path).to_table(list(table.names)).cast(arrow_schema(table.fields))
        deltalake.write_deltalake(opened(path), rows, mode="overwrite", schema_mode="overwrite", commit_properties=tagged())
        _replace_checks(path, table)


def _replace_checks(path: str, table: Table) -> None:
    _, settings = _schema_and_settings(path)
    found = {key.removeprefix(CHECK_PREFIX): check for key, check in settings.items() if key.startswith(CHECK_PREFIX)}
    declared = constraints(table)
    kept = {name for name in declared if _is_same(found.get(name, ""), declared[name])}
    for name in found.keys() - kept:
        opened(path).alter.drop_constraint(name, commit_properties=tagged())
    for name in declared.keys() - kept:
        opened(path).alter.add_constraint({name: declared[name]}, commit_properties=tagged())


def existing_tables(warehouse: Warehouse) -> list[str]:
    """Names of the declared tables that the warehouse has, in declared order."""
    return [table.name for table in TABLES if newest_version_at(warehouse.table(table.name)) >= 0]


def _schema_and_settings(path: str) -> tuple[dict[str, str], Mapping[str, str]]:
    """Type of each column by its name, as Spark writes it, and the properties of an existing table."""
    table = opened(path)
    columns = {f.name: f.dataType.simpleString() for f in StructType.fromJson(json.loads(table.schema().to_json()))}
    return columns, table.metadata().configuration


def _differences(kind: str, declared: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What is missing, unknown or different, one phrase each."""
    missing = [f"{kind} {name} ({declared[name]}) is missing" for name in declared if name not in found]
    unknown = [f"{kind} {name} ({found[name]}) is not declared" for name in found if name not in declared]
    changed = [f"{kind} {n} is {found[n]}, declared {declared[n]}" for n in declared if n in found and not _is_same(found[n], declared[n])]
    return missing + unknown + changed


def _is_same(one: str, other: str) -> bool:
    """Whether they are equal but for blanks, which Spark puts between the words, and for an IN, which delta-rs keeps as an OR."""
    return _spelled_out(one) == _spelled_out(other)


def _spelled_out(check: str) -> str:
    def alternatives(found: re.Match[str]) -> str:
        return " OR ".join(f"{found[1]} = {text.strip()}" for text in found[2].split(","))

    return re.sub(r"[\s()]", "", _IN.sub(alternatives, check))


def _create_or_check(warehouse: Warehouse, table: Table) -> None:
    path = warehouse.table(table.name)
    forget_table(path)  # somebody may have deleted it since this process wrote it
    if newest_version_at(path) < 0 and _create(path, table):
        return
    _add_columns(path, table)
    _widen_checks(path, table)
    if table not in WATCH_TABLES:
        check_table(warehouse, table)


def _add_columns(path: str, table: Table) -> None:
    """Give a table of an earlier version the columns that were added since. Rows that are there have null in them."""
    added = [f for f in table.fields if f.added]
    if not added:
        return
    found, _ = _schema_and_settings(path)
    missing = [f for f in added if f.name not in found]
    if missing:
        fields = deltalake.Schema.from_json(struct(missing).json()).fields
        opened(path).alter.add_columns(fields, commit_properties=tagged())


def _widen_checks(path: str, table: Table) -> None:
    """Give a table of an earlier version the checks that allow more by now."""
    widened = {f.name: (f.check, f.checks_before) for f in table.fields if f.checks_before}
    if not widened:
        return
    _, settings = _schema_and_settings(path)
    for name, (check, before) in widened.items():
        found = settings.get(CHECK_PREFIX + name)
        if found in before:
            opened(path).alter.drop_constraint(name, commit_properties=tagged())
        if found in before or found is None:  # a start that was interrupted between the two commits left none
            opened(path).alter.add_constraint({name: check}, commit_properties=tagged())


def _create(path: str, table: Table) -> bool:
    """Make the table, empty; False if it is there now: somebody else made it meanwhile, or the answer of a store was lost on its way."""
    try:
        whole_answer(lambda: _make(path, table))
    except CommitFailedError:
        if newest_version_at(path) < 0:
            raise
        return False
    return True


def _make(path: str, table: Table) -> None:
    url = delta_url(path)
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
        commit_properties=tagged(),
        raise_if_key_not_exists=False,
        storage_options=delta_options(url),
    )
