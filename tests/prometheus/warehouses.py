"""The incident loaded up to several instants, and what no capture has: a stuck dispatcher, a lag, a line that is no event."""

from datetime import timedelta
from pathlib import Path

from broker_scrapes import ALWAYS
from capture_events import write_events
from loaded import load_into

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

Y_INCIDENT = next(scrape for scrape in ALWAYS if scrape.name == "y_incident")


def until(folder: Path, before_s: int) -> Warehouse:
    """Until so many seconds before the broker's figures were taken, with one line that is no event."""
    last_us = Y_INCIDENT.manifest["as_of_us"] - before_s * 1_000_000
    log = write_events([event for event in Y_INCIDENT.events() if event["ts"] <= last_us], folder / "log" / "events.jsonl.gz").parent
    (log / "other.jsonl").write_text("no event\n", encoding="utf-8")
    return load_into(log, folder / "w")


def with_what_no_capture_has(warehouse: Warehouse) -> Warehouse:
    """The same with a dispatcher that stands still, and with a micro-batch that `stream` has recorded."""
    room = ReadingRoom(warehouse)
    (held,) = room.rows(
        "SELECT c.* FROM subscription_causes c JOIN newest_windows n ON n.window_start = c.window_start"
        " WHERE c.subscription = 'desk' AND c.cause = 'no_consumer'"
    )
    stuck = {**held, "cause": "stuck", "ns": 6_000_000_000, "entry_us": 0, "is_main": False}
    append_rows(warehouse, TABLES_BY_NAME["subscription_causes"], [stuck])
    (manifest,) = room.rows("SELECT * FROM batch_manifest WHERE query = 'lanes'")
    versions = {**dict(manifest["table_versions"]), "subscription_causes": str(ReadingRoom(warehouse).version("subscription_causes"))}
    append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [{**manifest, "batch_id": 1, "table_versions": versions}])
    fields = {field.name: 0 if field.type == "long" else None for field in TABLES_BY_NAME["query_progress"].fields}
    ended = {"began_at": held["window_start"], "ended_at": held["window_start"] + timedelta(seconds=2), "event_lag_ms": 2_400}
    recorded = {**fields, "run_id": "r", "query": "lanes", "query_id": "q", **ended}
    append_rows(warehouse, TABLES_BY_NAME["query_progress"], [recorded])
    return warehouse
