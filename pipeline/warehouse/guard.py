"""Refuses to continue from a checkpoint that is not the one that wrote the tables: rows would be ignored or doubled in silence.

The warehouse records its own state in `batch_manifest` (written after each micro-batch). Spark continues from the checkpoint.
"""

from typing import Any

from pipeline.faults import BadWarehouse
from pipeline.warehouse.layout import WRITTEN_BY, Warehouse
from pipeline.warehouse.look import Look
from pipeline.warehouse.offsets import Checkpoint, checkpoint_in, entry_in, is_same_input, source_offsets

ManifestRow = dict[str, Any]

#: Begins the query id of micro-batches that `load` wrote: no query of Spark, and no checkpoint, goes on from them.
_LOADED = "load:"
#: As many micro-batches as Spark keeps the offsets of (spark.sql.streaming.minBatchesToRetain); more would find no file.
_COMPARED_BATCHES = 20


class Loaded(BadWarehouse):
    """The warehouse was made by `load`: nothing goes on from it."""


def loaded_id(query: str, run_id: str) -> str:
    """The query id of what `load` writes in this run in place of `query` (one of QUERIES)."""
    return f"{_LOADED}{query}:{run_id}"


def loaded_batch(look: Look, query: str) -> ManifestRow | None:
    """The row of batch_manifest that `load` wrote in place of `query`; None: `load` did not make the warehouse."""
    return next((row for row in newest_batches(look, query) if row["query_id"].startswith(_LOADED)), None)


def refuse_loaded(look: Look, query: str) -> None:
    """Raise Loaded if `load` made the warehouse."""
    if loaded_batch(look, query) is not None:
        raise Loaded(
            f"{look.warehouse.root} was made by `load` of a finished log: nothing can be read into it, or computed anew in it. "
            "Make another warehouse: `load` for a log that is finished, `stream` for one that goes on"
        )


def check_checkpoint(look: Look, query: str) -> None:
    """Raise BadWarehouse with the command that repairs it if `query` (ingest or lanes) must not continue from its checkpoint.

    Raises Loaded if there is none because `load` made the warehouse. Reads only; the tables need not exist yet. Call before they are made.
    """
    warehouse = look.warehouse
    if query == "ingest" and look.files.exists(warehouse.replay_marker):
        # Its next manifest would show half a replay to every consistent cut.
        raise BadWarehouse(f"ingest: a `quarantine replay` was interrupted. This ends it: {warehouse.replay_command}")
    # In this order: beside a running job the checkpoint then knows every micro-batch that the manifest has.
    manifest = newest_batches(look, query)
    refuse_loaded(look, query)
    checkpoint = checkpoint_in(look.files, warehouse, query)
    if checkpoint.damaged:
        _refuse(warehouse, query, f"{warehouse.checkpoint(query)}/metadata is damaged")
    if manifest:
        _compare(look, query, checkpoint, manifest)
        _check_versions(look, query, manifest[0])
        return
    if checkpoint.last_committed is not None and _has_read(look, query, checkpoint.last_committed):
        _refuse(warehouse, query, f"the checkpoint has finished micro-batch {checkpoint.last_committed}, but batch_manifest knows of none")
    if checkpoint.query_id is None:
        for table in WRITTEN_BY[query]:
            if look.version(table) >= 0 and look.rows(f"SELECT 1 AS one FROM {table} LIMIT 1"):
                _refuse(warehouse, query, f"table {table} has rows, but there is neither a checkpoint nor a row in batch_manifest")


def _has_read(look: Look, query: str, committed: int) -> bool:
    """Whether a query has read anything by its checkpoint. Ingest also runs micro-batches that only look for open files, and find none."""
    entry = entry_in(look.files, look.warehouse, query, committed)
    offsets = source_offsets(entry) if entry else []
    only_looked = query == "ingest" and len(offsets) > 1 and offsets[0] is None
    return not only_looked or bool(look.files.names(f"{look.warehouse.checkpoint(query)}/listed"))


def _compare(look: Look, query: str, checkpoint: Checkpoint, manifest: list[ManifestRow]) -> None:
    warehouse, newest = look.warehouse, manifest[0]
    batch_id, query_id = newest["batch_id"], newest["query_id"]
    if checkpoint.query_id is None:
        _refuse(warehouse, query, f"micro-batch {batch_id} is in the tables, but the checkpoint is gone")
    if checkpoint.query_id != query_id:
        _refuse(warehouse, query, f"the checkpoint is of query {checkpoint.query_id}, the tables are of query {query_id}")
    if not _knows(checkpoint, batch_id):
        last = "none" if checkpoint.last_planned is None else checkpoint.last_planned
        _refuse(warehouse, query, f"micro-batch {batch_id} is in the tables, but the checkpoint is older: its last is {last}")
    for row in manifest:
        written = entry_in(look.files, warehouse, query, row["batch_id"])
        if written is not None and not is_same_input(written, row["source_offsets"]):
            _refuse(warehouse, query, f"the checkpoint read other input in micro-batch {row['batch_id']} than what is in the tables")


def _knows(checkpoint: Checkpoint, batch_id: int) -> bool:
    """Whether the micro-batch was planned. Spark keeps the newest only; after the last one in the tables many may have found nothing."""
    planned = checkpoint.planned
    return bool(planned) and (batch_id in planned or batch_id < planned[0])


def _check_versions(look: Look, query: str, newest: ManifestRow) -> None:
    """A table that was deleted, or restored from an older copy, would miss what the checkpoint holds for done."""
    for table in WRITTEN_BY[query]:
        written = newest["table_versions"].get(table)
        if written is None:
            continue
        found = look.version(table)
        if int(written) > found:
            state = "is gone" if found < 0 else f"stands at version {found}"
            _refuse(look.warehouse, query, f"table {table} {state}, micro-batch {newest['batch_id']} left it at version {written}")


def _refuse(warehouse: Warehouse, query: str, reason: str) -> None:
    advice = f"Put the right one back, or compute anew: {warehouse.rebuild_command(query)}"
    raise BadWarehouse(f"{query}: {reason}. Going on would ignore or double rows. {advice}")


def newest_batches(look: Look, query: str) -> list[ManifestRow]:
    """Rows of batch_manifest of the query that wrote last, newest first; some at most. Empty where there are none, or no table."""
    if look.version("batch_manifest") < 0:
        return []
    rows = look.rows(
        f"SELECT * FROM batch_manifest WHERE query = '{query}' ORDER BY written_at DESC, batch_id DESC LIMIT {_COMPARED_BATCHES}"
    )
    return [row for row in rows if row["query_id"] == rows[0]["query_id"]]
