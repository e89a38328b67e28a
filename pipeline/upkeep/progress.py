"""How far each query got: its newest micro-batch, what it has read, what is still to come. Reads only."""

from typing import Any

from pipeline.faults import BadWarehouse
from pipeline.warehouse.guard import Loaded, check_checkpoint, loaded_batch, newest_batches
from pipeline.warehouse.look import Look
from pipeline.warehouse.offsets import checkpoint_in, delta_offsets, source_offsets

_FIRST_BATCH = 0


def query_progress(look: Look, query: str) -> dict[str, Any]:
    """Newest whole micro-batch of the query (None: none yet), and its checkpoint beside it."""
    batches = newest_batches(look, query)
    checkpoint = checkpoint_in(look.files, look.warehouse, query)
    last = None
    if batches:
        row = batches[0]
        last = {key: row[key] for key in ("batch_id", "written_at", "rows_in", "run_id", "code_version")}
        last["read_to"] = source_offsets(row["source_offsets"])
    return {
        "last_batch": last,
        "loaded": loaded_batch(look, query) is not None,
        "query_id": checkpoint.query_id,
        "planned": checkpoint.last_planned,
        "committed": checkpoint.last_committed,
        "refused": refusal(look, query),
    }


def refusal(look: Look, query: str) -> str | None:
    """The message with which `stream` would refuse the query's checkpoint; None if it may go on, or need not: `load` made the warehouse.

    Asked twice before it is believed: beside a running job a micro-batch may end between two looks.
    """
    words = None
    for _ in range(2):
        try:
            check_checkpoint(look, query)
        except Loaded:
            return None
        except BadWarehouse as fault:
            words = str(fault)
        else:
            return None
    return words


def ingest_batch_read(look: Look, entry: str) -> int | None:
    """Newest micro-batch of ingest of which lanes have read every event, by an offset log entry of theirs; None: of none.

    The version that a manifest names is not older than what its micro-batch wrote, so this never names one too new. Lines that were put
    back from quarantine later bear the number of a micro-batch that lanes may long have read: until they have read those, too, it is not.
    """
    offset = delta_offsets(entry)[0]
    if offset is None:
        return None
    manifest = "SELECT batch_id, table_versions['dispatch_events'] AS bronze FROM batch_manifest WHERE query = 'ingest'"
    read = look.rows(f"SELECT max(batch_id) AS newest FROM ({manifest}) WHERE CAST(bronze AS BIGINT) <= {offset.whole}")[0]["newest"]
    if read is None:
        return None
    put_back = f"SELECT min(ingest_batch) AS oldest FROM quarantine_replays WHERE bronze_version > {offset.whole}"
    unread = look.rows(put_back)[0]["oldest"]
    newest = int(read) if unread is None else min(int(read), int(unread) - 1)
    return newest if newest >= _FIRST_BATCH else None
