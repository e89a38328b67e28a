"""Somebody who reads a warehouse all the time, while its job is killed and started: what is seen must always hang together."""

import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from pipeline.warehouse.cut import Batch, Cut, consistent_cut
from pipeline.warehouse.layout import Warehouse


class Reader:
    """Reads consistent cuts in a thread, from `with` to its end."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._done = threading.Event()
        self.wrong: list[str] = []
        self.cuts = set[tuple[tuple[str, int], ...]]()

    def __enter__(self) -> "Reader":
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def _read(self) -> None:
        looked_at = 0
        while not self._done.wait(0.3):
            commits = len(list(Path(self._warehouse.table("batch_manifest"), "_delta_log").glob("*.json")))
            if commits == looked_at:  # the job needs the processor more
                continue
            looked_at = commits
            try:
                manifest = DeltaTable(self._warehouse.table("batch_manifest")).to_pyarrow_table().to_pylist()
            except TableNotFoundError:
                continue  # not made yet
            try:
                self._look(manifest)
            except DeltaError as fault:  # a version that a manifest names must be readable
                self.wrong.append(str(fault))

    def _look(self, manifest: list[dict[str, Any]]) -> None:
        cut = consistent_cut(_batches(manifest, "ingest"), _batches(manifest, "lanes"))
        known = tuple(sorted(cut.versions.items()))
        if known in self.cuts:
            return
        self.cuts.add(known)
        counted = {query: _sums(manifest, query, newest) for query, newest in (("ingest", cut.ingest), ("lanes", cut.lanes))}
        for table, column in (("dispatch_events", "bronze"), ("quarantine", "quarantined")):
            rows, said = self._count(cut, table), counted["ingest"].get(column, 0)
            if rows != said:
                self.wrong.append(f"{table} has {rows} rows in the cut, the manifest says {said}: {known}")
        tombstones = self._count(cut, "lane_control")
        if counted["lanes"].get("rows_in", 0) > counted["ingest"].get("bronze", 0) + tombstones:
            self.wrong.append(f"lanes read {counted['lanes']} of {counted['ingest']}: {known}")

    def _count(self, cut: Cut, table: str) -> int:
        rows = DeltaTable(self._warehouse.table(table), version=cut.versions[table])
        if table == "quarantine" and cut.ingest is not None:  # lanes write it, too, beside a micro-batch of ingest that is not whole
            return int(rows.to_pyarrow_table(columns=["ingest_batch"], filters=[("ingest_batch", "<=", cut.ingest.batch_id)]).num_rows)
        return int(rows.to_pyarrow_table(columns=[]).num_rows)


def _batches(manifest: list[dict[str, Any]], query: str) -> list[Batch]:
    rows = sorted((row for row in manifest if row["query"] == query), key=lambda row: row["batch_id"], reverse=True)
    return [Batch(row["batch_id"], row["source_offsets"], dict(row["table_versions"])) for row in rows]


def _sums(manifest: Sequence[dict[str, Any]], query: str, newest: Batch | None) -> dict[str, int]:
    """Sums of a query's micro-batches that are in the cut."""
    if newest is None:
        return {}
    rows = [row for row in manifest if row["query"] == query and row["batch_id"] <= newest.batch_id]
    return {column: sum(row[column] for row in rows) for column in ("rows_in", "bronze", "quarantined")}
