"""Runs the real job in the test session and reads what it wrote, in the form of the pure lane's tables."""

import gzip
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lane_tables import OUTCOME_TABLES, Table
from pyspark.sql import SparkSession

from jobs.stream import run_stream
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse

EPOCH_DAY = date(1970, 1, 1)


def run_job(events: str | Path, warehouse: Warehouse, *, drain: bool = True, **settings: str) -> None:
    """`stream --once [--drain]`, with `lanes__lateness_ms="…"` for `--set lanes.lateness_ms=…`; fails unless it ends with 0."""
    overrides = [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]
    code = run_stream(str(events), warehouse.root, load_settings(None, overrides, {}), once=True, drain=drain)
    assert code == 0


def tables_in(spark: SparkSession, warehouse: Warehouse) -> dict[str, Table]:
    """The outcome tables as sorted rows; timestamps as µs, dates as days, as the pure lane gives them."""
    tables = {}
    for name in OUTCOME_TABLES:
        rows = [row.asDict() for row in spark.read.format("delta").load(warehouse.table(name)).collect()]
        table = [{column: _plain(value) for column, value in row.items()} for row in rows]
        table.sort(key=lambda row: [(value is None, str(type(value)), value) if value is not None else (True, "", 0) for value in row.values()])
        tables[name] = table
    return tables


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        # collect() gives naive datetimes of this process's local zone
        delta = value.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    if isinstance(value, date):
        return (value - EPOCH_DAY).days
    return value


def capture_events(capture: Path, *, until_as_of: bool = True) -> list[dict[str, Any]]:
    """Events of a capture, by default only those that the broker's figures include."""
    as_of_us = json.loads((capture / "manifest.json").read_text())["as_of_us"]
    with gzip.open(capture / "events.jsonl.gz", "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    return [event for event in events if event["ts"] <= as_of_us] if until_as_of else events


def write_events(events: list[dict[str, Any]], path: Path) -> Path:
    """Events as a .jsonl or .jsonl.gz file, written aside and renamed in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n" for event in events).encode()
    aside = path.with_name(f".{path.name}.writing")
    aside.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return aside.rename(path)
