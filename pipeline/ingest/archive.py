"""Files that are read leave the folder of the log, if `ingest.archive_folder` is set: Spark lists all that lie there in each micro-batch.

A file costs 0.05 ms of each listing. Spark's own `cleanSource` would also take files that are not wanted, half-written ones among them.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from pipeline.faults import BadConfig
from pipeline.sources.jsonl_files import JsonlFiles
from pipeline.sources.listed_files import files_in
from pipeline.sources.listing import ListedFile
from pipeline.sources.parquet_files import ParquetFiles
from pipeline.sources.source import Source
from pipeline.store.address import local_path

#: Takes the listing that was kept of a micro-batch which Spark has committed.
Archive = Callable[[str], None]
_NAMES = ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet")


def archive_of(source: Source, folder: Path | None) -> Archive | None:
    """What moves files of `source` into `folder` once they are read; None without a folder.

    Raises BadConfig if the source has no local files, or if it would read the folder's files as new ones.
    """
    if folder is None:
        return None
    if not isinstance(source, JsonlFiles | ParquetFiles) or not source.place.local:
        raise BadConfig("ingest.archive_folder: --events has no files on the local file system; leave the setting out")
    folder = folder.absolute()
    if any(re.match(source.place.wanted, f"file:{folder}/{name}") for name in _NAMES):
        raise BadConfig(f"ingest.archive_folder {folder} lies in --events: its files would be read again; name a folder elsewhere")

    def archive(listing: str) -> None:
        for file in files_in(listing):
            if not file.is_open:
                _move(file, folder)

    return archive


def _move(listed: ListedFile, folder: Path) -> None:
    """To its whole path below `folder`. A file that has grown stays: it is reported (ingest_files, fault 'grew')."""
    file = Path(str(local_path(listed.path)))
    if not file.exists() or file.stat().st_size != listed.length:
        return
    target = folder / file.relative_to("/")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, target)
    except OSError as fault:
        raise BadConfig(f"ingest.archive_folder: {file} could not be moved to {target}: {fault}") from fault
