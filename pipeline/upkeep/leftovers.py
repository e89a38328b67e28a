"""Small files of ours that nobody reads again."""

import json

from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import Checkpoint


def old_listings(files: SmallFiles, warehouse: Warehouse, ingest: Checkpoint) -> list[str]:
    """URIs of the notes of what micro-batches of ingest were about to read (pipeline/ingest/first_listing.py), of those that are committed.

    Each is deleted by the next micro-batch that reads files. The newest one stays if it says how far open files were read.
    """
    folder = f"{warehouse.checkpoint('ingest')}/listed"
    if ingest.last_committed is None:
        return []
    numbers = sorted(int(name) for name in files.names(folder) if name.isdigit())
    needed = numbers[-1:] if numbers and _has_open_files(files.read(f"{folder}/{numbers[-1]}")) else []
    return [f"{folder}/{number}" for number in numbers if number <= ingest.last_committed and number not in needed]


def _has_open_files(listing: str | None) -> bool:
    return listing is not None and isinstance(json.loads(listing), dict)
