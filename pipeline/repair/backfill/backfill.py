"""Backfill in rounds: dates are planned, computed anew, compared and swapped; what begins from a changed snapshot is the next round."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

from pyspark.sql import SparkSession

from pipeline.faults import invariant
from pipeline.lanes.timing import lane_timing
from pipeline.query.newest_room import NewestRoom
from pipeline.query.room import ReadingRoom
from pipeline.repair.backfill.compare import compare
from pipeline.repair.backfill.difference import Difference
from pipeline.repair.backfill.due_dates import Due, carried_dates, late_dates, waiting_events, without_last
from pipeline.repair.backfill.ledger import append_entries
from pipeline.repair.backfill.plan import plan
from pipeline.repair.backfill.run import Done, Run
from pipeline.repair.backfill.slices import Rows, rows_there
from pipeline.repair.backfill.staging import stage, staged_tables
from pipeline.repair.backfill.stretch import Dates, NotClosed
from pipeline.repair.backfill.swap import mark_late_events, swap
from pipeline.settings import Settings
from pipeline.store.files import files_at
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.render.arrow import arrow_schema

#: Comparing a table of many rows is several small jobs of Spark, and a commit waits for the file system more than it works.
TABLES_AT_ONCE = 4
NAMED_BROKERS = 5


def backfill(spark: SparkSession, warehouse: Warehouse, settings: Settings, run: Run, asked: Sequence[Due] | None) -> dict[str, Any]:
    """Compute dates anew, and all that follow from them. `asked`: a range per broker; None: all that wait. Returns what was done.

    A round takes one range of each broker, epochs beside each other. Raises BrokenInvariant if a round leaves its dates due.
    """
    done: list[Done] = []
    not_closed: dict[str, NotClosed] = {}
    seen: set[Due] = set()
    look = NewestRoom(warehouse)
    due = list(asked) if asked is not None else _waiting(look, run)
    while due:
        this_round = _first_per_broker(due)
        again = seen & set(this_round)
        invariant(not again, f"a backfill left its dates due: {', '.join(str(one.dates) for one in again)}")
        seen |= set(this_round)
        run.step(f"planning ranges of dates {_places(len(done), len(this_round), len(due))}")
        finished, still_open = _round(spark, look, settings, run, this_round)
        done += finished
        not_closed |= still_open
        if run.dry_run or run.is_partial:
            due = [one for one in due if one not in this_round]
        elif asked is None:
            due = _waiting(look, run)
        else:
            due = [one for one in carried_dates(look) if one.dates.broker in {one.due.dates.broker for one in done}]
        # Dates before the one that is not closed need not wait for it.
        shorter = [without_last(one) for one in this_round if asked is None and one.dates.broker in still_open]
        due = [*filter(None, shorter), *(one for one in due if one.dates.broker not in not_closed)]
    return _document(warehouse, run, done, not_closed)


def _waiting(look: ReadingRoom, run: Run) -> list[Due]:
    return [*late_dates(look, run.ingest_batch), *carried_dates(look)]


def _first_per_broker(due: Sequence[Due]) -> list[Due]:
    """The earliest range of each broker: a later one begins where it ends."""
    first: dict[str, Due] = {}
    for one in sorted(due, key=lambda one: (one.dates.first, one.reason != "late")):
        first.setdefault(one.dates.broker, one)
    return list(first.values())


def _round(
    spark: SparkSession, look: ReadingRoom, settings: Settings, run: Run, due: Sequence[Due]
) -> tuple[list[Done], dict[str, NotClosed]]:
    """Compute one range of dates of each broker. Returns what was done, and why brokers' dates could not be."""
    warehouse = look.warehouse
    planned = plan(spark, look, [one.dates for one in due], run.ingest_batch)
    if not planned.dates:
        return [], planned.not_closed
    reasons = {one.dates.broker: one.reason for one in due}
    dates = list(planned.dates)
    for line in range_lines(dates, reasons):
        run.say(line)
    run.step(f"computing {_count(dates)} anew")
    folder = f"{warehouse.staging}/{run.run_id}"
    files = files_at(folder)
    files.delete(folder)
    try:
        stage(spark, warehouse, planned.stretches, run.ingest_batch, lane_timing(settings), f"{folder}/outcomes")
        computed = staged_tables(spark, warehouse, f"{folder}/outcomes", dates)
        # Before lane_snapshots is swapped: its milestones show where a date ended, and so which events are of it.
        late = waiting_events(look, run.ingest_batch, dates)
        finished = _compare_and_swap(spark, warehouse, run, dates, reasons, computed, folder)
        if late.num_rows and not run.dry_run and not run.is_partial:
            mark_late_events(late, warehouse, run.run_id)
    finally:
        files.delete(folder)
    append_entries(warehouse, run, settings, finished)
    return finished, planned.not_closed


def range_lines(dates: Iterable[Dates], reasons: Mapping[str, str]) -> Iterable[str]:
    """A line per range and reason, with the first of its brokers: there may be hundreds."""
    groups: dict[str, list[str]] = {}
    for one in dates:
        groups.setdefault(f"{one.first} to {one.last} ({reasons[one.broker]})", []).append(one.broker)
    for heading, brokers in groups.items():
        yield f"{heading}: {some_of(brokers)}"


def some_of(brokers: Sequence[str]) -> str:
    """The first of them by name, and how many more there are."""
    more = f" and {len(brokers) - NAMED_BROKERS} more" if len(brokers) > NAMED_BROKERS else ""
    return f"{', '.join(brokers[:NAMED_BROKERS])}{more}"


def _places(before: int, now: int, waiting: int) -> str:
    """Which ranges of dates a round takes, of all that are known to wait: `3 to 5 of 9`."""
    return f"{before + 1} to {before + now} of {before + waiting}"


def _count(dates: Sequence[Dates]) -> str:
    return f"{len(dates)} range{'s' if len(dates) > 1 else ''} of dates"


def _compare_and_swap(
    spark: SparkSession,
    warehouse: Warehouse,
    run: Run,
    dates: list[Dates],
    reasons: dict[str, str],
    computed: dict[str, Rows],
    folder: str,
) -> list[Done]:
    finished = {one.broker: Done(Due(one, reasons[one.broker]), {}, {}) for one in dates}
    versions = {table.name: newest_version_at(warehouse.table(table.name)) for table in run.tables}

    def of_table(table: Table) -> Rows:
        return computed[table.name] if table.name in computed else arrow_schema(table.fields).empty_table()

    def compared(table: Table) -> dict[str, Difference]:
        found = rows_there(spark, warehouse.table(table.name), versions[table.name], table, dates)
        return compare(spark, found, of_table(table), table, dates)

    def swapped(table: Table) -> None:
        for broker, one in finished.items():
            if one.differences[table.name].dates:
                run.before_swap()
                swap(of_table(table), warehouse, table, broker, one.differences[table.name].dates, f"{folder}/swapped")

    run.step(f"{_count(dates)} computed; comparing {len(run.tables)} tables")
    with ThreadPoolExecutor(TABLES_AT_ONCE) as threads:
        for number, (table, by_broker) in enumerate(zip(run.tables, threads.map(compared, run.tables), strict=True), 1):
            run.step(f"{_count(dates)} computed; compared {number} of {len(run.tables)} tables")
            for broker, difference in by_broker.items():
                finished[broker].differences[table.name] = difference
                finished[broker].based_on[table.name] = versions[table.name]
        if not run.dry_run:
            run.step(f"{_count(dates)} computed and compared; replacing what differs")
            *most, last = run.tables
            list(threads.map(swapped, most))
            swapped(last)  # alone: of all tables it is lane_snapshots
    return list(finished.values())


def _document(warehouse: Warehouse, run: Run, done: Sequence[Done], not_closed: Mapping[str, NotClosed]) -> dict[str, Any]:
    return {
        "warehouse": warehouse.root,
        "run_id": run.run_id,
        "dry_run": run.dry_run,
        "ingest_batch": run.ingest_batch,
        "done": [
            {
                "broker": one.due.dates.broker,
                "first_date": one.due.dates.first,
                "last_date": one.due.dates.last,
                "reason": one.due.reason,
                "tables": {name: _shown(difference) for name, difference in one.differences.items()},
            }
            for one in done
        ],
        "not_closed": [{"broker": broker, "date": why.date, "why": str(why)} for broker, why in sorted(not_closed.items())],
    }


def _shown(difference: Difference) -> dict[str, Any]:
    counts = ("found", "computed", "added", "removed", "changed")
    return {**{name: getattr(difference, name) for name in counts}, "dates": sorted(difference.dates), "examples": difference.examples}


def dates_of_all(spark: SparkSession, warehouse: Warehouse, first: date, last: date, brokers: Sequence[str] | None) -> list[Due]:
    """The range for every broker with events in it; with `brokers` only for these."""
    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    rows = bronze.where(f"event_date BETWEEN '{first}' AND '{last}'").select("broker").distinct().collect()
    present = sorted(row.broker for row in rows if brokers is None or row.broker in brokers)
    return [Due(Dates(broker, first, last), "asked") for broker in present]
