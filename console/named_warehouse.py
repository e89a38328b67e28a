"""The warehouse that a command names, and the reading room of it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pipeline.faults import BadConfig
from pipeline.store.address import why_no_warehouse

if TYPE_CHECKING:
    from pipeline.query.room import ReadingRoom
    from pipeline.warehouse.layout import Warehouse


def refuse_address(uri: str) -> None:
    """Raise BadConfig where no warehouse can be. Standard library only (console/needs.py)."""
    reason = why_no_warehouse(uri)
    if reason is not None:
        raise BadConfig(f"--warehouse {reason}")


def named_warehouse(uri: str) -> "Warehouse":
    """The warehouse with scheme and absolute path, as it must stand in checkpoints and messages. Raises BadConfig where none can be."""
    refuse_address(uri)
    from pipeline.store.files import files_at
    from pipeline.warehouse.layout import Warehouse

    return Warehouse(files_at(uri).absolute(uri))


def existing_warehouse(uri: str, tables: Iterable[str] = ()) -> "Warehouse":
    """The warehouse at `uri`. Raises BadWarehouse with the command that helps where none is, or one of `tables` is not in it."""
    from pipeline.store.files import files_at
    from pipeline.warehouse.answerable import refuse_missing

    warehouse = named_warehouse(uri)
    refuse_missing(warehouse, files_at(warehouse.root), tables)
    return warehouse


def look_at(uri: str, tables: Iterable[str] = (), *, consistent: bool = False, most_memory: str | None = None) -> "ReadingRoom":
    """The room of an existing warehouse.

    `consistent`: all tables as the newest whole micro-batches left them; `most_memory`: what DuckDB may hold. Raises BadWarehouse as
    `existing_warehouse` does.
    """
    from pipeline.query.room import ReadingRoom

    return ReadingRoom(existing_warehouse(uri, tables), consistent=consistent, most_memory=most_memory)


def look_at_causes(uri: str) -> "ReadingRoom":
    """The room for those who answer about subscriptions: all tables at one consistent cut.

    Raises BadWarehouse as `look_at` does, and where the first micro-batch is half written: half of it is no answer.
    """
    from pipeline.warehouse.answerable import OF_CAUSES, refuse_half_written

    look = look_at(uri, OF_CAUSES, consistent=True)
    refuse_half_written(look, look.cut)
    look.fetch_small()
    return look
