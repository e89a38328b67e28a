"""Why is every subscription behind: a line each, the largest backlog × time first. It only reads; `explain` has more about one."""

import argparse

from jobs.reader import look_at
from jobs.sql import write_rows
from pipeline.visible import visible

EXAMPLES = """examples:
  ./spark-submit.sh why --warehouse ./warehouse/demo
  ./spark-submit.sh why --all --format json --warehouse /data/dispatch
"""
#: What people see; csv and json have all columns of the view.
SHOWN = (
    "topic",
    "subscription",
    "status",
    "cause",
    "level",
    "dimension",
    "share",
    "since",
    "backlog",
    "waiting",
    "next_cause",
    "next_share",
)
#: Statuses of those that are well.
WELL = ("current", "keeping up")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `why`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--all", action="store_true", help="also those that are well (default: those that are behind)")
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="json: one object per line (default: table)")


def run(args: argparse.Namespace) -> int:
    """Print the view `why`; 0 whatever it says. BadWarehouse where no warehouse is."""
    from pipeline.verdict.no_event import nothing_words

    look = look_at(args.warehouse, ("subscription_causes",))
    rows = look.rows("SELECT * FROM why")
    behind = [row for row in rows if args.all or row["status"] not in WELL]
    if args.format == "table" and not behind:
        print(f"none of {len(rows):,} subscriptions is behind" if rows else visible(nothing_words(look)))
        return 0
    several = len({row["broker"] for row in rows}) > 1
    columns = [*(("broker",) if several else ()), *SHOWN] if args.format == "table" else list(rows[0] if rows else ())
    write_rows(columns, [[row[name] for name in columns] for row in behind], args.format)
    return 0
