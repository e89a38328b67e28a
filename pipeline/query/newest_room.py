"""A look at a warehouse for who writes it: each question finds the tables as they are then."""

from collections.abc import Collection, Iterator
from typing import Any

from pipeline.query.room import ReadingRoom
from pipeline.store.commit import Commit
from pipeline.warehouse.look import TableFacts


class NewestRoom(ReadingRoom):
    """A room that looks at what is newest in each question."""

    def version(self, table: str) -> int:
        """Newest version of the table now; −1 if there is none."""
        self.refresh()
        return super().version(table)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query of ours over the tables as they are now."""
        self.refresh()
        return super().rows(sql)

    def batches(self, sql: str) -> Iterator[Any]:
        """The same as Arrow's record batches."""
        self.refresh()
        return super().batches(sql)

    def facts(self, small_below: int) -> list[TableFacts]:
        """Of every declared table that is there now."""
        self.refresh()
        return super().facts(small_below)

    def newest_event_times(self, read_batch: int | None) -> tuple[int | None, int | None]:
        """Greatest `ts` (µs) of all events that are there now, and of those in files of nothing beyond that micro-batch."""
        self.refresh()
        return super().newest_event_times(read_batch)

    def commits(self, tables: Collection[str], most: int) -> dict[str, list[Commit]]:
        """What the logs of the tables have now of their newest versions."""
        self.refresh()
        return super().commits(tables, most)
