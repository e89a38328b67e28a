"""Compute dates anew from dispatch_events, compare with the rows in the tables, and put the difference right.

For events that came late (--pending finds their dates) and for quarantined lines that were put back. With --dry-run it proves that the
tables match the log. Runs beside a live job; one `backfill`, `maintain` or `rebuild` at a time. A date of a broker is closed once its lane
has passed it: after midnight UTC, with the broker's next events; at the end of its log (--drain). Until then --pending passes the date
over, and --from leaves the broker out. What follows from a changed date is computed anew, too, until nothing changes any more. Meant to
be run once a day, after midnight UTC.

exit: 0 done, or nothing to do; 1 a date that was asked for is not closed yet; 2 it could not be done
"""

import argparse
import os
import uuid
from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from typing import Any

from console.chosen_tables import chosen_tables
from console.shown import aligned_lines, print_document
from pipeline.faults import BadConfig, BadWarehouse

EXAMPLES = """examples:
  ./spark-submit.sh backfill --warehouse /data/warehouse --pending
  ./spark-submit.sh backfill --warehouse /data/warehouse --from 2026-11-01 --to 2026-11-03 --dry-run
  ./spark-submit.sh backfill --warehouse /data/warehouse --from 2026-11-01 --broker broker-7:8080 --format json
  ./spark-submit.sh sql "SELECT * FROM backfills ORDER BY finished_at" --warehouse /data/warehouse
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `backfill`."""
    from console.settings_arguments import add_settings_arguments

    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--pending", action="store_true", help="all dates that wait: events came late, or a date before was changed")
    parser.add_argument("--from", dest="first", type=_date, metavar="DATE", help="first UTC date, as 2026-11-01")
    parser.add_argument("--to", dest="last", type=_date, metavar="DATE", help="last UTC date (default: that of --from)")
    parser.add_argument("--broker", action="append", metavar="BROKER", help="only this broker; repeatable (default: all)")
    parser.add_argument("--tables", metavar="NAMES", help="compare and replace these tables only, with commas between; the dates stay due")
    parser.add_argument("--dry-run", action="store_true", help="only show the differences; changes nothing but the table backfills")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document, as the last line (default: text)")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0 done, 1 if a date that was asked for is not closed; BadConfig for arguments, BadWarehouse for no warehouse, or one in work."""
    from pipeline.settings import load_settings

    check_arguments(args)
    settings = load_settings(args.settings, args.overrides, os.environ)
    from pipeline.repair.backfill.slices import SWAPPED_TABLES

    names = chosen_tables(args.tables, [table.name for table in SWAPPED_TABLES])
    from console.named_warehouse import existing_warehouse
    from driver.session import build_session

    if args.format == "text":
        print("starting Spark …", flush=True)
    spark = build_session("dispatch-analytics backfill")
    warehouse = existing_warehouse(args.warehouse, ("lane_snapshots",))
    document = run_backfill(spark, warehouse, settings, args, names)
    print_document(document, args.format, text_lines)
    return 1 if document["not_closed"] and not args.pending else 0


def run_backfill(spark: Any, warehouse: Any, settings: Any, args: argparse.Namespace, tables: Sequence[str]) -> dict[str, Any]:
    """`backfill` on a session: the document of what was done."""
    from console.heartbeat import Heartbeat, running_tasks
    from console.shown import say
    from driver.locked import locked
    from driver.this_machine import utc_now
    from pipeline import VERSION
    from pipeline.repair.backfill.backfill import backfill, dates_of_all
    from pipeline.repair.backfill.run import Run
    from pipeline.repair.backfill.slices import SWAPPED_TABLES
    from pipeline.upkeep.closed_dates import batch_read_for_good
    from pipeline.warehouse.lock import UpkeepLock
    from pipeline.warehouse.tables import make_report_table
    from schemas.tables.backfills import BACKFILLS

    run_id = str(uuid.uuid4())
    with locked(warehouse, run_id, UpkeepLock, spark) as lock:
        batch = batch_read_for_good(warehouse)
        if batch is None:
            raise BadWarehouse(f"lanes have not finished a micro-batch in {warehouse.root}: nothing can be compared yet")
        make_report_table(warehouse, BACKFILLS)
        tasks = partial(running_tasks, spark.sparkContext.statusTracker())
        heartbeat = Heartbeat("backfill", say if args.format == "text" else _quiet, tasks)
        chosen = [table for table in SWAPPED_TABLES if table.name in tables]
        books = (run_id, utc_now(), VERSION, batch, args.dry_run, chosen, utc_now)
        this = Run(*books, heartbeat.say, lock.verify, heartbeat.step)
        asked = None if args.pending else dates_of_all(spark, warehouse, args.first, args.last or args.first, args.broker)
        if args.broker and not asked:
            raise BadConfig(f"--broker {', '.join(args.broker)}: no event of these dates in {warehouse.table('dispatch_events')}")
        with heartbeat.beating():
            return backfill(spark, warehouse, settings, this, asked)


def check_arguments(args: argparse.Namespace) -> None:
    """Raise BadConfig unless either --pending or a range of dates is given."""
    if args.pending == (args.first is not None):
        raise BadConfig("name the dates: either --pending, or --from DATE [--to DATE]")
    if args.pending and (args.last is not None or args.broker is not None):
        raise BadConfig("--pending takes every date that waits: --to and --broker go with --from")
    if args.last is not None and args.last < args.first:
        raise BadConfig(f"--to {args.last} is before --from {args.first}")


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """A line per broker, range and table that differs; then what could not be done."""
    columns = ["broker", "first", "last", "why", "table", "rows found", "computed", "added", "removed", "changed"]
    rows = []
    for one in document["done"]:
        for name, table in one["tables"].items():
            if table["dates"]:
                counts = [table[key] for key in ("found", "computed", "added", "removed", "changed")]
                rows.append([one["broker"], str(one["first_date"]), str(one["last_date"]), one["reason"], name, *counts])
    if rows:
        yield from aligned_lines(columns, rows)
        yield f"{'would be' if document['dry_run'] else 'were'} replaced; examples: --format json; run {document['run_id']}"
    equal = sum(not any(table["dates"] for table in one["tables"].values()) for one in document["done"])
    if equal:
        yield f"{equal} range{'s' if equal > 1 else ''} of dates computed anew, equal to what is there"
    if not document["done"] and not document["not_closed"]:
        yield "no date waits"
    yield from _passed_over(document["not_closed"])


def _passed_over(not_closed: Iterable[dict[str, Any]]) -> Iterable[str]:
    """A line per date that is not closed, with the first of its brokers."""
    from pipeline.repair.backfill.backfill import some_of

    brokers: dict[date, list[str]] = {}
    for one in not_closed:
        brokers.setdefault(one["date"], []).append(one["broker"])
    for day, waiting in sorted(brokers.items()):
        yield (
            f"{day} is not closed yet, it was passed over: {some_of(waiting)}. It closes when their lanes have passed it (after midnight "
            "UTC, or at the end of their logs). Then `backfill --pending` counts what came late"
        )


def _date(text: str) -> date:
    return date.fromisoformat(text)


def _quiet(line: str) -> None:
    """Progress has no place beside a document."""
