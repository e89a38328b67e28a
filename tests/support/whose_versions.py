"""Whose a warehouse's versions are, by the marks in its tables' logs."""

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.commit_tag import TAG
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES


def operations_without_our_mark(warehouse: Warehouse) -> list[tuple[str, str]]:
    """(table, operation) of every commit in the logs that lacks it."""
    room = ReadingRoom(warehouse)
    return [(table.name, commit.operation) for table in TABLES for commit in room.commits(table.name) if commit.tag != TAG]
