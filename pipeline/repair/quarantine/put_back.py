"""Lines out of quarantine into dispatch_events, exactly once over a crash at any point.

Three tables change, each in a commit of its own, in this order: quarantine_replays (what is about to move), dispatch_events, quarantine.
All that the first two write bears the replay's number as Delta's transaction version, so it is written once; which lines to delete from
quarantine is in the first. A marker file stands from before the first write until after the last: while it does, ingest does not begin
(pipeline/warehouse/guard.py), so no manifest, and no consistent cut, ever shows a line in both places. `end_interrupted` ends what a crash
left: if the events are in bronze their lines leave quarantine, if not nothing has happened.

Events are appended, never merged in: lanes, who read with skipChangeCommits, see appends only.

**ingest_batch** of the events is the newest micro-batch of ingest that is whole and committed. Lanes take a row with number n for a sign
that the batches before n have come: of that one it is true, its commit is older. The line's own batch would be true, too, but lanes judge a
gap by how many batches came since it was first shown, and a row of long ago would make every gap old at once. And Spark never runs
a committed micro-batch again, whose rows ingest would count.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.faults import invariant
from pipeline.ingest.bronze_files import append_events
from pipeline.repair.quarantine.judged_lines import LINE_KEY, event_date
from pipeline.sources.names_met import NAME_COLUMNS
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.files import files_at
from pipeline.store.table_log import last_transaction, newest_version_at, opened
from pipeline.warehouse.append import app_id_of, is_appended
from pipeline.warehouse.append_frame import append_in_tasks
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.names import write_names
from schemas.tables.bronze import DISPATCH_EVENTS, PARSED_FIELDS, QUARANTINE, QUARANTINE_REPLAYS

#: In Delta's transaction ids, in place of a query's id.
WRITER = "quarantine replay"
#: Lines for which one more file is written: most replays write one per date.
_LINES_PER_FILE = 200_000


@dataclass(frozen=True)
class ReplayRun:
    """Who puts lines back: `now` (with its zone) is only recorded, `before_write` raises if another driver has taken the warehouse."""

    run_id: str
    code_version: str
    now: datetime
    before_write: Callable[[], None]


def put_back(lines: DataFrame, count: int, stamp: int, warehouse: Warehouse, run: ReplayRun) -> int:
    """Move the `count` `lines` (rows of `judged_lines` that are events) with `stamp` as ingest_batch; returns the number of the replay.

    `lines` must be persisted, and no other driver may write. Call `end_interrupted` before.
    """
    number = (last_transaction(warehouse.table(QUARANTINE_REPLAYS.name), _app_id(QUARANTINE_REPLAYS.name)) or 0) + 1
    bronze_version = newest_version_at(warehouse.table(DISPATCH_EVENTS.name)) + 1
    lines = lines.coalesce(1 + count // _LINES_PER_FILE)
    events = lines.select("event.*").select(*(f.name for f in PARSED_FIELDS))
    run.before_write()
    files_at(warehouse.root).write(warehouse.replay_marker, str(number))
    rows = _replay_rows(lines, run, {"replay": number, "ingest_batch": stamp, "bronze_version": bronze_version})
    append_in_tasks(rows, warehouse, QUARANTINE_REPLAYS, (_app_id(QUARANTINE_REPLAYS.name), number), run.run_id)
    # Before the events: lanes that find an id without a name wait for it.
    write_names(events.select(*NAME_COLUMNS).distinct().collect(), warehouse, WRITER, number)
    run.before_write()
    append_events(events, warehouse, stamp, (_app_id(DISPATCH_EVENTS.name), number), run.run_id)
    found = newest_version_at(warehouse.table(DISPATCH_EVENTS.name))
    invariant(found == bronze_version, f"replay {number}: dispatch_events is at version {found}, not {bronze_version}: who else wrote?")
    run.before_write()
    taken_out = _take_out(warehouse, number)
    invariant(taken_out == count, f"replay {number}: {count} lines were put back, but {taken_out} left quarantine")
    files_at(warehouse.root).delete(warehouse.replay_marker)
    return number


def end_interrupted(warehouse: Warehouse) -> str | None:
    """End the replay that a crash interrupted: `finished`, if its events were in bronze; else `undone`, as if it had never begun.

    None if there is none.
    """
    files = files_at(warehouse.root)
    begun = files.read(warehouse.replay_marker)
    if begun is None:
        return None
    path = warehouse.table(QUARANTINE_REPLAYS.name)
    recorded = last_transaction(path, _app_id(QUARANTINE_REPLAYS.name)) or 0
    # A crash that cut the marker's text came before any row of this replay. The replay recorded last is in bronze then, and its lines have
    # left quarantine.
    number = int(begun) if begun.isdecimal() else recorded
    finished = is_appended(warehouse, DISPATCH_EVENTS.name, _app_id(DISPATCH_EVENTS.name), number)
    if finished:
        _take_out(warehouse, number)
    elif recorded == number:
        opened(path).delete(f"replay = {number}", commit_properties=tagged())
    files.delete(warehouse.replay_marker)
    return "finished" if finished else "undone"


def _replay_rows(lines: DataFrame, run: ReplayRun, numbers: Mapping[str, int]) -> DataFrame:
    """Rows of quarantine_replays; `numbers` are the same on all of them."""
    columns = {
        **{name: F.lit(number).cast("long") for name, number in numbers.items()},
        **{name: F.col(name) for name in (*LINE_KEY, "reason", "raw")},
        "rejected_batch": F.col("ingest_batch"),
        "repaired": F.col("repaired_text").isNotNull(),
        "tombstone": F.col("broker").isNotNull(),
        **{name: F.col(f"event.{name}") for name in ("broker", "epoch", "seq", "ts")},
        "run_id": F.lit(run.run_id),
        "code_version": F.lit(run.code_version),
        "replayed_at": F.lit(run.now),
    }
    named = lines.select(*(column.alias(name) for name, column in columns.items()))
    return named.withColumn("event_date", event_date()).select(*QUARANTINE_REPLAYS.names)


def _take_out(warehouse: Warehouse, number: int) -> int:
    """Delete from quarantine the lines that quarantine_replays lists for the replay; returns how many rows were still there."""
    lines = arrow_rows(warehouse.table(QUARANTINE_REPLAYS.name), [*LINE_KEY, "rejected_batch"], {"replay": [number]})
    keys = [*LINE_KEY, "ingest_batch"]
    moved = lines.rename_columns(keys).group_by(keys).aggregate([])
    quarantine = opened(warehouse.table(QUARANTINE.name))
    merge = quarantine.merge(moved, same_line("q", "moved"), source_alias="moved", target_alias="q", commit_properties=tagged())
    return int(merge.when_matched_delete().execute()["num_target_rows_deleted"])


def same_line(one: str, other: str) -> str:
    """SQL that is true where rows of two tables (their names) are of one line of one micro-batch."""
    return " AND ".join(f"({one}.{key} IS NOT DISTINCT FROM {other}.{key})" for key in (*LINE_KEY, "ingest_batch"))


def _app_id(table: str) -> str:
    return app_id_of(WRITER, table)
