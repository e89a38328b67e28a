"""An incident as one HTML file for people who were not there: the events in time order, causes, lost messages. It only reads.

The file has everything in it: no script, no network. It is read well in light and dark, and on paper.
"""

import argparse
from pathlib import Path

from console.named_warehouse import look_at_causes
from pipeline.faults import BadConfig
from pipeline.times import span_of, time_of

EXAMPLES = """examples:
  ./spark-submit.sh report --warehouse ./warehouse/demo --out incident.html
  ./spark-submit.sh report --at 2026-11-21T11:48:00Z --window 1h --out incident.html --warehouse /data/dispatch
  ./spark-submit.sh report --from 2026-11-21T11:00:00Z --to 2026-11-21T12:00:00Z --out incident.html --warehouse /data/dispatch
"""
#: Subscriptions whose limit is doubled in a replay: each takes seconds.
MOST_DOUBLED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `report`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--out", required=True, metavar="FILE", help="the file to write; one that is there is replaced")
    parser.add_argument("--at", metavar="TIME", help="the end: ISO 8601 with its zone (default: the newest window)")
    parser.add_argument("--window", default="30m", metavar="TIME", help="how far back from --at: 90s, 10m, 2h, 1d (default: 30m)")
    parser.add_argument("--from", dest="start", metavar="TIME", help="instead of --window: the begin")
    parser.add_argument("--to", metavar="TIME", help="instead of --at: the end")


def run(args: argparse.Namespace) -> int:
    """Write the page. BadConfig for a bad time, an empty stretch or a file that cannot be written, BadWarehouse where no warehouse is."""
    if args.at is not None and args.to is not None:
        raise BadConfig("--at and --to: both are the end, give one of them")
    end = next((time_of(option, text) for option, text in (("--at", args.at), ("--to", args.to)) if text is not None), None)
    start = None if args.start is None else time_of("--from", args.start)
    if start is not None and end is not None and start >= end:
        raise BadConfig(f"--from {args.start}: is not before the end, {args.at or args.to}")
    from pipeline.pages.report.page import page
    from pipeline.pages.report.story import story
    from pipeline.what_if.doubled import doubled

    look = look_at_causes(args.warehouse)
    told = story(look, start, end, span_of("--window", args.window))
    held = [number for number, one in enumerate(told.answers) if one["cause"] == "throttled"][:MOST_DOUBLED]
    text = page(told, {number: doubled(look, told.answers[number]) or [] for number in held})
    try:
        Path(args.out).write_text(text, encoding="utf-8")
    except OSError as fault:
        raise BadConfig(f"--out {args.out}: {fault.strerror}") from fault
    print(f"{args.out}: {len(text.encode()):,} bytes")
    return 0
