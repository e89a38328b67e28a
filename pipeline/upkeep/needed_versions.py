"""Which old versions of the tables somebody still reads: a VACUUM must leave their files alone."""

from pipeline.query.newest_room import NewestRoom
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import newest_cut
from pipeline.warehouse.offsets import STREAMED, delta_offsets

_FROM_THE_START = 0


def needed_versions(warehouse: Warehouse) -> dict[str, int]:
    """Table → oldest version that somebody may still read, be it in the future; tables that are read at their newest only are not in it.

    A consistent cut reads the versions that the newest whole micro-batches left: of a job that stopped, for as long as it is stopped.
    Lanes read on from the last micro-batch that Spark committed: what was planned after it is read again.
    """
    needed = dict(newest_cut(NewestRoom(warehouse)).versions)
    for table, version in _lanes_read_on_from(warehouse).items():
        needed[table] = min(version, needed[table])
    return needed


def _lanes_read_on_from(warehouse: Warehouse) -> dict[str, int]:
    checkpoint = read_checkpoint(warehouse, "lanes")
    if not checkpoint.planned:
        return {}  # they will begin with the newest version
    entry = offset_entry(warehouse, "lanes", checkpoint.last_committed)
    if entry is None:
        return dict.fromkeys(STREAMED, _FROM_THE_START)
    offsets = delta_offsets(entry)
    return {table: _FROM_THE_START if offset is None else offset.version for table, offset in zip(STREAMED, offsets, strict=True)}
