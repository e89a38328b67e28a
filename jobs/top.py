"""The worst subscriptions, live: in a terminal a screen that refreshes, else the same rows once as text. It only reads.

keys: b, a, t order by backlog × time, age, time to the next breach of a quota; Enter looks into one; Escape goes back; q quits.
"""

import argparse
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from console.named_warehouse import look_at_causes
from console.shown import aligned
from pipeline.faults import BadConfig
from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.warehouse.look import Look

EXAMPLES = """examples:
  ./spark-submit.sh top --warehouse ./warehouse/demo
  ./spark-submit.sh top --order age --every 5 --warehouse /data/dispatch
"""
#: How far back the look into one goes.
_WINDOW = timedelta(minutes=10)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `top`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument(
        "--order", choices=("backlog", "age", "breach"), default="backlog", help="first column of the order (default: backlog)"
    )
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="how often a terminal is refreshed (default: 2)")


def run(args: argparse.Namespace) -> int:
    """Show them until somebody quits, or print them once. BadWarehouse where no warehouse is."""
    if not 0.1 <= args.every <= 3600:
        raise BadConfig(f"--every {args.every:g}: must be 0.1 to 3600 seconds")
    look = look_at_causes(args.warehouse)
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        print(text(look, args.order))
        return 0
    from console.top_screen import TopScreen

    TopScreen(lambda: fresh_rows(look), lambda row: details(look, row), args.order, args.every).run()
    return 0


def text(look: "Look", order: str) -> str:
    """All rows as a table, and the instant that they are of."""
    from pipeline.diagnosis.instants import time_words
    from pipeline.diagnosis.no_event import nothing_words
    from pipeline.diagnosis.ranking import COLUMNS, cells, newest, ordered, worst

    rows = ordered(worst(look), order)
    if not rows:
        return visible(nothing_words(look))
    as_of = newest(rows)
    table = aligned(COLUMNS, [cells(row) for row in rows], "`why --all --format json` has all of it")
    return table if as_of is None else f"{table}\n\nas of {time_words(as_of)}"


def fresh_rows(look: "Look") -> list[dict[str, Any]]:
    """As the tables are now."""
    from pipeline.diagnosis.ranking import worst

    refresh = getattr(look, "refresh", None)  # Spark reads the newest versions by itself
    if refresh is not None:
        refresh()
    return worst(look)


def details(look: "Look", row: dict[str, Any]) -> list[str]:
    """What `explain` says of one."""
    from pipeline.diagnosis.answer import answer
    from pipeline.diagnosis.words import text_lines

    return [visible(line) for line in text_lines(answer(look, row["topic"], row["subscription"], row["broker"], None, _WINDOW))]
