"""Rows of a Delta table by Arrow: for a process that takes a part of a table into its memory. A job of Spark takes a second."""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow.fs import SubTreeFileSystem

from pipeline.store.arrow_places import arrow_place
from pipeline.store.table_log import opened


def dataset_at(uri: str, version: int | None = None) -> ds.Dataset:
    """The rows of the table, now or at a version, to be read by Arrow. Raises DeltaError or TableNotFoundError if there is none."""
    # The file system of delta-rs is Python's. Threads of Arrow may still close files after the last row is read,
    # and a process that ends just then is aborted (seen 26 times of 240). Arrow's own needs no Python.
    folder, filesystem = arrow_place(uri)
    return opened(uri, version).to_pyarrow_dataset(filesystem=SubTreeFileSystem(folder, filesystem) if folder else filesystem)


def arrow_rows(
    uri: str,
    columns: Sequence[str] | None = None,
    among: Mapping[str, Collection[Any] | pa.Array] | None = None,
    within: Mapping[str, tuple[int, int]] | None = None,
) -> pa.Table:
    """Rows of an existing table as it is now: all columns or `columns`, all rows or those whose value is `among` some of a column.

    And of them those whose value of a column is `within` bounds, which belong to them. What is returned must fit into this process; what
    is left out is not held.
    """
    table = dataset_at(uri)
    bounds = [(pc.field(column) >= least) & (pc.field(column) <= most) for column, (least, most) in (within or {}).items()]
    conditions = [*bounds, *([_condition(table.schema, among)] if among else [])]
    return table.to_table(columns and list(columns), filter=reduce(and_, conditions) if conditions else None)


def text_field(name: str) -> pc.Expression:
    """A column of texts, to be compared with texts.

    What delta-rs rewrites (DELETE, UPDATE, MERGE) has views of strings in its files, and Arrow does not compare their statistics with
    texts: the whole scan would fail. A cast is not compared with statistics.
    """
    return pc.field(name).cast(pa.string())


def grouped(uri: str, key: str, value: str, function: str, where: pc.Expression | None = None) -> dict[Any, Any]:
    """Of each value of the column `key` the `min` or `max` (`function`) of the column `value`, by rows that keep `where`.

    Two columns are read, a batch at a time: the table may be larger than this machine's memory.
    """
    found: dict[Any, Any] = {}
    best = {"min": min, "max": max}[function]
    for batch in dataset_at(uri).scanner([key, value], filter=where).to_batches():
        if batch.num_rows:
            of_batch = pa.Table.from_batches([batch]).group_by(key).aggregate([(value, function)])
            for one, reached in zip(of_batch[key].to_pylist(), of_batch[f"{value}_{function}"].to_pylist(), strict=True):
                if reached is not None:
                    found[one] = best(found.get(one, reached), reached)
    return found


def _condition(schema: pa.Schema, among: Mapping[str, Collection[Any] | pa.Array]) -> pc.Expression:
    def values_of(column: str) -> pa.Array:
        values = among[column]
        return values if isinstance(values, pa.Array) else pa.array(list(values), schema.field(column).type)

    def field_of(column: str) -> pc.Expression:
        return text_field(column) if pa.types.is_string(schema.field(column).type) else pc.field(column)

    return reduce(and_, (field_of(column).isin(values_of(column)) for column in among))
