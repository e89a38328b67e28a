"""A warehouse as `stream` leaves it in the middle of a log: the newest window of the broker is open. Without the job and without Spark."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from captured_warehouse import LOOKED_AT, append_plain
from lane_rows import lane_rows, text_id
from lane_tables import SETTINGS, as_tables
from lane_views import names_of

from pipeline.lanes.lane import Lane
from pipeline.lanes.newest_events import NewestEvents
from pipeline.lanes.outcome_packets import outcome_rows
from pipeline.run_context import RunContext
from pipeline.warehouse.layout import INGEST, LANES, Warehouse
from pipeline.warehouse.manifest import append_manifest, table_versions
from pipeline.warehouse.offsets import read_whole_entry
from pipeline.warehouse.tables import create_missing_tables
from schemas.outcomes import LANE_REPORT

RUN = RunContext("r", "1", lambda: datetime(2026, 11, 21, tzinfo=UTC), lambda: None, lambda _: None)


def live_warehouse(events: list[dict[str, Any]], folder: Path) -> Warehouse:
    """Of a log of one broker that goes on after these events: one micro-batch of each query, and a consistent cut."""
    warehouse = Warehouse(f"file:{folder}")
    create_missing_tables(warehouse)
    lane, newest = Lane(SETTINGS), NewestEvents()
    lane.offer(lane_rows(events))
    outcomes = lane.finish()
    newest.add(outcome_rows(text_id("b", events[0]["broker"]), LANE_REPORT, [rows for rows in outcomes if rows.table == LANE_REPORT]))
    tables = as_tables([rows for rows in outcomes if rows.table != LANE_REPORT], events)
    tables["dispatch_events"] = [event for event in events if event["type"] in LOOKED_AT]
    tables["names"] = names_of(events)
    for name, rows in tables.items():
        if rows:
            append_plain(warehouse, name, rows)
    append_manifest(warehouse, RUN, INGEST, "i", 0, {}, lambda: "")
    read = table_versions(warehouse)
    append_manifest(warehouse, RUN, LANES, "l", 0, {}, lambda: read_whole_entry(read["dispatch_events"], read["lane_control"]), newest.rows)
    return warehouse
