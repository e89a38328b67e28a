"""Invariants of the quality job asked of a warehouse: of its newest consistent cut."""

from collections.abc import Iterable
from typing import Any

from pipeline.query.room import ReadingRoom
from pipeline.upkeep.quality.invariants import NAMES, Invariant
from pipeline.warehouse.layout import Warehouse


def broken_invariants(warehouse: Warehouse, names: Iterable[str] = NAMES) -> dict[str, Any]:
    """Invariant → a row that breaks it."""
    room = ReadingRoom(warehouse, consistent=True)
    rows = {name: room.rows(Invariant(name).sql) for name in names}
    return {name: broken[0] for name, broken in rows.items() if broken}
