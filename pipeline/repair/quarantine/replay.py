"""`quarantine replay`: rejected lines are parsed again; those that are events now go into dispatch_events, the rest stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.faults import BadConfig
from pipeline.query.newest_room import NewestRoom
from pipeline.repair.quarantine.judged_lines import CUT, EVENT, LINE_KEY, REJECTED, UNFINISHED, event_date, judged_lines
from pipeline.repair.quarantine.put_back import ReplayRun, end_interrupted, put_back, same_line
from pipeline.repair.quarantine.repaired_lines import RepairedLine
from pipeline.sources.parse.line import ParseLimits
from pipeline.store.files import files_at
from pipeline.store.table_log import opened
from pipeline.warehouse.checkpoint import read_checkpoint
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.guard import check_checkpoint
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bronze import QUARANTINE

Document = dict[str, Any]
NO_BATCH = -1
#: What a dry run reports for an interrupted replay: the next replay will end it first.
WAITS = "waits"
#: Of repaired lines that are still no events, so many are shown one by one.
MOST_SHOWN = 20


@dataclass(frozen=True)
class Request:
    """Which lines: those that keep `where` (SQL; None: all); with `repaired` only those that it names. Without `changes`: a dry run."""

    where: str | None
    repaired: Sequence[RepairedLine] | None
    changes: bool


def replay(spark: SparkSession, warehouse: Warehouse, limits: ParseLimits, request: Request, run: ReplayRun) -> Document:
    """Do it, or report what would be done (docs/reference/json.md has the keys). Unless it is a dry run, nobody else may write meanwhile.

    Raises BadConfig for a `where` that is none and for a repaired line of another place than the rejected one; BadWarehouse where ingest
    must not go on from its checkpoint: then nobody knows which micro-batches are whole.
    """
    mine = spark.newSession()
    interrupted = end_interrupted(warehouse) if request.changes else _interrupted(warehouse)
    if interrupted != WAITS:
        check_checkpoint(NewestRoom(warehouse), "ingest")
    newest = newest_whole_batch(warehouse)
    lines = judged_lines(mine, warehouse, limits, request.where, request.repaired, newest).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        states = {row["state"]: row["count"] for row in lines.groupBy("state").count().collect()}
        events = lines.where(F.col("state") == EVENT)
        _refuse_other_places(events)
        # The document is made before anything is written: a change of quarantine makes Spark compute cached rows of it anew.
        document = {
            "warehouse": warehouse.root,
            "at": run.now,
            "dry_run": not request.changes,
            "interrupted": interrupted,
            "replay": None,
            "put_back": states.get(EVENT, 0),
            "rejected": states.get(REJECTED, 0),
            "cut": states.get(CUT, 0),
            "unfinished": states.get(UNFINISHED, 0),
            "reasons": _reasons(lines),
            "told_anew": 0,
            "still_rejected": _still_rejected(lines),
            "not_found": 0 if request.repaired is None else len(request.repaired) - lines.select(*LINE_KEY).distinct().count(),
            "dates": _dates(events),
        }
        if request.changes and EVENT in states:
            document["replay"] = put_back(events, states[EVENT], newest, warehouse, run)
        if request.changes:
            document["told_anew"] = _write_new_reasons(lines, warehouse, run)
        return document
    finally:
        lines.unpersist()


def _interrupted(warehouse: Warehouse) -> str | None:
    return WAITS if files_at(warehouse.root).exists(warehouse.replay_marker) else None


def newest_whole_batch(warehouse: Warehouse) -> int:
    """Newest micro-batch of ingest that is in batch_manifest and committed by Spark, so that it is never run again; −1: none."""
    committed = read_checkpoint(warehouse, "ingest").committed
    newest = committed[-1] if committed else NO_BATCH
    whole = f"SELECT max(batch_id) AS newest FROM batch_manifest WHERE query = 'ingest' AND batch_id <= {newest}"
    (row,) = NewestRoom(warehouse).rows(whole)
    return NO_BATCH if row["newest"] is None else int(row["newest"])


def _refuse_other_places(events: DataFrame) -> None:
    """A rejected line whose place could be read has it, and its lane has its tombstone. A text of another place repairs another line."""
    places = [(F.col(name), F.col(f"event.{name}")) for name in ("broker", "epoch", "seq")]
    elsewhere = F.lit(False)
    for was, now in places:
        elsewhere = elsewhere | (was != now)
    for row in events.where(F.col("broker").isNotNull() & elsewhere).limit(1).collect():
        raise BadConfig(
            f"line {row.source_line} of {row.source_file or 'a table'} is of broker {row.broker}, epoch {row.epoch}, seq {row.seq}; "
            f"its text in --from is of broker {row.event.broker}, epoch {row.event.epoch}, seq {row.event.seq}: nothing was changed"
        )


def _write_new_reasons(lines: DataFrame, warehouse: Warehouse, run: ReplayRun) -> int:
    """Give rows that stay the reason and detail of the current parser, as far as it judged the text that they have; returns how many."""
    other = ~(F.col("reason").eqNullSafe(F.col("new_reason")) & F.col("detail").eqNullSafe(F.col("new_detail")))
    anew = lines.where((F.col("state") == REJECTED) & F.col("repaired_text").isNull() & other)
    keys = anew.select(*LINE_KEY, "ingest_batch", "new_reason", "new_detail").dropDuplicates([*LINE_KEY, "ingest_batch"])
    changed = keys.toArrow()
    if changed.num_rows == 0:
        return 0
    run.before_write()
    quarantine = opened(warehouse.table(QUARANTINE.name))
    merge = quarantine.merge(changed, same_line("q", "anew"), source_alias="anew", target_alias="q", commit_properties=tagged())
    values = {"reason": "anew.new_reason", "detail": "anew.new_detail"}
    return int(merge.when_matched_update(values).execute()["num_target_rows_updated"])


def _reasons(lines: DataFrame) -> dict[str, int]:
    """Lines that stay in quarantine, by the reason that they have then."""
    reason = F.when((F.col("state") == REJECTED) & F.col("repaired_text").isNull(), F.col("new_reason")).otherwise(F.col("reason"))
    stay = lines.where(F.col("state") != EVENT).groupBy(reason.alias("reason")).count().orderBy(F.desc("count"), "reason")
    return {row["reason"]: row["count"] for row in stay.collect()}


def _still_rejected(lines: DataFrame) -> list[Document]:
    """What is wrong with repaired texts that are no events, of MOST_SHOWN lines at most."""
    rejected = lines.where((F.col("state") == REJECTED) & F.col("repaired_text").isNotNull())
    shown = rejected.select("source_file", "source_line", F.col("new_reason").alias("reason"), F.col("new_detail").alias("detail"))
    return [row.asDict() for row in shown.orderBy("source_file", "source_line").limit(MOST_SHOWN).collect()]


def _dates(events: DataFrame) -> list[Document]:
    """Events by broker and date: what a backfill would have to compute anew."""
    counted = events.select("event.*").groupBy("broker", event_date().alias("event_date")).agg(F.count("*").alias("events"))
    return [row.asDict() for row in counted.orderBy("broker", "event_date").collect()]
