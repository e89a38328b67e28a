"""`quarantine replay`: rejected lines are parsed again; those that are events now go into dispatch_events, the rest stay."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from pipeline.query.room import ReadingRoom
from pipeline.repair.quarantine.judged_lines import CUT, EVENT, LINE_KEY, REJECTED, UNFINISHED, JudgedLines
from pipeline.repair.quarantine.put_back import PutBack, ReplayRun, end_interrupted, same_line
from pipeline.repair.quarantine.repaired_lines import RepairedLine
from pipeline.repair.quarantine.tally import Document, Tally
from pipeline.sources.parse.line import ParseLimits
from pipeline.store.files import files_at
from pipeline.store.table_log import opened
from pipeline.warehouse.checkpoint import read_checkpoint
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.guard import check_checkpoint
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bronze import QUARANTINE

NO_BATCH = -1
#: What a dry run reports for an interrupted replay: the next replay will end it first.
WAITS = "waits"


@dataclass(frozen=True)
class Request:
    """Which lines: those that keep `where` (SQL; None: all); with `repaired` only those that it names. Without `changes`: a dry run."""

    where: str | None
    repaired: Sequence[RepairedLine] | None
    changes: bool


def replay(warehouse: Warehouse, limits: ParseLimits, request: Request, run: ReplayRun) -> Document:
    """Do it, or report what would be done (docs/reference/json.md has the keys). Unless it is a dry run, nobody else may write meanwhile.

    Raises BadConfig for a `where` that is none and for a repaired line of another place than the rejected one; BadWarehouse where ingest
    must not go on from its checkpoint: then nobody knows which micro-batches are whole.
    """
    interrupted = end_interrupted(warehouse) if request.changes else _interrupted(warehouse)
    room = ReadingRoom(warehouse)
    if interrupted != WAITS:
        check_checkpoint(room, "ingest")
    newest = newest_whole_batch(room)
    lines = JudgedLines(room, limits, request.where, request.repaired, newest)
    tally, moving = Tally(), PutBack(newest, warehouse, run) if request.changes else None
    # Once: a condition may ask for the time, or for chance.
    for batch in lines.batches():
        tally.add(batch)
        if moving is not None:
            moving.add(batch)
    document = {
        "warehouse": warehouse.root,
        "at": run.now,
        "dry_run": not request.changes,
        "interrupted": interrupted,
        "replay": None,
        "put_back": tally.states[EVENT],
        "rejected": tally.states[REJECTED],
        "cut": tally.states[CUT],
        "unfinished": tally.states[UNFINISHED],
        "told_anew": 0,
        "not_found": 0 if request.repaired is None else len(request.repaired) - len(tally.found),
        **tally.document(),
    }
    if moving is not None:
        document["replay"] = moving.commit()
        document["told_anew"] = _write_new_reasons(tally.told_anew, warehouse, run)
    return document


def _interrupted(warehouse: Warehouse) -> str | None:
    return WAITS if files_at(warehouse.root).exists(warehouse.replay_marker) else None


def newest_whole_batch(room: ReadingRoom) -> int:
    """Newest micro-batch of ingest that is in batch_manifest and committed by Spark, so that it is never run again; −1: none."""
    committed = read_checkpoint(room.warehouse, "ingest").committed
    newest = committed[-1] if committed else NO_BATCH
    (row,) = room.rows(f"SELECT max(batch_id) AS newest FROM batch_manifest WHERE query = 'ingest' AND batch_id <= {newest}")
    return NO_BATCH if row["newest"] is None else int(row["newest"])


def _write_new_reasons(anew: Sequence[pa.RecordBatch], warehouse: Warehouse, run: ReplayRun) -> int:
    """Give the rows their new reason and detail; returns how many."""
    rows = pa.Table.from_batches(anew) if anew else None
    if not rows:
        return 0
    keys = [*LINE_KEY, "ingest_batch"]
    words = [("new_reason", "first"), ("new_detail", "first")]
    changed = rows.group_by(keys, use_threads=False).aggregate(words).rename_columns([*keys, "new_reason", "new_detail"])
    run.before_write()
    quarantine = opened(warehouse.table(QUARANTINE.name))
    merge = quarantine.merge(changed, same_line("q", "anew"), source_alias="anew", target_alias="q", commit_properties=tagged())
    values = {"reason": "anew.new_reason", "detail": "anew.new_detail"}
    return int(merge.when_matched_update(values).execute()["num_target_rows_updated"])
