"""Outcomes of lanes to files of their tables, while the lanes go on: what is in memory does not grow with the log."""

from collections.abc import Sequence

import pyarrow as pa

from pipeline.faults import invariant
from pipeline.lanes.named_outcomes import NamedOutcomes
from pipeline.lanes.outcome_packets import outcome_rows
from pipeline.rules.outcome import Rows
from pipeline.warehouse.data_files import NewFile, TableFiles
from pipeline.warehouse.layout import Warehouse
from schemas.outcomes import LANE_REPORT
from schemas.tables import TABLES_BY_NAME

#: Outcomes that wait until they are written together: each writing looks names up.
_ROWS_AT_ONCE = 65_536


class OutcomeFiles:
    """Files of all tables of lanes in a warehouse, each called `name`. `names` has the text of all ids (columns of that table)."""

    def __init__(self, warehouse: Warehouse, name: str, names: pa.Table) -> None:
        self._warehouse, self._name, self._names = warehouse, name, names
        self._files: dict[str, TableFiles] = {}
        self._reports: list[pa.Table] = []
        self._waiting: list[Rows] = []

    def add(self, broker_id: int, outcomes: Sequence[Rows], *, last: bool = False) -> None:
        """Take outcomes of a lane; with the `last` ones of a lane none of it waits any more.

        Raises BrokenInvariant for an id without a name.
        """
        self._waiting += outcomes
        if last or sum(rows.count for rows in self._waiting) >= _ROWS_AT_ONCE:
            self._write(broker_id)

    def close(self) -> tuple[dict[str, list[NewFile]], pa.Table | None]:
        """End the files: those of each table by its name, and the reports of all lanes; None without any."""
        written = {table: list(files.close()) for table, files in self._files.items()}
        return written, pa.concat_tables(self._reports) if self._reports else None

    def _write(self, broker_id: int) -> None:
        by_table: dict[str, list[Rows]] = {}
        for rows in self._waiting:
            by_table.setdefault(rows.table, []).append(rows)
        self._waiting = []
        outcomes = {table: outcome_rows(broker_id, table, parts) for table, parts in by_table.items()}
        if LANE_REPORT in outcomes:
            self._reports.append(outcomes.pop(LANE_REPORT))
        named = NamedOutcomes(outcomes, self._names)
        invariant(not named.lacks_text(), f"a name of an id of broker {broker_id} is missing")
        for table in outcomes:
            files = self._files_of(table)
            for rows in named.slices_of(TABLES_BY_NAME[table]):
                files.add(rows)

    def _files_of(self, table: str) -> TableFiles:
        if table not in self._files:
            self._files[table] = TableFiles(self._warehouse.table(table), TABLES_BY_NAME[table], f"{self._name}.zstd.parquet")
        return self._files[table]
