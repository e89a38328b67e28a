"""Old entries of the tables' logs, removed while lanes run, where the warehouse is on the local file system.

Whoever opens a table there lists its whole log, and an append lists the log several times. With 5,000 entries an append of some rows takes
three times the processor's time of one with none, with 50,000 entries twenty times: a live job makes so many in days. Delta itself
removes entries after thirty days. On other file systems Delta asks for a part of the list, and this module does nothing.
"""

import os
import re
from collections import deque
from pathlib import Path

from pipeline.store.address import local_path
from pipeline.warehouse.cut import LOOKED_AT, Batch
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import STREAMED, delta_offsets
from schemas.tables import JOB_TABLES

#: A look at all logs costs about as much as a commit; Delta makes a checkpoint as often.
EVERY_MICRO_BATCHES = 50
#: A warehouse of a version before this may have a hundred thousand entries: no micro-batch waits until all are gone.
MOST_AT_ONCE = 5_000
#: What may go: a commit, the checkpoint of a version, and checksums beside them.
_ENTRY = re.compile(r"\.?(\d{20})\.(?:json|checkpoint\.parquet|crc)(?:\.crc)?")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\.parquet")


class LogCleanup:
    """Removes what nobody reads again, after every fiftieth micro-batch of one run of lanes.

    Of each table these versions stay readable: the newest `keep_versions`, those that lanes have still to read, and those of the newest
    consistent cut. A cut looks back LOOKED_AT micro-batches at most, so nothing goes before so many were seen.
    """

    def __init__(self, warehouse: Warehouse, keep_versions: int) -> None:
        self._folders = {table.name: folder for table in JOB_TABLES if (folder := local_path(warehouse.table(table.name)))}
        self._keep_versions = keep_versions
        self._seen: deque[Batch] = deque(maxlen=LOOKED_AT)
        self._since = 0

    def after(self, batch: Batch) -> None:
        """A micro-batch of lanes is whole; its manifest is written."""
        self._seen.append(batch)
        self._since += 1
        if len(self._seen) < LOOKED_AT or self._since < EVERY_MICRO_BATCHES:
            return
        self._since = 0
        for table, needed in needed_by(self._seen[0]).items():
            newest = int(batch.table_versions[table])
            if table in self._folders:
                remove_before(self._folders[table], min(needed, newest - self._keep_versions))


def needed_by(batch: Batch) -> dict[str, int]:
    """Oldest version of each table that a cut at this micro-batch of lanes reads, or that lanes read after it."""
    needed = {table: int(version) for table, version in batch.table_versions.items()}
    for table, offset in zip(STREAMED, delta_offsets(batch.source_offsets), strict=True):
        needed[table] = min(needed[table], -1 if offset is None else offset.whole)
    return needed


def remove_before(folder: Path | str, version: int) -> int:
    """Remove the entries that neither `version` nor a later one needs, the oldest first, MOST_AT_ONCE at most; returns how many.

    A version is read from the newest checkpoint before it on. So everything before that checkpoint goes.
    """
    log = Path(folder, "_delta_log")
    names = os.listdir(log)
    checkpoints = [int(found[1]) for name in names if (found := _CHECKPOINT.fullmatch(name))]
    first = max((checkpoint for checkpoint in checkpoints if checkpoint <= version), default=0)
    old = sorted((int(found[1]), name) for name in names if (found := _ENTRY.fullmatch(name)) and int(found[1]) < first)[:MOST_AT_ONCE]
    for _, name in old:
        (log / name).unlink(missing_ok=True)  # Delta's own cleanup may be quicker
    return len(old)
