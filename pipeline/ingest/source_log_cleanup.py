"""What Spark's file source need not remember any more: files that are read, and have left --events for the archive.

Its log in the checkpoint has every file that was ever read, 110 bytes each, and Spark writes all of it anew for every tenth listing that
finds files: 9 MB a day at a file a second. A file that is gone cannot be listed again, so nothing is lost with its line.
"""

from pathlib import Path

from pipeline.ingest.source_log import COMPACTED, finished_until, log_entry, log_folder
from pipeline.store.address import local_path
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse

#: The log is looked at in every thousandth micro-batch: it has grown by as many files at least.
EVERY_BATCHES = 1_000


def forget_gone_files(warehouse: Warehouse, query: str) -> int:
    """Take files that finished micro-batches have read, and that are gone, out of the source's log; returns how many.

    Call it inside a micro-batch of `query`: Spark writes to the log only between two of them. A checkpoint that is not on the local file
    system stays as it is.
    """
    files, log = files_at(warehouse.root), log_folder(warehouse, query)
    folder = local_path(files.absolute(log))
    names = [] if folder is None else [name for name in files.names(log) if name.endswith(COMPACTED) and not name.startswith(".")]
    if folder is None or not names:
        return 0
    newest = folder / max(names, key=lambda name: int(name.removesuffix(COMPACTED)))
    finished = finished_until(warehouse, query)
    version, *lines = newest.read_text("utf-8").splitlines()
    kept = [line for line in lines if not _is_done_with(line, finished)]
    if len(kept) < len(lines):
        _replace(newest, "\n".join([version, *kept]))
    return len(lines) - len(kept)


def _is_done_with(line: str, finished: int) -> bool:
    entry = log_entry(line)
    file = local_path(entry[1]) if entry is not None and entry[0] <= finished else None
    return file is not None and not file.exists()


def _replace(file: Path, text: str) -> None:
    """In one step. Hadoop's checksum of what was there goes first: without one it checks nothing."""
    whole = file.with_name(f".{file.name}.whole")
    whole.write_text(text, "utf-8")
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    whole.replace(file)
