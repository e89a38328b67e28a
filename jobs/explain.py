"""Why is this subscription behind: the cause, the outlook, the action. In words, with figures; it only reads.

The answer is about whole windows: the last --window before --at, or before the end of the broker's newest window.
Without a subscription: who fills the quotas of the topic, and since when producers are shut out, at its last quota check.
exit: 0 it is well; 1 it is behind, or a quota is exceeded, or nobody knows; 2 there is no answer, and a line on stderr has the reason.
"""

import argparse
import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from jobs.instants import time_of
from jobs.reader import look_at_causes
from jobs.shown import print_document
from pipeline.faults import BadConfig

EXAMPLES = """examples:
  ./spark-submit.sh explain persistent://shop/eu/orders billing --warehouse ./warehouse/demo
  ./spark-submit.sh explain persistent://shop/eu/orders --warehouse ./warehouse/demo
  ./spark-submit.sh explain persistent://shop/eu/orders billing --at 2026-11-21T11:47:00Z --window 2m --warehouse ./warehouse/demo
  ./spark-submit.sh explain persistent://shop/eu/orders billing --format json --warehouse /data/dispatch
"""
WELL, BEHIND = 0, 1
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `explain`."""
    parser.add_argument("topic", metavar="TOPIC", help="full name, as persistent://shop/eu/orders")
    parser.add_argument("subscription", metavar="SUBSCRIPTION", nargs="?", help="without one: who fills the quotas of the topic")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--broker", metavar="NAME", help="of several that had the topic (default: the last one)")
    parser.add_argument("--at", metavar="TIME", help="ISO 8601 with its zone, as 2026-11-21T11:30:05.5Z (default: the newest window)")
    parser.add_argument("--window", default="10m", metavar="TIME", help="how far back: 90s, 10m, 2h, 1d (default: 10m)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (keys: docs/reference/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print the answer. Raises NoAnswer where there is none, BadConfig for a bad time, BadWarehouse where no warehouse is."""
    at = None if args.at is None else time_of("--at", args.at)
    window = span_of("--window", args.window)
    look = look_at_causes(args.warehouse)
    if args.subscription is None:
        from pipeline.verdict.topic_answer import is_well, text_lines, topic_answer

        found = topic_answer(look, args.topic, args.broker, at)
        print_document(found, args.format, text_lines)
        return WELL if is_well(found) else BEHIND
    from pipeline.verdict.answer import answer

    found = answer(look, args.topic, args.subscription, args.broker, at, window)
    print_document(found, args.format, _lines)
    return BEHIND if found["behind"] else WELL


def span_of(option: str, text: str) -> timedelta:
    """A length of time. Raises BadConfig for what is none."""
    found = re.fullmatch(r"(\d+)(s|m|min|h|d)", text)
    if found is None or int(found[1]) == 0:
        raise BadConfig(f"{option} {text}: expected a number and its unit, as 90s, 10m, 2h or 1d")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])


def _lines(document: dict[str, Any]) -> Iterable[str]:
    from pipeline.verdict.words import text_lines

    return text_lines(document)
