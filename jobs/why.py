"""Why is every subscription behind: a line each, the largest backlog × time first. It only reads; `explain` has more about one."""

import argparse
from collections.abc import Sequence
from typing import Any

from console.named_warehouse import look_at_causes
from console.rows import write_rows
from pipeline.query.views.status_words import WELL
from pipeline.times import time_of
from pipeline.visible import visible

EXAMPLES = """examples:
  ./spark-submit.sh why --warehouse ./warehouse/demo
  ./spark-submit.sh why --all --format json --warehouse /data/dispatch
  ./spark-submit.sh why --at 2026-11-21T11:47:00Z --warehouse ./warehouse/demo
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
#: Below a table with such rows.
STOPPED = "broker_stopped: how it is since then is not known; backlog is of the last quota check, all else of the last window of the log"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `why`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--all", action="store_true", help="also those that are well (default: those that are behind, or not known)")
    parser.add_argument("--at", metavar="TIME", help="ISO 8601 with its zone, as 2026-11-21T11:30:05.5Z (default: the newest window)")
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="json: one object per line (default: table)")


def run(args: argparse.Namespace) -> int:
    """Print the view `why`; 0 whatever it says. BadConfig for a bad time, BadWarehouse where no warehouse is."""
    from pipeline.diagnosis.no_event import why_no_row
    from pipeline.query.views.why_at import why_sql

    at = None if args.at is None else time_of("--at", args.at)
    look = look_at_causes(args.warehouse)
    rows = look.rows(why_sql(at))
    chosen = [row for row in rows if args.all or row["status"] not in WELL]
    if args.format == "table" and not chosen:
        print(f"none of {len(rows):,} subscriptions is behind {_as_of(rows)}" if rows else visible(why_no_row(look, args.at)))
        return 0
    several = len({row["broker"] for row in rows}) > 1
    reasons = ("unknown_reason",) if any(row["unknown_reason"] for row in chosen) else ()
    shown = (*(("broker", "as_of") if several else ()), *SHOWN[:3], *reasons, *SHOWN[3:])
    columns = shown if args.format == "table" else list(rows[0] if rows else ())
    write_rows(columns, [[row[name] for name in columns] for row in chosen], args.format)
    if args.format == "table":
        print(f"\n{_as_of(rows)}")
        if any(row["unknown_reason"] == "broker_stopped" for row in chosen):
            print(STOPPED)
    return 0


def _as_of(rows: Sequence[dict[str, Any]]) -> str:
    """The instant of the answers, and up to when other causes would be known: of several brokers the first and the last one."""
    from pipeline.diagnosis.instants import time_words

    def span(name: str) -> str:
        instants = sorted({time_words(row[name]) for row in rows})
        return " to ".join(dict.fromkeys((instants[0], instants[-1])))

    as_of, until = span("as_of"), span("known_until")
    return f"as of {as_of}" if as_of == until else f"as of {as_of}; changes of causes are known until {until}"
