"""The logs of a warehouse's tables, each opened once at a version.

A request to a store takes some ten milliseconds, and a log takes four, one after the other: logs are opened side by side.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TypeVar

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from pipeline.faults import BadWarehouse
from pipeline.store.address import local_path
from pipeline.store.commit import Commit
from pipeline.store.table_log import commit_of, committed_at, newest_version_at, opened
from pipeline.warehouse.layout import Warehouse

#: Logs of which a store is asked at the same time.
AT_ONCE = 32
Asked = TypeVar("Asked")
Found = TypeVar("Found")


class TableLogs:
    """The newest version of each table as it was found, and logs that are open."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._threads = 1 if local_path(warehouse.root) else AT_ONCE
        self._newest: dict[str, int] = {}
        self._open: dict[str, DeltaTable] = {}

    def newest(self, tables: Collection[str]) -> dict[str, int]:
        """Newest version of each of the tables when it was first asked for, or at the last `refresh`; −1 where there is none."""
        unknown = [table for table in tables if table not in self._newest]
        if self._threads == 1:
            self._newest |= self._versions(unknown)
        else:
            self._open_newest(unknown)
        return {table: self._newest[table] for table in tables}

    def refresh(self) -> None:
        """Find the newest version anew of each table that was asked for."""
        self._newest = self._versions([*self._newest])

    def at(self, versions: Mapping[str, int]) -> dict[str, DeltaTable]:
        """The log of each table at its version. Raises BadWarehouse if one, or that version of it, is not there or cannot be read."""
        closed = [table for table, version in versions.items() if table not in self._open or self._open[table].version() != version]
        opened_now = self._side_by_side(lambda table: _opened(table, self._warehouse.table(table), versions[table]), closed)
        self._open |= dict(zip(closed, opened_now, strict=True))
        return {table: self._open[table] for table in versions}

    def commits(self, tables: Collection[str], most: int) -> dict[str, list[Commit]]:
        """What the log of each table still has of its newest `most` versions, newest first."""
        asked = [(table, version) for table, newest in self.newest(tables).items() for version in range(newest, max(-1, newest - most), -1)]
        found = self._side_by_side(lambda one: commit_of(self._warehouse.table(one[0]), one[1]), asked)
        commits: dict[str, list[Commit]] = {table: [] for table in tables}
        for (table, _), commit in zip(asked, found, strict=True):
            if commit is not None:
                commits[table].append(commit)
        return commits

    def written_at(self, versions: Mapping[str, int]) -> dict[str, datetime | None]:
        """When the version of each table was written, by its file in the log; None if that is gone."""
        found = self._side_by_side(lambda one: committed_at(self._warehouse.table(one[0]), one[1]), versions.items())
        return dict(zip(versions, found, strict=True))

    def _versions(self, tables: Sequence[str]) -> dict[str, int]:
        return dict(zip(tables, self._side_by_side(newest_version_at, map(self._warehouse.table, tables)), strict=True))

    def _open_newest(self, tables: Sequence[str]) -> None:
        """Open the logs in place of asking for versions: a reader needs the logs next, and a log that is open tells its version."""
        found = dict(zip(tables, self._side_by_side(_newest_log, map(self._warehouse.table, tables)), strict=True))
        self._open |= {table: log for table, (_, log) in found.items() if log is not None}
        self._newest |= {table: version for table, (version, _) in found.items()}

    def _side_by_side(self, ask: Callable[[Asked], Found], asked: Iterable[Asked]) -> list[Found]:
        """The answers in their order; a store is asked for several at the same time."""
        each = [*asked]
        if self._threads == 1 or len(each) < 2:
            return [ask(one) for one in each]
        with ThreadPoolExecutor(min(self._threads, len(each))) as threads:
            return [*threads.map(ask, each)]


def _newest_log(uri: str) -> tuple[int, DeltaTable | None]:
    """Version and log of the table; −1 without it. Of a damaged log the version alone: to open it at that version gives the reason."""
    try:
        log = opened(uri)
    except DeltaError:
        return newest_version_at(uri), None
    return log.version(), log


def _opened(name: str, uri: str, version: int) -> DeltaTable:
    try:
        return opened(uri, version)
    except TableNotFoundError as fault:
        raise BadWarehouse(f"there is no table {name} at {uri}") from fault
    except DeltaError as fault:
        raise BadWarehouse(f"table {name} at version {version} cannot be read: {fault}") from fault
