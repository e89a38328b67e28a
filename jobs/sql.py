"""Run SQL over the tables and views of a warehouse, each under its plain name."""

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from typing import Any

from jobs.shown import aligned
from pipeline.faults import BadConfig

EXAMPLES = """examples:
  ./spark-submit.sh sql "SHOW VIEWS" --warehouse ./warehouse/demo
  ./spark-submit.sh sql "SELECT * FROM throttled_now" --warehouse ./warehouse/demo
  ./spark-submit.sh sql "SELECT * FROM log_balance" --warehouse /data/live --consistent
  ./spark-submit.sh sql "SELECT topic, sum(dispatched_msgs) AS msgs FROM subscription_throttle GROUP BY topic" --warehouse W --format csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `sql`."""
    parser.add_argument("query", metavar="SQL", help="one statement")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="json: one object per line (default: table)")
    parser.add_argument(
        "--consistent",
        action="store_true",
        help="read all tables as the newest whole micro-batches left them, not each at its newest version",
    )
    parser.add_argument("--max-rows", type=int, default=1000, metavar="N", help="print at most N rows (default: 1000)")


def run(args: argparse.Namespace) -> int:
    """Print the rows; BadConfig for bad SQL, BadWarehouse where no warehouse is."""
    if args.max_rows < 1:
        raise BadConfig(f"--max-rows {args.max_rows}: must be 1 or more")
    from pyspark.errors import PySparkException

    from jobs.driver import existing_warehouse
    from jobs.session import SHORT_JOB, build_session
    from pipeline.views.catalog import named_in, register
    from pipeline.warehouse.cut import newest_cut

    spark = build_session("dispatch-analytics sql", SHORT_JOB)
    warehouse = existing_warehouse(spark, args.warehouse)
    cut = newest_cut(spark, warehouse) if args.consistent else None
    # SHOW and DESCRIBE ask for names; what refers to no name at all deserves an error that suggests one.
    register(spark, warehouse, cut, args.query if named_in(args.query) else None)
    try:
        frame = spark.sql(args.query)
        rows = frame.limit(args.max_rows + 1).collect() if frame.columns else []
    except PySparkException as refused:
        raise BadConfig(f"SQL: {first_line(str(refused))}") from refused
    write_rows(frame.columns, [tuple(row) for row in rows[: args.max_rows]], args.format)
    if len(rows) > args.max_rows:
        print(f"… more rows follow; --max-rows {args.max_rows} cut them", file=sys.stderr)
    return 0


def first_line(message: str) -> str:
    """The first line of a Spark error, without its plan and stack trace."""
    return message.strip().splitlines()[0]


def write_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: str) -> None:
    """Print to stdout as an aligned table, CSV with a head, or JSON lines (times as ISO 8601)."""
    if form == "json":
        for row in rows:
            print(json.dumps(dict(zip(columns, row, strict=True)), default=str, ensure_ascii=False))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    else:
        print(aligned(columns, rows))
