"""The view `newest_events` over a warehouse of an earlier version, whose micro-batches did not tell. No Spark. More: test_held_now.py."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from lane_rows import text_id
from views.conftest import EPOCH, THREE, write

from pipeline.query.delta_table import declared_columns
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables, make_report_table
from schemas.tables import TABLES
from schemas.tables.bookkeeping import BATCH_MANIFEST

MINUTE = timedelta(minutes=1)
QUERY = "SELECT broker, epoch, as_of, window_as_of FROM newest_events ORDER BY broker"
BEFORE = replace(BATCH_MANIFEST, fields=tuple(field for field in BATCH_MANIFEST.fields if field.name != "newest_events"))
VALUES: dict[str, Any] = {"string": "", "long": 0, "map<string,string>": {"names": "1"}, "timestamp": THREE}


@pytest.fixture
def old(tmp_path: Path) -> Warehouse:
    """Of an earlier version: a micro-batch of lanes, and a finished window of b1 and of b2, which has started again since."""
    warehouse = Warehouse(f"file:{tmp_path / 'w'}")
    make_report_table(warehouse, BEFORE)
    append_rows(warehouse, BEFORE, [{**{field.name: VALUES[field.type] for field in BEFORE.fields}, "query": "lanes"}])
    window = {"window_start": THREE, "window_end": THREE + MINUTE, "log_until": THREE + MINUTE, "clock_segment": 0, "events": 9}
    names = [{"id": text_id("b", broker), "level": "broker", "broker": broker} for broker in ("b1:8080", "b2:8080")]
    create_others(warehouse)
    write(warehouse, "broker_windows", [window, {**window, "broker": "b2:8080"}])
    write(warehouse, "names", names)
    write(warehouse, "dispatch_events", [{"broker": "b2:8080", "epoch": EPOCH + 1, "seq": 1, "type": "broker_start", "cluster": "c"}])
    return warehouse


def create_others(warehouse: Warehouse) -> None:
    """All tables but batch_manifest, which stays as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.warehouse.tables.TABLES", [table for table in TABLES if table is not BATCH_MANIFEST])
        create_missing_tables(warehouse)


def test_the_newest_window_stands_for_the_newest_event_until_a_micro_batch_tells(old: Warehouse) -> None:
    of_window = {"broker": "b1:8080", "epoch": EPOCH, "as_of": THREE + MINUTE, "window_as_of": THREE + MINUTE}
    assert ReadingRoom(old).rows(QUERY) == [of_window], "nothing is known of b2 since it started again"
    create_missing_tables(old)
    assert ReadingRoom(old).rows(QUERY) == [of_window]
    newest = [
        {"broker_id": text_id("b", "b1:8080"), "epoch": EPOCH, "at": THREE + 2 * MINUTE},
        {"broker_id": text_id("b", "b2:8080"), "epoch": EPOCH + 1, "at": THREE + 3 * MINUTE},
    ]
    write(old, "batch_manifest", [{"query": "lanes", "batch_id": 1, "table_versions": {"names": "1"}, "newest_events": newest}])
    assert ReadingRoom(old).rows(QUERY) == [
        {**of_window, "as_of": THREE + 2 * MINUTE},
        {"broker": "b2:8080", "epoch": EPOCH + 1, "as_of": THREE + 3 * MINUTE, "window_as_of": None},
    ]


def test_a_column_that_a_table_lacks_has_its_declared_type() -> None:
    assert declared_columns([BATCH_MANIFEST.field("newest_events")]) == [
        ("newest_events", 'STRUCT("broker_id" BIGINT, "epoch" BIGINT, "at" TIMESTAMPTZ)[]')
    ]
