"""Make the collector: the Java agent that writes a broker's dispatch-event log. Or check whether a broker has the points of its hooks.

The jar is collector/target/dispatch-collector.jar. docs/guide/collector.md describes how to add it to a broker.
"""

import argparse
from pathlib import Path

from tools.collector_jar import build, points

EXAMPLES = """examples:
  ./spark-submit.sh collector build
  ./spark-submit.sh collector points --broker /pulsar

exit: 0 done, points: all are there; 1 the build or a test failed, points: some are missing; 2 bad arguments
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `collector`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("build", help="compile, test and pack the jar, with Maven; it is fetched where there is none")
    points = actions.add_parser("points", help="which points of its hooks a broker's version has")
    points.add_argument("--broker", required=True, metavar="DIR", help="folder of an unpacked Pulsar, or of its jars")


def run(args: argparse.Namespace) -> int:
    """Does `args.action`; returns the exit status."""
    return build() if args.action == "build" else points(Path(args.broker))
