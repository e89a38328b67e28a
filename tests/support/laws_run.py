"""Laws of the quality job asked of a warehouse: of its newest consistent cut."""

from collections.abc import Iterable
from typing import Any

from pipeline.query.room import ReadingRoom
from pipeline.upkeep.quality.laws import NAMES, Law
from pipeline.warehouse.layout import Warehouse


def broken_laws(warehouse: Warehouse, names: Iterable[str] = NAMES) -> dict[str, Any]:
    """Law → a row that breaks it."""
    room = ReadingRoom(warehouse, consistent=True)
    rows = {name: room.rows(Law(name).sql) for name in names}
    return {name: broken[0] for name, broken in rows.items() if broken}
