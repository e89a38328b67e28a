"""A small warehouse of two days, made without Spark."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables import TABLES_BY_NAME

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
NOTHING = {"string": "", "long": 0, "int": 0, "boolean": False, "double": 1.0, "timestamp": NOON, "date": date(2026, 1, 5)}


def append(warehouse: Warehouse, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """One commit; a column that a row does not name is null, or nothing."""
    declared = TABLES_BY_NAME[table]
    known = {field.name: None if field.nullable else NOTHING.get(field.type) for field in declared.fields}
    append_rows(warehouse, declared, [{**known, **row} for row in rows])


def event(seq: int, day: int = 5) -> dict[str, Any]:
    """A heartbeat of b1 on a day of January."""
    return {"broker": "b1:8080", "epoch": 1, "seq": seq, "v": 1, "type": "heartbeat", "event_date": date(2026, 1, day), "ingest_batch": seq}


@pytest.fixture(scope="session")
def _two_days_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `two_days` is copied from."""
    folder = tmp_path_factory.mktemp("two_days")
    warehouse = Warehouse(f"file:{folder}")
    create_missing_tables(warehouse)
    append(warehouse, "dispatch_events", [event(1), event(2)])
    append(warehouse, "dispatch_events", [event(3, day=6)])
    append(warehouse, "names", [{"id": 1, "level": "broker", "broker": "b1:8080"}])
    return folder


@pytest.fixture
def two_days(tmp_path: Path, _two_days_once: Path) -> Warehouse:
    """Events 1 and 2 of one day, 3 of the next; the path has a space and a quote."""
    folder = tmp_path / "it's a warehouse"
    shutil.copytree(_two_days_once, folder)
    return Warehouse(f"file:{folder}")


@pytest.fixture
def room(two_days: Warehouse) -> ReadingRoom:
    """Over the two days."""
    return ReadingRoom(two_days)
