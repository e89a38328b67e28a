"""Views over rows in memory: of a hundred small queries over Delta tables, Delta takes half the time.

The commands' tests (test_demo_queries.py and others) ask views over Delta tables.
"""

from collections.abc import Collection

from pyspark.sql import SparkSession

from pipeline.query.views.catalog import all_names, named_in
from pipeline.query.views.register import register_views
from pipeline.repair.backfill.slices import frame_of
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES


def register_from_memory(session: SparkSession, warehouse: Warehouse, statement: str | None = None) -> None:
    """As `register` does, also of only what a statement needs, but each table has the rows that it has now."""
    names = all_names() if statement is None else named_in(statement)
    register_tables_from_memory(session, warehouse, names)
    register_views(session, names)


def register_tables_from_memory(session: SparkSession, warehouse: Warehouse, names: Collection[str] | None = None) -> None:
    """The tables alone, all or those among `names`."""
    for table in TABLES:
        if names is None or table.name in names:
            frame_of(session, arrow_rows(warehouse.table(table.name)), table).createOrReplaceTempView(table.name)
