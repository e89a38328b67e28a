"""Copies on this machine of files that lie elsewhere and never change: data files of tables, which DuckDB then reads as its own.

A request to a store takes some ten milliseconds; a file that is here takes none. What nobody has asked for longest goes first, where the
copies of all warehouses together are too many.
"""

import hashlib
import os
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pipeline.faults import BadWarehouse
from pipeline.store.copies import fetch

#: Files that are fetched at the same time.
AT_ONCE = 16
#: What copies may take on this machine's disk.
MOST_BYTES = 8 << 30


class Mirror:
    """Copies of the files below a folder of an object store or of HDFS."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        #: Where the copies are: below it each has the path that it has below the folder elsewhere.
        self.folder = _cache() / hashlib.sha256(uri.encode()).hexdigest()[:16]
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        #: Copies that questions need until `forget`: path → bytes.
        self._needed: dict[str, int] = {}

    def fetch(self, files: Sequence[tuple[str, int]]) -> None:
        """Have copies of the files: (path below the folder, bytes).

        Raises BadWarehouse where they are more than copies may be, or where one is not there (any more).
        """
        self._needed |= dict(files)
        wanted = sum(self._needed.values())
        if wanted > MOST_BYTES:
            raise BadWarehouse(
                f"the question needs {wanted / 1e9:.1f} GB of {self._uri}, and copies may take {MOST_BYTES / 1e9:.1f} GB here: "
                "ask for fewer tables (--tables), dates or brokers, or ask in a session of Spark (docs/guide/cookbook.md)"
            )
        missing = [path for path, size in files if not self._has(path, size)]
        if missing:
            _make_room(_cache(), MOST_BYTES - wanted, {self.folder / path for path in self._needed})
            with ThreadPoolExecutor(AT_ONCE) as threads:
                list(threads.map(self._fetch, missing))

    def forget(self, folders: Collection[str]) -> None:
        """No question needs the copies in these folders any more: they may give way to others."""
        self._needed = {path: size for path, size in self._needed.items() if path.partition("/")[0] not in folders}

    def _has(self, path: str, size: int) -> bool:
        copy = self.folder / path
        try:
            if copy.stat().st_size != size:
                return False
            os.utime(copy)
        except FileNotFoundError:
            return False
        return True

    def _fetch(self, path: str) -> None:
        copy = self.folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        # It appears whole: another process may be about to read it.
        partial = copy.with_name(f".{copy.name}.{os.getpid()}-{threading.get_ident()}")
        try:
            fetch(f"{self._uri}/{path}", partial)
        except FileNotFoundError as gone:
            raise BadWarehouse(f"{path} of {self._uri} is gone while it was read (`maintain`, `rebuild`?): ask again") from gone
        partial.rename(copy)


def _cache() -> Path:
    """Where all copies are."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dispatch-analytics" / "mirror"


def _make_room(folder: Path, most_bytes: int, kept: Collection[Path]) -> None:
    """Remove the copies that were not used for longest until they have `most_bytes`; none of `kept`."""
    found = [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]
    copies = []
    for copy in found:
        try:
            about = copy.stat()
        except FileNotFoundError:  # another process makes room, too
            continue
        copies.append((about.st_mtime_ns, about.st_size, copy))
    total = sum(size for _, size, _ in copies)
    for _, size, copy in sorted(copies):
        if total <= most_bytes:
            return
        if copy not in kept:
            copy.unlink(missing_ok=True)
            total -= size
