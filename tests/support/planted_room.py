"""A reading room in which the rows of a table are others for a while: rows that no writer of ours would write."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.query.room import ReadingRoom


class PlantedRoom(ReadingRoom):
    """A room with faults: for each table that has one DuckDB's query over `sound`, which are the table's own rows."""

    _faults: dict[str, str]

    @contextmanager
    def planted(self, table: str, fault: str) -> Iterator[None]:
        """With the fault in the table."""
        self._plant({table: fault})
        try:
            yield
        finally:
            self._plant({})

    def _plant(self, faults: dict[str, str]) -> None:
        self._made -= vars(self).get("_faults", {}).keys() | faults.keys()
        self._faults = faults

    def _table(self, name: str) -> str:
        rows = super()._table(name)
        fault = vars(self).get("_faults", {}).get(name)
        return rows if fault is None else f"WITH sound AS ({rows}) {fault}"


def without(where: str) -> str:
    """Rows that are gone."""
    return f"SELECT * FROM sound WHERE NOT ({where})"


def one_more(column: str, where: str = "true", by: int = 1) -> str:
    """A number that is too large by `by`."""
    return instead(column, f"CASE WHEN {where} THEN {column} + {by} ELSE {column} END")


def twice(where: str) -> str:
    """Rows that are there again."""
    return f"SELECT * FROM sound UNION ALL SELECT * FROM sound WHERE {where}"


def instead(column: str, value: str) -> str:
    """Another value (SQL) in every row."""
    return f"SELECT * REPLACE ({value} AS {column}) FROM sound"


def also(where: str, column: str, value: str) -> str:
    """Rows that are there again, with another value (SQL)."""
    return f"SELECT * FROM sound UNION ALL SELECT * REPLACE ({value} AS {column}) FROM sound WHERE {where}"


def and_row(row: str) -> str:
    """A row (SQL) that belongs to nothing."""
    return f"SELECT * FROM sound UNION ALL BY NAME SELECT {row}"
