"""Runs the real job in the test session and reads what it wrote, in the form of the pure lane's tables."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lane_tables import OUTCOME_TABLES, Table
from pyspark.sql import SparkSession

from driver.streaming import run_stream
from pipeline.settings import load_settings
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.layout import Warehouse

EPOCH_DAY = date(1970, 1, 1)


def run_job(events: str | Path, warehouse: Warehouse, *, drain: bool = True, **settings: str) -> None:
    """`stream --once [--drain]`, with `lanes__lateness_ms="…"` for `--set lanes.lateness_ms=…`; fails unless it ends with 0."""
    spark = SparkSession.getActiveSession()
    assert spark is not None
    overrides = [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]
    code = run_stream(spark, str(events), warehouse.root, load_settings(None, overrides, {}), once=True, drain=drain)
    assert code == 0


def tables_in(spark: SparkSession | None, warehouse: Warehouse, *, broker: str | None = None) -> dict[str, Table]:
    """The outcome tables as sorted rows, of one broker or of all; timestamps as µs, dates as days, as the pure lane gives them.

    Local tables are read without Spark: `spark` may be None.
    """
    tables = {}
    among: dict[str, list[str]] | None = None if broker is None else {"broker": [broker]}
    for name in OUTCOME_TABLES:
        rows = arrow_rows(warehouse.table(name), among=among)
        table = [{column: _plain(value) for column, value in row.items()} for row in rows.to_pylist()]
        table.sort(
            key=lambda row: [(value is None, str(type(value)), value) if value is not None else (True, "", 0) for value in row.values()]
        )
        tables[name] = table
    return tables


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        delta = value - datetime(1970, 1, 1, tzinfo=UTC)
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    if isinstance(value, date):
        return (value - EPOCH_DAY).days
    return value
