"""Small files of ours that nobody reads again."""

from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import Checkpoint


def old_listings(files: SmallFiles, warehouse: Warehouse, ingest: Checkpoint) -> list[str]:
    """URIs of the notes of what micro-batches of ingest were about to read (pipeline/ingest/first_listing.py), of those that are committed.

    Each is deleted by the next micro-batch, unless that one reads no files.
    """
    folder = f"{warehouse.checkpoint('ingest')}/listed"
    if ingest.last_committed is None:
        return []
    return [f"{folder}/{name}" for name in files.names(folder) if name.isdigit() and int(name) <= ingest.last_committed]
