"""Look after the files of a warehouse: delete old rows, merge small files, remove files that are no longer needed.

Runs beside a live job and readers; one `maintain` at a time. Removes no file that lanes have not read, nor one that a consistent cut
still reads. Meant to be run once a day. --dry-run shows what would be done and changes nothing.
"""

import argparse
import os
import uuid
from collections.abc import Iterable
from typing import Any

from console.chosen_tables import chosen_tables
from console.shown import aligned_lines, print_document

EXAMPLES = """examples:
  ./spark-submit.sh maintain --warehouse /data/warehouse --dry-run
  ./spark-submit.sh maintain --warehouse /data/warehouse
  ./spark-submit.sh maintain --warehouse /data/warehouse --tables dispatch_events,batch_manifest --format json
  ./spark-submit.sh maintain --warehouse /data/warehouse --set maintain.keep_days=dispatch_events:90,quarantine:90
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `maintain`."""
    from console.settings_arguments import add_settings_arguments

    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--dry-run", action="store_true", help="only show the changes")
    parser.add_argument("--tables", metavar="NAMES", help="these tables only, with commas between (default: all)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document, as the last line (default: text)")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Do it and print what was done; BadConfig for an unknown table or setting, BadWarehouse for no warehouse, or one in work."""
    from pipeline.settings import load_settings
    from schemas.tables import JOB_TABLES, TABLES_BY_NAME

    tables = chosen_tables(args.tables, list(TABLES_BY_NAME))
    settings = load_settings(args.settings, args.overrides, os.environ).maintain
    from console.named_warehouse import existing_warehouse
    from console.shown import say
    from driver.locked import locked
    from driver.this_machine import utc_now
    from pipeline.upkeep.maintain import maintain
    from pipeline.warehouse.lock import UpkeepLock
    from pipeline.warehouse.tables import existing_tables

    warehouse = existing_warehouse(args.warehouse, [table.name for table in JOB_TABLES])
    existing = existing_tables(warehouse)
    with locked(warehouse, str(uuid.uuid4()), UpkeepLock) as lock:

        def before_each(table: str) -> None:
            lock.verify()
            if args.format == "text":
                say(f"{table} …")

        document = maintain(
            warehouse,
            settings,
            [name for name in tables if name in existing],
            utc_now(),
            changes=not args.dry_run,
            before_each=before_each,
        )
    print_document(document, args.format, text_lines)
    return 0


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """What was done, a line per table; then why something was not."""
    yield f"{document['warehouse']}{': would do' if document['dry_run'] else ''}"
    yield f"dates before {document['first_open_date']} are closed" if document["first_open_date"] else "no date is closed yet"
    columns = ["table", "bytes", "files", "small", "rows deleted", "files merged", "into", "removed", "bytes removed"]
    keys = ["bytes", "files", "small_files", "deleted_rows", "merged_files", "into_files", "removed_files", "removed_bytes"]
    yield from aligned_lines(columns, [[name, *(table[key] for key in keys)] for name, table in document["tables"].items()])
    for name, table in document["tables"].items():
        if table["not_removed_because"]:
            yield f"{name}: no file removed: {table['not_removed_because']}"
    if document["leftovers"]:
        yield f"notes of finished micro-batches: {document['leftovers']}"
