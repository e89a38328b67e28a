"""Few large files instead of many small ones, where there is something to gain.

Files are rewritten and no row is changed: appends go on beside it, and lanes, who stream from dispatch_events, skip what it wrote.
Rows of a file stay beside each other: no view of ours filters dispatch_events by anything but dates, which are folders already.

By delta-rs: Spark opens a file in some milliseconds, one after the other, delta-rs in a tenth of that.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import date

from deltalake import WriterProperties

from pipeline.query.newest_room import NewestRoom
from pipeline.settings import MaintainSettings
from pipeline.store.table_log import opened
from pipeline.warehouse.checkpoint import read_checkpoint
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.guard import loaded_batch
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

#: One small file alone cannot be merged with anything.
_PAIR = 2
#: As ingest writes bronze: readers skip by row groups, and share them among their threads.
_WRITTEN = WriterProperties(compression="ZSTD", compression_level=1, max_row_group_size=131_072)
#: What delta-rs rewrites at the same time: each holds a row group of a table.
_AT_ONCE = 2


@dataclass(frozen=True)
class Merge:
    """Small files of a table that are worth merging; of a partitioned table those of `dates`."""

    table: str
    small_files: int
    dates: tuple[date, ...] = ()


def planned_merge(warehouse: Warehouse, table: str, settings: MaintainSettings, open_date: date | None) -> Merge | None:
    """What there is to merge in the table now; None: not enough to be worth it.

    A date of dispatch_events is merged once it is closed (before `open_date`; None: no date is), every other table when it has
    `merge_from_files` small files.
    """
    small = _small_files(warehouse.table(table), settings.small_file_bytes)
    if not TABLES_BY_NAME[table].partition_by:
        count = small.total()
        return Merge(table, count) if count >= settings.merge_from_files else None
    if open_date is None or not _lanes_have_begun(warehouse):
        return None
    dates = sorted(day for day, count in small.items() if day is not None and day < open_date and count >= _PAIR)
    return Merge(table, sum(small[day] for day in dates), tuple(dates)) if dates else None


def _lanes_have_begun(warehouse: Warehouse) -> bool:
    """Before that they would meet merged files in no order, and take disorder for loss. Of a warehouse that was loaded they have ended."""
    return bool(read_checkpoint(warehouse, "lanes").planned) or loaded_batch(NewestRoom(warehouse), "lanes") is not None


def _small_files(uri: str, below_bytes: int) -> Counter[date | None]:
    """How many files of the table are smaller, per `event_date`; of a table without that partition all of them under None."""
    log = opened(uri).get_add_actions(flatten=True)
    sizes = log["size_bytes"].to_pylist()
    dates = log["partition.event_date"].to_pylist() if "partition.event_date" in log.schema.names else [None] * len(sizes)
    return Counter(day for day, size in zip(dates, sizes, strict=True) if size < below_bytes)


def merge(warehouse: Warehouse, planned: Merge, settings: MaintainSettings) -> tuple[int, int]:
    """Merge what was planned; files removed and added.

    Delta-rs merges a file below `merged_file_bytes` with small ones although it is not small itself.
    """
    uri = warehouse.table(planned.table)
    of_dates = [("event_date", "in", [day.isoformat() for day in planned.dates])] if planned.dates else None
    metrics = opened(uri).optimize.compact(
        of_dates, settings.merged_file_bytes, _AT_ONCE, writer_properties=_WRITTEN, commit_properties=tagged()
    )
    return metrics["numFilesRemoved"], metrics["numFilesAdded"]
