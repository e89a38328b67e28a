"""Rows of tables of many small files, taken into DuckDB's memory: of a new version of the table only its new files are opened.

A live job adds a file to a table in each micro-batch, for a row or some. To open one takes 0.4 ms, and a question about all subscriptions
opens each of ten tables.
"""

from collections.abc import Iterable
from typing import Any

from pipeline.query.delta_table import OpenTable, relation

#: DuckDB opens fewer files as quickly as it takes their rows over.
_MANY_FILES = 8


class HeldRows:
    """Of each table the rows of one version. `connection` holds them; of more than `most_rows` in a table none is held."""

    def __init__(self, connection: Any, most_rows: int) -> None:
        self._duckdb, self._most_rows = connection, most_rows
        self._files: dict[str, frozenset[str]] = {}
        self._columns: dict[str, tuple[tuple[str, str], ...]] = {}

    def of(self, table: OpenTable) -> str | None:
        """DuckDB's query for all rows of the table, which are held from now on; None: they are not. The files are on this machine."""
        if len(table.files) < _MANY_FILES or table.removed or _rows_of(table) > self._most_rows:
            self._let_go(table.name)
            return None
        held, files = f"held_of_{table.name}", frozenset(table.files)
        before = self._files.pop(table.name, None)  # nobody knows how far it came if the next step fails
        if before is not None and before <= files and self._columns[table.name] == table.columns:
            self._add(f"INSERT INTO {held}", table, files - before)
        else:
            self._add(f"CREATE OR REPLACE TABLE {held} AS", table, files)
        self._files[table.name], self._columns[table.name] = files, table.columns
        return f"SELECT * FROM {held}"

    def _add(self, into: str, table: OpenTable, files: Iterable[str]) -> None:
        if chosen := sorted(files):
            self._duckdb.execute(f"{into} {relation(table, chosen)}")

    def _let_go(self, name: str) -> None:
        if self._files.pop(name, None) is not None:
            self._duckdb.execute(f"DROP TABLE held_of_{name}")


def _rows_of(table: OpenTable) -> int:
    return sum(table.log.get_add_actions()["num_records"].to_pylist())
