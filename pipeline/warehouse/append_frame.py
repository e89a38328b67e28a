"""Rows of a frame of Spark to a Delta table: tasks write Parquet, the driver commits all files at once. No row comes to the driver."""

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from pipeline.warehouse.append import append_files, is_appended
from pipeline.warehouse.data_files import NewFile, TableFiles
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.render.arrow import arrow_schema

Batches = Iterator[pa.RecordBatch]
#: What leaves a task: files that it wrote (NewFile), as JSON.
_ADDED = "added string"


def append_in_tasks(
    frame: DataFrame,
    warehouse: Warehouse,
    table: Table,
    once: tuple[str, int],
    name: str,
    made_of: Callable[[Batches], Batches] | None = None,
) -> int:
    """Append the frame's rows, or what `made_of` makes of them in the task, to the table, in one commit; returns how many.

    They have the table's columns; those that they lack are null. `once` is (app id, version), as in `append_rows`: nothing is computed if
    it was appended. `name` begins the files' names: no other run may use it. Nobody looks whether the rows keep the table's checks.
    """
    if is_appended(warehouse, table.name, *once):
        return 0
    uri = warehouse.table(table.name)
    files = written_in_tasks(frame, uri, table, name, made_of)
    append_files(uri, table, files, once)
    return sum(file.rows for file in files)


def written_in_tasks(
    frame: DataFrame, folder: str, table: Table, name: str, made_of: Callable[[Batches], Batches] | None = None
) -> list[NewFile]:
    """The same rows as files below `folder` that no commit names."""
    rows = frame.mapInArrow(partial(_written, folder, table, name, made_of), _ADDED).collect()
    return [NewFile.from_json(row.added) for row in rows]


def _written(folder: str, table: Table, name: str, made_of: Callable[[Batches], Batches] | None, batches: Batches) -> Batches:
    task = TaskContext.get()
    assert task is not None
    files = TableFiles(folder, table, f"{name}-{task.partitionId()}-{task.taskAttemptId()}.zstd.parquet")
    for rows in made_of(batches) if made_of is not None else batches:
        if rows.num_rows:
            files.add(_typed(rows, table))
    added = [file.to_json() for file in files.close()]
    yield pa.RecordBatch.from_arrays([pa.array(added, pa.string())], names=["added"])


def _typed(rows: pa.RecordBatch, table: Table) -> pa.RecordBatch:
    schema = arrow_schema(table.fields)
    there = set(rows.schema.names)
    columns = [rows[f.name].cast(f.type) if f.name in there else pa.nulls(rows.num_rows, f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, names=schema.names)
