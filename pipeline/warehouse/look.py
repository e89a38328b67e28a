"""A look at a warehouse: what everybody may ask who only reads. The reading room (`pipeline/query/room.py`) answers."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from pipeline.store.commit import Commit
from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.layout import Warehouse


class TableFacts(NamedTuple):
    """A table at its newest version, from its log: no data file is opened.

    `rows` is None if a file came without statistics; `written_at` is the file system's time, None if the log entry is gone.
    """

    name: str
    version: int
    written_at: datetime | None
    files: int
    small_files: int
    bytes: int
    rows: int | None


class Queries(Protocol):
    """Whatever answers queries over a warehouse that stays as it is."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query in Spark's dialect over tables and views by their plain names."""


class Look(Protocol):
    """Tables and files of one warehouse. Reads only and takes no lock: it may be asked beside a running job."""

    @property
    def warehouse(self) -> Warehouse:
        """Where it looks."""

    @property
    def files(self) -> SmallFiles:
        """Small files beside the tables."""

    def version(self, table: str) -> int:
        """Newest version of the table; −1 if there is none."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query in Spark's dialect over tables and views by their plain names, the tables as they are now.

        A declared table that is not there has no rows. Times have the zone UTC.
        """

    def columns(self, table: str) -> list[str]:
        """Names of a declared table's columns, as they are now; those that it would be made with, if it is not there."""

    def facts(self, small_below: int) -> list[TableFacts]:
        """Of every declared table that is there, in declared order; a file of less than `small_below` bytes is small."""

    def newest_event_times(self, read_batch: int | None) -> tuple[int | None, int | None]:
        """Greatest `ts` (µs) in dispatch_events, and in its files that hold nothing beyond the micro-batch `read_batch` of ingest.

        From the files' statistics; None where there is no such file.
        """

    def commits(self, tables: Collection[str], most: int) -> dict[str, list[Commit]]:
        """What the log of each table still has of its newest `most` versions, newest first."""
