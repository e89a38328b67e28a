"""Which dates of dispatch_events are over: nothing of them is still to come, as far as one can know."""

from datetime import UTC, date, datetime, timedelta

import pyarrow.compute as pc

from pipeline.query.newest_room import NewestRoom
from pipeline.store.arrow_reader import grouped
from pipeline.store.table_log import opened
from pipeline.upkeep.progress import ingest_batch_read
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.guard import loaded_batch
from pipeline.warehouse.layout import Warehouse


def batch_read_for_good(warehouse: Warehouse) -> int | None:
    """Newest micro-batch of ingest whose events lanes will never read again, not even after a crash; None: there is none."""
    look = NewestRoom(warehouse)
    loaded = loaded_batch(look, "lanes")
    committed = read_checkpoint(warehouse, "lanes").last_committed
    entry = offset_entry(warehouse, "lanes", committed) if loaded is None else loaded["source_offsets"]
    return None if entry is None else ingest_batch_read(look, entry)


def first_open_date(warehouse: Warehouse, read_batch: int | None, today: date) -> date | None:
    """All dates before it are closed: every broker's newest event that lanes have read is of this date or a later one. None: none is.

    A broker without events on the newest date and on the one before does not hold dates open: it may never come back. Dates after
    `today` are of a wrong clock and close nothing. A closed date is no promise: what comes late for it is read all the same.
    """
    if read_batch is None:
        return None
    uri = warehouse.table("dispatch_events")
    dates = opened(uri).get_add_actions(flatten=True)["partition.event_date"].to_pylist()
    newest = max((day for day in dates if day <= today), default=None)
    if newest is None:
        return None
    is_recent = (pc.field("event_date") >= newest - timedelta(days=1)) & (pc.field("event_date") <= today)
    is_recent &= pc.field("ingest_batch") <= read_batch
    reached = grouped(uri, "broker_id", "ts", "max", is_recent).values()
    return min((datetime.fromtimestamp(ts / 1e6, UTC).date() for ts in reached), default=None)
