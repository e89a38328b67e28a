"""A real broker's log through the real job, and its figures beside the broker's own counters.

The log of 85 s of a busy shop in trouble lies in demo/y_incident: seven topics, limits on every level, 79,000 events.
The demo compares these with the broker's own: six throttle counters of each subscription, the eviction counters of each topic, the buckets
of check durations, the counters of paused and resumed connections. If one differs, it exits with 1.
"""

import argparse

EXAMPLES = """examples:
  ./spark-submit.sh demo
  ./spark-submit.sh demo --warehouse /tmp/demo --master 'local[2]'
  ./spark-submit.sh demo --live
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


def run(args: argparse.Namespace) -> int:
    """Run the job, print the findings, compare. 0: everything equal."""
    if args.live:
        from demo.live import run_live

        return run_live(args.warehouse)
    from demo.bundled import run_bundled

    return run_bundled(args.warehouse)
