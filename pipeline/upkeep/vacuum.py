"""Removes data files that no version needs any more, and never one that somebody still reads.

How long a removed file is kept is Delta's table property delta.deletedFileRetentionDuration, a week by default. A longer time of ours
would not help: the log forgets after that property's time that a file was removed, and VACUUM then takes it for rubbish.
"""

import re
from datetime import datetime, timedelta

from pipeline.store.files import files_at
from pipeline.store.table_log import committed_at, newest_version_at, opened
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.layout import Warehouse

#: A reader may hold a version for so long: shorter properties are somebody's mistake.
SHORTEST = timedelta(hours=168)
#: Between our look and Delta's own, and between two machines' clocks.
MARGIN = timedelta(hours=1)
_KEPT, _KEPT_BY_DEFAULT = "delta.deletedFileRetentionDuration", timedelta(days=7)
#: Intervals of Delta's properties, as far as people write them.
_INTERVAL = re.compile(r"(?:interval )?(\d+) (week|day|hour|minute|second)s?")


def why_not(warehouse: Warehouse, table: str, needed: int | None, now: datetime) -> str | None:
    """Why a VACUUM of the table could remove files of version `needed` (None: nobody needs an old one); None if it cannot.

    Files of that version that are no longer in the table were removed by a later one. If the first later version is younger than what
    Delta keeps, all of them are kept.
    """
    path = warehouse.table(table)
    kept = _removed_files_kept(path)
    if kept is None or kept < SHORTEST:
        return f"its property delta.deletedFileRetentionDuration is {kept or 'no length of time'}, and must be {SHORTEST} or more"
    if needed is None or needed >= newest_version_at(path):
        return None
    changed = committed_at(path, needed + 1)
    if changed is not None and now - changed < kept - MARGIN:
        return None
    since = "longer ago than its log goes back" if changed is None else changed.isoformat(timespec="seconds")
    return f"version {needed} may still be read (by lanes, or a consistent cut) and was superseded {since}; let `stream` go on first"


def bytes_beside(warehouse: Warehouse, table: str, live_bytes: int) -> int:
    """Length of the data files on disk that are not in the newest version, whose files have `live_bytes`."""
    files, path = files_at(warehouse.root), warehouse.table(table)
    return max(0, files.bytes_below(path) - files.bytes_below(f"{path}/_delta_log") - live_bytes)


def vacuum(warehouse: Warehouse, table: str) -> None:
    """VACUUM the table. Ask `why_not` before."""
    opened(warehouse.table(table)).vacuum(dry_run=False, full=True, commit_properties=tagged())


def removable_files(warehouse: Warehouse, table: str) -> int:
    """How many files a VACUUM would remove now; removes none."""
    return len(opened(warehouse.table(table)).vacuum(full=True))


def _removed_files_kept(path: str) -> timedelta | None:
    """How long files that were taken out of the table are kept, by its property; None: it is none that we understand."""
    kept = opened(path).metadata().configuration.get(_KEPT)
    if kept is None:
        return _KEPT_BY_DEFAULT
    found = _INTERVAL.fullmatch(kept.strip().lower())
    return None if found is None else timedelta(**{f"{found[2]}s": int(found[1])})
