"""Run SQL over the tables and views of a warehouse, each under its plain name. It only reads: queries, SHOW, DESCRIBE, EXPLAIN."""

import argparse
import csv
import sys
from collections.abc import Sequence
from typing import Any

from jobs.reader import ROOM, SPARK, open_room, say_by_spark, why_by_spark
from jobs.shown import aligned
from pipeline.faults import BadConfig
from pipeline.visible import WIDEST, visible, visible_json

EXAMPLES = """examples:
  ./spark-submit.sh sql "SHOW VIEWS" --warehouse ./warehouse/demo
  ./spark-submit.sh sql "SELECT * FROM throttled_now" --warehouse ./warehouse/demo
  ./spark-submit.sh sql "SELECT * FROM log_balance" --warehouse /data/live --consistent
  ./spark-submit.sh sql "SELECT topic, sum(dispatched_msgs) AS msgs FROM subscription_throttle GROUP BY topic" --warehouse W --format csv
  ./spark-submit.sh sql "SELECT * FROM brokers" --engine spark --warehouse hdfs://name/dispatch
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `sql`."""
    parser.add_argument("query", metavar="SQL", help="one statement")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help=f"json: one object per line; table cuts texts of more than {WIDEST} characters, the others do not (default: table)",
    )
    parser.add_argument(
        "--consistent",
        action="store_true",
        help="read all tables as the newest whole micro-batches left them, not each at its newest version",
    )
    parser.add_argument(
        "--engine",
        choices=(ROOM, SPARK),
        default=ROOM,
        help="who answers: room, in a second (default), or spark, in half a minute: for functions that only Spark has",
    )
    parser.add_argument("--max-rows", type=int, default=1000, metavar="N", help="print at most N rows (default: 1000)")


def run(args: argparse.Namespace) -> int:
    """Print the rows; BadConfig for bad SQL or for what is no query, BadWarehouse where no warehouse is."""
    if args.max_rows < 1:
        raise BadConfig(f"--max-rows {args.max_rows}: must be 1 or more")
    answer = asked(args)
    if answer.is_plan and args.format == "table":
        print("\n".join(visible(line) for (line,) in answer.rows))
    else:
        write_rows(answer.columns, answer.rows, args.format)
    if answer.more:
        print(f"… more rows follow; --max-rows {args.max_rows} cut them", file=sys.stderr)
    return 0


def asked(args: argparse.Namespace) -> Any:
    """The answer (`columns`, `rows`, `more`) of the room; of Spark where it is asked for, or where only it can read."""
    from pipeline.reading.delta_table import OnlySpark

    reason = why_by_spark(args.warehouse, args.engine)
    if reason is None:
        try:
            return open_room(args.warehouse, consistent=args.consistent).ask(args.query, args.max_rows)
        except OnlySpark as fault:
            reason = str(fault)
    say_by_spark(reason)
    return asked_of_spark(args)


def asked_of_spark(args: argparse.Namespace) -> Any:
    """The same answer by Spark."""
    from pyspark.errors import PySparkException

    from jobs.driver import existing_warehouse
    from jobs.session import SHORT_JOB, build_session
    from pipeline.reading.answer import Answer
    from pipeline.reading.by_spark import SparkLook, in_utc
    from pipeline.reading.spark_statement import refuse_what_is_no_query
    from pipeline.reading.statement import is_explained
    from pipeline.views.catalog import named_in
    from pipeline.views.register import register
    from pipeline.warehouse.newest_cut import newest_cut

    spark = build_session("dispatch-analytics sql", SHORT_JOB)
    warehouse = existing_warehouse(spark, args.warehouse)
    refuse_what_is_no_query(spark, args.query)
    cut = newest_cut(SparkLook(spark, warehouse)) if args.consistent else None
    # SHOW and DESCRIBE ask for names; what refers to no name at all deserves an error that suggests one.
    register(spark, warehouse, cut, args.query if named_in(args.query) else None)
    try:
        frame = spark.sql(args.query)
        rows = frame.limit(args.max_rows + 1).collect() if frame.columns else []
    except PySparkException as refused:
        raise BadConfig(f"SQL: {first_line(str(refused))}") from refused
    if is_explained(args.query):
        return Answer(frame.columns, [(line,) for (plan,) in rows for line in plan.splitlines()], is_plan=True)
    shown = [tuple(in_utc(value) for value in row) for row in rows[: args.max_rows]]
    return Answer(frame.columns, shown, len(rows) > args.max_rows)


def first_line(message: str) -> str:
    """The first line of a Spark error, without its plan and stack trace."""
    return message.strip().splitlines()[0]


def write_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: str) -> None:
    """Print to stdout as an aligned table, CSV with a head, or JSON lines (times as ISO 8601).

    Names are visible in a table and, by JSON's own escapes, in JSON. CSV has no escapes: it has texts as they are.
    """
    if form == "json":
        for row in rows:
            print(visible_json(dict(zip(columns, row, strict=True)), str))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    else:
        print(aligned(columns, rows, "--format json has all of it"))
