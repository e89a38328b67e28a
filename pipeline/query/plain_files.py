"""Which tables DuckDB reads without being told their columns: those of few files that have them all, as the log has them.

DuckDB binds a list of columns anew for each query and each view in it; of a table with a hundred columns that takes longer than to read
a small file. A column that came later is not in older files: then DuckDB needs the list.
"""

from typing import Any

import duckdb

from pipeline.query.delta_table import OpenTable, relation

#: Each file is looked at once.
FEW_FILES = 8


class PlainFiles:
    """What is known of the files of open tables. `connection` reads them."""

    def __init__(self, connection: Any) -> None:
        self._duckdb = connection
        #: By table: its columns, and of each file whether it has just these.
        self._known: dict[str, tuple[Any, dict[str, bool]]] = {}

    def are_plain(self, table: OpenTable) -> bool:
        """Whether each file has the table's columns with their types. The files are on this machine."""
        if not table.files or len(table.files) > FEW_FILES:
            return False
        columns, known = self._known.get(table.name, (None, {}))
        if columns != table.columns:
            known = {}
        wanted = None
        found = {}
        for file in table.files:
            if file not in known:
                wanted = wanted or self._types(table, relation(table))
                known[file] = self._has(table, file, wanted)
            found[file] = known[file]
        self._known[table.name] = (table.columns, found)
        return all(found.values())

    def _has(self, table: OpenTable, file: str, wanted: list[tuple[str, str]]) -> bool:
        try:
            return self._types(table, relation(table, (file,), told=False)) == wanted
        except duckdb.Error:  # a column is not there, or the file cannot be read: whoever needs it is told so
            return False

    def _types(self, table: OpenTable, query: str) -> list[tuple[str, str]]:
        described = self._duckdb.execute(f"DESCRIBE {query}").fetchall()
        return [(name, kind) for name, kind, *_ in described if name not in table.partitions]
