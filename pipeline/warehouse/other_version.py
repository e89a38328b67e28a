"""Tables that another version of this project made: what an operator does about them."""

from collections.abc import Collection

from pipeline.faults import BadWarehouse
from pipeline.warehouse.layout import Warehouse, writer_of
from schemas.field import Table
from schemas.tables import REPORT_TABLES, TABLES_BY_NAME
from schemas.tables.bookkeeping import LANE_CONTROL


def remedy(warehouse: Warehouse, table: Table) -> str:
    """The sentence that ends the refusal of such a table."""
    if table in REPORT_TABLES:
        return f"It holds only reports: move {warehouse.table(table.name)} away, and a new one is made"
    # A rebuild of lanes keeps the tombstones of lane_control, and makes the table as it is declared.
    query = "lanes" if table.name == LANE_CONTROL.name else writer_of(table.name)
    return f"Compute anew: {warehouse.rebuild_command(query)}"


def refuse_without_columns(warehouse: Warehouse, name: str, columns: Collection[str], fault: str) -> None:
    """Raise BadWarehouse if a declared column of the table called `name` is not among its `columns`, and `fault` names that column."""
    table = TABLES_BY_NAME[name]
    missing = [one for one in table.names if one not in columns and f'"{one}"' in fault]
    if missing:
        words = f"table {name} in {warehouse.root} has no column {missing[0]}: another version made it"
        raise BadWarehouse(f"{words}. {remedy(warehouse, table)}")
