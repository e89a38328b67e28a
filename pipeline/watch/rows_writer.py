"""Entries as rows of a table of the warehouse, a commit for each bundle."""

from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from pipeline.sinks.append import app_id_of, append
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table
from pipeline.watch.outbox import Entry
from schemas.field import Table
from schemas.render.spark import struct

#: For rows by the dozen: Java classes that Spark would write and compile for them cost more than they save.
_FEW_ROWS = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def rows_writer(spark: SparkSession, warehouse: Warehouse, table: Table, run_id: str) -> Callable[[Sequence[Entry], int], None]:
    """A `write` for an Outbox that appends to `table`, which must exist. Entries have a value for every column.

    A bundle that is written again after a failure is written once. Raises BadWarehouse if the table is not what is declared, and whatever
    Spark raises.
    """
    session: SparkSession | None = None

    def write(entries: Sequence[Entry], number: int) -> None:
        nonlocal session
        if session is None:
            mine = spark.newSession()  # its settings are nobody else's
            for key, value in _FEW_ROWS.items():
                mine.conf.set(key, value)
            check_table(mine, warehouse, table)
            session = mine
        rows = [tuple(entry[name] for name in table.names) for entry in entries]
        frame = session.createDataFrame(rows, struct(table.fields)).coalesce(1)
        append(frame, warehouse, table.name, app_id_of(run_id, table.name), number)

    return write
