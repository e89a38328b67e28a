"""Small files of ours that nobody reads again."""

from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import Checkpoint


def old_listings(files: SmallFiles, warehouse: Warehouse, ingest: Checkpoint) -> list[str]:
    """URIs of the notes of what micro-batches of ingest were about to read (pipeline/ingest/first_listing.py), of those that are committed.

    Each is deleted by the next micro-batch that reads files. The newest one stays: it says how far open files were read.
    """
    folder = f"{warehouse.checkpoint('ingest')}/listed"
    if ingest.last_committed is None:
        return []
    numbers = sorted(int(name) for name in files.names(folder) if name.isdigit())
    return [f"{folder}/{number}" for number in numbers[:-1] if number <= ingest.last_committed]
