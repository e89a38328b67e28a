"""Run SQL over the tables and views of a warehouse, each under its plain name. It only reads: queries, SHOW, DESCRIBE, EXPLAIN."""

import argparse
import sys

from console.named_warehouse import look_at
from console.rows import write_rows
from pipeline.faults import BadConfig
from pipeline.visible import WIDEST, visible

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
    parser.add_argument("--max-rows", type=int, default=1000, metavar="N", help="print at most N rows (default: 1000)")


def run(args: argparse.Namespace) -> int:
    """Print the rows; BadConfig for bad SQL or for what is no query, BadWarehouse where no warehouse is."""
    if args.max_rows < 1:
        raise BadConfig(f"--max-rows {args.max_rows}: must be 1 or more")
    answer = look_at(args.warehouse, consistent=args.consistent).ask(args.query, args.max_rows)
    if answer.is_plan and args.format == "table":
        print("\n".join(visible(line) for (line,) in answer.rows))
    else:
        write_rows(answer.columns, answer.rows, args.format)
    if answer.more:
        print(f"… more rows follow; --max-rows {args.max_rows} cut them", file=sys.stderr)
    return 0
