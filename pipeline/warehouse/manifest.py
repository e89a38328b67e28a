"""What a micro-batch wrote, written last: the row that makes it visible as done, for both queries."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pipeline.faults import BrokenInvariant, invariant
from pipeline.run_context import RunContext
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.append import app_id_of, append_rows
from pipeline.warehouse.checkpoint import offset_entry
from pipeline.warehouse.cut import Batch
from pipeline.warehouse.layout import Warehouse
from schemas.tables import JOB_TABLES
from schemas.tables.bookkeeping import BATCH_MANIFEST

#: Logs of tables that are listed at the same time: all, since a store takes some ten milliseconds for each.
_LISTED_AT_ONCE = len(JOB_TABLES)
_COUNTS = tuple(f.name for f in BATCH_MANIFEST.fields if f.type == "long" and f.name != "batch_id")


#: The value of a row's newest_events.
Newest = Sequence[Mapping[str, Any]]


def write_manifest(
    warehouse: Warehouse,
    run: RunContext,
    query: str,
    query_id: str,
    batch_id: int,
    counts: Mapping[str, int],
    newest: Newest | None = None,
) -> Batch:
    """Append the row of a micro-batch to batch_manifest, once. Call it after all tables of the micro-batch are written.

    Returns what a cut needs of the row. Raises BrokenInvariant for a count that the table does not have.
    """
    return append_manifest(warehouse, run, query, query_id, batch_id, counts, lambda: _planned_offsets(warehouse, query, batch_id), newest)


def append_manifest(
    warehouse: Warehouse,
    run: RunContext,
    query: str,
    query_id: str,
    batch_id: int,
    counts: Mapping[str, int],
    offsets_of: Callable[[], str],
    newest: Newest | None = None,
) -> Batch:
    """The same with what `offsets_of` gives, the micro-batch's entry of an offset log.

    `counts` holds any of the table's counts; those that a query does not have become 0.
    """
    invariant(set(counts) <= set(_COUNTS), f"batch_manifest has no counts {sorted(set(counts) - set(_COUNTS))}")
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(offsets_of)
        versions = {name: str(version) for name, version in table_versions(warehouse).items()}
        offsets = asked.result()
    row = {
        "query": query,
        "query_id": query_id,
        "batch_id": batch_id,
        "source_offsets": offsets,
        **dict.fromkeys(_COUNTS, 0),
        **counts,
        "table_versions": versions,
        "newest_events": newest,
        "run_id": run.run_id,
        "code_version": run.code_version,
        "written_at": run.now(),
    }
    append_rows(warehouse, BATCH_MANIFEST, [row], (app_id_of(query_id, BATCH_MANIFEST.name), batch_id))
    return Batch(batch_id, offsets, versions)


def table_versions(warehouse: Warehouse) -> dict[str, int]:
    """Version of every table of the job now (of batch_manifest: before the row that will hold them)."""
    with ThreadPoolExecutor(_LISTED_AT_ONCE) as threads:
        versions = threads.map(newest_version_at, [warehouse.table(table.name) for table in JOB_TABLES])
        return {table.name: version for table, version in zip(JOB_TABLES, versions, strict=True)}


def _planned_offsets(warehouse: Warehouse, query: str, batch_id: int) -> str:
    """The offset log entry of the running micro-batch; Spark writes it before the micro-batch begins."""
    entry = offset_entry(warehouse, query, batch_id)
    if entry is None:
        raise BrokenInvariant(f"{query}: the checkpoint has no offsets of the running micro-batch {batch_id}")
    return entry
