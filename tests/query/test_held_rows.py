"""Rows that a room holds of tables of many small files: those of the files, whatever becomes of the table, and no old file is opened."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.query.room import ReadingRoom
from pipeline.store.open_tables import forget_table
from pipeline.store.table_log import opened
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables.bookkeeping import NAMES

ASKED = "SELECT * FROM names ORDER BY id"
MOST = 60


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """Without a row."""
    made = Warehouse(f"file:{tmp_path / 'warehouse'}")
    create_missing_tables(made)
    return made


def append(warehouse: Warehouse, *ids: int) -> None:
    rows = [{"id": number, "level": "broker", "broker": f"b{number}", "topic": None, "subscription": None} for number in ids]
    append_rows(warehouse, NAMES, rows)


def as_read(warehouse: Warehouse) -> list[dict[str, Any]]:
    return ReadingRoom(warehouse).rows(ASKED)


def test_they_are_those_of_the_files_whatever_becomes_of_the_table(warehouse: Warehouse) -> None:
    room, uri = ReadingRoom(warehouse, most_held_rows=MOST), warehouse.table(NAMES.name)
    for step in range(40):
        append(warehouse, 2 * step, 2 * step + 1)
        if step == 12:
            opened(uri).optimize.compact()
        if step in (15, 35):
            opened(uri).delete(f"id < {step}")
        forget_table(uri)
        room.refresh()
        found = room.rows(ASKED)
        assert found == as_read(warehouse)
        assert found[-1]["broker"] == f"b{2 * step + 1}"


def test_old_files_are_not_opened_again(warehouse: Warehouse) -> None:
    for number in range(10):
        append(warehouse, number)
    room = ReadingRoom(warehouse, most_held_rows=MOST)
    assert len(room.rows(ASKED)) == 10
    for file in Path(warehouse.table(NAMES.name).removeprefix("file:")).glob("*.parquet"):
        file.unlink()
    append(warehouse, 10)
    assert room.refresh() == [NAMES.name]
    assert [row["id"] for row in room.rows(ASKED)] == [*range(11)]
