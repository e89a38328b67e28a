"""Whose a warehouse's versions are, by the marks in its tables' logs."""

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.commit_tag import TAG
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES


def operations_without_our_mark(warehouse: Warehouse) -> list[tuple[str, str]]:
    """(table, operation) of every commit in the logs that lacks it."""
    commits = ReadingRoom(warehouse).commits([table.name for table in TABLES], 1000)
    return [(table, commit.operation) for table, found in commits.items() for commit in found if commit.tag != TAG]
