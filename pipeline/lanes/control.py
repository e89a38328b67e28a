"""Rows that lanes read beside bronze (schemas/tables/bookkeeping.py, LANE_CONTROL): here those that end a log."""

from pipeline.run_context import RunContext
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bookkeeping import LANE_CONTROL


def issue_drain(warehouse: Warehouse, run: RunContext) -> int:
    """Write one drain row per known lane into `lane_control`; returns how many. The next micro-batches of lanes act on them."""
    lanes = arrow_rows(warehouse.table("names"), ("id",), {"level": ["broker"]})["id"].to_pylist()
    rows = [(lane, "drain", 0, 0, 0, 0, -1, run.now()) for lane in lanes]
    append_rows(warehouse, LANE_CONTROL, [dict(zip(LANE_CONTROL.names, row, strict=True)) for row in rows], (f"{run.run_id}:drain", 0))
    return len(lanes)
