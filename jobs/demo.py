"""A real broker's log through the real job, and its figures beside the broker's own counters.

The log of 85 s of a busy shop in trouble lies in demo/y_incident: seven topics, limits on every level, 79,000 events.
The demo prints who is behind, and why. Then it compares figures with the broker's own: six throttle counters of each subscription, the
eviction counters of each topic, the buckets of check durations, the counters of paused and resumed connections. If one differs, it exits
with 1.
"""

import argparse

from console.address import DEFAULT

EXAMPLES = """examples:
  ./spark-submit.sh demo
  ./spark-submit.sh demo --warehouse /tmp/demo --master 'local[2]'
  ./spark-submit.sh demo --serve
  ./spark-submit.sh demo --live --serve
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `demo`."""
    parser.add_argument(
        "--warehouse",
        default="./warehouse/demo",
        metavar="URI",
        help="made anew each time; refused unless the demo made it (default: ./warehouse/demo)",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="start a real broker with the collector, and a load with trouble in it; watch the tables change. Three minutes;"
        " the first time Pulsar is fetched (245 MB)",
    )
    parser.add_argument("--tables", action="store_true", help="the broker's figures and ours, figure by figure (default: a line)")
    parser.add_argument("--serve", action="store_true", help="go on with the page until Ctrl-C; with --live it is there from the begin on")
    parser.add_argument("--listen", default=DEFAULT, metavar="HOST:PORT", help=f"of --serve, on this machine (default: {DEFAULT})")


def run(args: argparse.Namespace) -> int:
    """Run the job, print the answer and the proof. 0: everything equal. BadConfig for an address where no page can be."""
    page = None
    if args.serve:
        from demo.page import Page

        page = Page(args.listen)
    if args.live:
        from demo.live import run_live

        return run_live(args.warehouse, page, tables=args.tables)
    from demo.bundled import run_bundled

    return run_bundled(args.warehouse, page, tables=args.tables)
