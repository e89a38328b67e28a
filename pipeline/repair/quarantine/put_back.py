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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.faults import invariant
from pipeline.ingest.bronze_files import BronzeFiles
from pipeline.ingest.event_ids import event_dates
from pipeline.repair.quarantine.judged_lines import EVENT, LINE_KEY
from pipeline.repair.quarantine.tally import events_of
from pipeline.sources.names_met import NAME_COLUMNS
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.files import files_at
from pipeline.store.table_log import last_transaction, newest_version_at, opened
from pipeline.warehouse.append import app_id_of, append_files, is_appended
from pipeline.warehouse.commit_tag import tagged
from pipeline.warehouse.data_files import NewFile, TableFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.names import write_names
from schemas.field import Table
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE, QUARANTINE_REPLAYS

#: In Delta's transaction ids, in place of a query's id.
WRITER = "quarantine replay"


@dataclass(frozen=True)
class ReplayRun:
    """Who puts lines back: `now` (with its zone) is only recorded, `before_write` raises if another driver has taken the warehouse."""

    run_id: str
    code_version: str
    now: datetime
    before_write: Callable[[], None]


class PutBack:
    """Lines on their way into dispatch_events: written as they are judged, to files that no commit names until `commit`.

    `stamp` is their ingest_batch. No other driver may write. Call `end_interrupted` before.
    """

    def __init__(self, stamp: int, warehouse: Warehouse, run: ReplayRun) -> None:
        self._warehouse, self._run = warehouse, run
        replays, bronze = (warehouse.table(table.name) for table in (QUARANTINE_REPLAYS, DISPATCH_EVENTS))
        self._number = (last_transaction(replays, _app_id(QUARANTINE_REPLAYS.name)) or 0) + 1
        self._bronze_version = newest_version_at(bronze) + 1
        self._numbers = {"replay": self._number, "ingest_batch": stamp, "bronze_version": self._bronze_version}
        self._replays = TableFiles(replays, QUARANTINE_REPLAYS, f"{run.run_id}.zstd.parquet")
        self._events = BronzeFiles(bronze, stamp, run.run_id)
        self._used: set[tuple[str | None, str | None, str | None]] = set()

    def add(self, judged: pa.RecordBatch) -> None:
        """Write those of the judged lines that are events."""
        moved = judged.filter(pc.equal(judged["state"], EVENT))
        if moved.num_rows:
            events = events_of(moved)
            self._replays.add(_replay_rows(moved, events, self._run, self._numbers))
            self._events.add(events)
            named = pa.Table.from_batches([events.select(NAME_COLUMNS)]).group_by(list(NAME_COLUMNS)).aggregate([])
            self._used.update(zip(*(named[name].to_pylist() for name in NAME_COLUMNS), strict=True))

    def commit(self) -> int | None:
        """Make rows of what was written; returns the number of the replay, null if nothing was."""
        replays, events = list(self._replays.close()), list(self._events.close())
        count = sum(file.rows for file in events)
        if not count:
            return None
        run, warehouse, number = self._run, self._warehouse, self._number
        run.before_write()
        files_at(warehouse.root).write(warehouse.replay_marker, str(number))
        _append(replays, warehouse, QUARANTINE_REPLAYS, number)
        # Before the events: lanes that find an id without a name wait for it.
        write_names(self._used, warehouse, WRITER, number)
        run.before_write()
        _append(events, warehouse, DISPATCH_EVENTS, number)
        found = newest_version_at(warehouse.table(DISPATCH_EVENTS.name))
        wanted = self._bronze_version
        invariant(found == wanted, f"replay {number}: dispatch_events is at version {found}, not {wanted}: who else wrote?")
        run.before_write()
        taken_out = _take_out(warehouse, number)
        invariant(taken_out == count, f"replay {number}: {count} lines were put back, but {taken_out} left quarantine")
        files_at(warehouse.root).delete(warehouse.replay_marker)
        return number


def _append(files: Sequence[NewFile], warehouse: Warehouse, table: Table, number: int) -> None:
    append_files(warehouse.table(table.name), table, files, (_app_id(table.name), number))


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


def _replay_rows(lines: pa.RecordBatch, events: pa.RecordBatch, run: ReplayRun, numbers: Mapping[str, int]) -> pa.RecordBatch:
    """Rows of quarantine_replays, of lines that are events and of these events."""
    schema = arrow_schema(QUARANTINE_REPLAYS.fields)

    def always(name: str, value: Any) -> pa.Array:
        return pa.repeat(pa.scalar(value, schema.field(name).type), lines.num_rows)

    columns = {
        **{name: lines[name] for name in (*LINE_KEY, "reason", "raw")},
        "rejected_batch": lines["ingest_batch"],
        "repaired": pc.is_valid(lines["repaired_text"]),
        "tombstone": pc.is_valid(lines["broker"]),
        **{name: events[name] for name in ("broker", "epoch", "seq", "ts")},
        "event_date": pa.array(event_dates(events).astype(np.int32)).cast(pa.date32()),
        **{name: always(name, number) for name, number in numbers.items()},
        "run_id": always("run_id", run.run_id),
        "code_version": always("code_version", run.code_version),
        "replayed_at": always("replayed_at", run.now),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


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
