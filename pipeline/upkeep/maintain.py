"""One round of upkeep: per table old rows deleted, small files merged, files that nobody needs removed. Runs beside a stream.

In this order: what is deleted need not be merged. What this round takes out of the tables is removed from disk by a round a week later.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pipeline.query.newest_room import NewestRoom
from pipeline.settings import MaintainSettings
from pipeline.store.files import files_at
from pipeline.upkeep.closed_dates import batch_read_for_good, first_open_date
from pipeline.upkeep.compact import merge, planned_merge
from pipeline.upkeep.leftovers import old_listings
from pipeline.upkeep.needed_versions import needed_versions
from pipeline.upkeep.retention import delete_before, oldest_kept, rows_before
from pipeline.upkeep.vacuum import bytes_beside, removable_files, vacuum, why_not
from pipeline.warehouse.checkpoint import read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.look import TableFacts

Document = dict[str, Any]


@dataclass(frozen=True)
class Round:
    """What one round goes by. `now` has a zone; without `changes` it is a dry run, which only shows what would be done."""

    warehouse: Warehouse
    settings: MaintainSettings
    now: datetime
    changes: bool
    open_date: date | None
    read_batch: int | None
    needed: dict[str, int]


def maintain(
    warehouse: Warehouse,
    settings: MaintainSettings,
    tables: Sequence[str],
    now: datetime,
    *,
    changes: bool,
    before_each: Callable[[str], None],
) -> Document:
    """Look after `tables`; `before_each` is called with a table's name before anything of it is touched, and may raise to end the round.

    Returns what was done (docs/reference/json.md has the keys), of a dry run what would be.
    """
    read_batch = batch_read_for_good(warehouse)
    open_date = first_open_date(warehouse, read_batch, now.date())
    this = Round(warehouse, settings, now, changes, open_date, read_batch, needed_versions(warehouse))
    facts = {fact.name: fact for fact in NewestRoom(warehouse).facts(settings.small_file_bytes)}
    done: dict[str, Document] = {}
    for table in tables:
        before_each(table)
        done[table] = _look_after(this, table, facts[table])
    listings = old_listings(files_at(warehouse.root), warehouse, read_checkpoint(warehouse, "ingest"))
    if changes:
        for uri in listings:
            files_at(warehouse.root).delete(uri)
    return {
        "warehouse": warehouse.root,
        "at": now,
        "dry_run": not changes,
        "first_open_date": open_date,
        "tables": done,
        "leftovers": len(listings),
    }


def _look_after(this: Round, table: str, before: TableFacts) -> Document:
    deleted = _delete_old(this, table)
    merged = _merge(this, table)
    removed = _vacuum(this, table, before.bytes)
    files = {"files": before.files, "small_files": before.small_files, "bytes": before.bytes}
    return {**files, **deleted, **merged, **removed}


def _delete_old(this: Round, table: str) -> Document:
    days = this.settings.days_kept.get(table)
    first_kept = None if days is None else oldest_kept(days, this.now.date(), this.open_date)
    if first_kept is None:
        return {"deleted_rows": 0, "first_kept": None}
    act = delete_before if this.changes else rows_before
    return {"deleted_rows": act(this.warehouse, table, first_kept, this.read_batch), "first_kept": first_kept}


def _merge(this: Round, table: str) -> Document:
    planned = planned_merge(this.warehouse, table, this.settings, this.open_date)
    if planned is None:
        return {"merged_files": 0, "into_files": 0, "merged_dates": []}
    removed, added = merge(this.warehouse, planned, this.settings) if this.changes else (planned.small_files, None)
    return {"merged_files": removed, "into_files": added, "merged_dates": list(planned.dates)}


def _vacuum(this: Round, table: str, live_bytes: int) -> Document:
    beside = bytes_beside(this.warehouse, table, live_bytes)
    refused = why_not(this.warehouse, table, this.needed.get(table), this.now) if beside else None
    if not beside or refused is not None:
        return {"removed_files": 0, "removed_bytes": 0, "not_removed_because": refused}
    removable = removable_files(this.warehouse, table)
    if not this.changes or not removable:
        return {"removed_files": removable, "removed_bytes": 0, "not_removed_because": None}
    vacuum(this.warehouse, table)
    freed = beside - bytes_beside(this.warehouse, table, live_bytes)
    return {"removed_files": removable, "removed_bytes": max(0, freed), "not_removed_because": None}
