"""What lies in a collector's folder: files that are finished. They never change, so a name and a length say which bytes are meant."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
#: The collector writes `_unfinished-…` and renames it; Spark ignores the same names.
_HIDDEN = ("_", ".")


@dataclass(frozen=True)
class LogFile:
    """A file: `name` below the folder, its length in bytes, and when it was finished."""

    name: str
    bytes: int
    changed_ns: int


def to_ship(folder: Path, shipped: Mapping[str, int]) -> list[LogFile]:
    """Files that `shipped` (name → bytes) lacks, or has with another length; the oldest first. Raises OSError."""
    found = [file for file in _log_files(folder) if shipped.get(file.name) != file.bytes]
    return sorted(found, key=lambda file: (file.changed_ns, file.name))


def _log_files(folder: Path) -> list[LogFile]:
    found = []
    for parent, folders, names in os.walk(folder, onerror=_fail):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        for name in names:
            if name.startswith(_HIDDEN) or not name.endswith(SUFFIXES):
                continue
            path = Path(parent, name)
            try:
                facts = path.stat()
            except FileNotFoundError:
                continue  # the collector deletes its oldest files (keep_mb); lost events show as gaps
            found.append(LogFile(str(path.relative_to(folder)), facts.st_size, facts.st_mtime_ns))
    return found


def _fail(fault: OSError) -> None:
    raise fault
