"""Entries as rows of a table of the warehouse, a commit for each bundle."""

from collections.abc import Callable, Sequence

from pipeline.upkeep.run_records.outbox import Entry
from pipeline.warehouse.append import app_id_of, append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table
from schemas.field import Table


def rows_writer(warehouse: Warehouse, table: Table, run_id: str) -> Callable[[Sequence[Entry], int], None]:
    """A `write` for an Outbox that appends to `table`, which must exist. Entries have a value for every column.

    A bundle that is written again after a failure is written once. Raises BadWarehouse if the table is not what is declared, and whatever
    Spark raises.
    """
    checked = False

    def write(entries: Sequence[Entry], number: int) -> None:
        nonlocal checked
        if not checked:
            check_table(warehouse, table)
            checked = True
        append_rows(warehouse, table, entries, (app_id_of(run_id, table.name), number))

    return write
