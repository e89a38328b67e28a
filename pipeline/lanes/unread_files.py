"""Whether every event that lanes have still to read is in a packet, by the names of the files in the log of dispatch_events.

A query that reads packets alone opens each file once and reads two columns, so it is planned like this where it can be. Then no other
file may come: ingest writes packets, and whoever else appends to dispatch_events needs the lock that the running job holds.
"""

import json
from collections.abc import Iterator

from pipeline.faults import BadWarehouse
from pipeline.lanes.packets.files import is_packed
from pipeline.store.table_log import commit_text, newest_version_at, opened
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import delta_offsets

_TABLE = "dispatch_events"


class PackedFiles:
    """The log of dispatch_events at `uri`, looked through up to and with version `checked`."""

    def __init__(self, uri: str, checked: int) -> None:
        self._uri = uri
        self.checked = checked

    def first_other(self) -> str | None:
        """Look through the versions that came since; returns a file that was appended without packets, or None."""
        while (commit := commit_text(self._uri, self.checked + 1)) is not None:
            other = next((path for path in _appended(commit) if not is_packed(path)), None)
            if other is not None:
                return other
            self.checked += 1
        return None

    def check(self) -> None:
        """Raise BadWarehouse if a file without packets was appended: the running query would not read its events."""
        other = self.first_other()
        if other is not None:
            raise BadWarehouse(
                f"dispatch_events: version {self.checked + 1} appended {other}, which ingest did not write. "
                "Lanes read it after a new start: start `stream` again"
            )


def unread_packed(warehouse: Warehouse, query: str, *, after_rebuild: bool) -> PackedFiles | None:
    """The log of dispatch_events, if every event that `query` has still to read is in a packet; None: rows must be read, too."""
    uri = warehouse.table(_TABLE)
    if after_rebuild:
        table = opened(uri)
        return PackedFiles(uri, table.version()) if all(map(is_packed, table.file_uris())) else None
    first = _first_unread(warehouse, query)
    if first is None or not (first == newest_version_at(uri) + 1 or commit_text(uri, first) is not None):
        return None
    files = PackedFiles(uri, first - 1)
    return files if files.first_other() is None else None


def _first_unread(warehouse: Warehouse, query: str) -> int | None:
    """Version of dispatch_events from which the query goes on; None: it reads a table as it stood once."""
    committed = read_checkpoint(warehouse, query).last_committed
    entry = offset_entry(warehouse, query, committed)
    offset = None if entry is None else delta_offsets(entry)[0]
    if offset is None:
        return 0
    return None if offset.initial else offset.version


def _appended(commit: str) -> Iterator[str]:
    """Files that a commit appended; of one that took rows away, as lanes skip it, none."""
    actions = [json.loads(line) for line in commit.splitlines() if line]
    if any(action["remove"].get("dataChange", True) for action in actions if "remove" in action):
        return
    yield from (action["add"]["path"] for action in actions if "add" in action and action["add"].get("dataChange", True))
