"""Why is this subscription behind: the cause, the outlook, the action. In words, with figures; it only reads.

The answer is about whole windows: the last --window before --at, or before the end of the broker's newest window. Where another cause
holds since then, the first line has it.
Without a subscription: who fills the quotas of the topic, and since when producers are shut out, at its last quota check.
exit: 0 it is well; 1 it is behind, or a quota is exceeded, or nobody knows; 2 there is no answer, and a line on stderr has the reason.
"""

import argparse
from collections.abc import Iterable
from typing import Any

from console.named_warehouse import look_at_causes
from console.shown import print_document
from pipeline.times import USUAL_WINDOW, span_of, time_of

EXAMPLES = """examples:
  ./spark-submit.sh explain persistent://shop/eu/orders billing --warehouse ./warehouse/demo
  ./spark-submit.sh explain persistent://shop/eu/orders --warehouse ./warehouse/demo
  ./spark-submit.sh explain persistent://shop/eu/orders billing --at 2026-11-21T11:47:00Z --window 2m --warehouse ./warehouse/demo
  ./spark-submit.sh explain persistent://shop/eu/orders billing --format json --warehouse /data/dispatch
"""
WELL, BEHIND = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `explain`."""
    parser.add_argument("topic", metavar="TOPIC", help="full name, as persistent://shop/eu/orders")
    parser.add_argument("subscription", metavar="SUBSCRIPTION", nargs="?", help="without one: who fills the quotas of the topic")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--broker", metavar="NAME", help="of several that had the topic (default: the last one)")
    parser.add_argument("--at", metavar="TIME", help="ISO 8601 with its zone, as 2026-11-21T11:30:05.5Z (default: the newest window)")
    parser.add_argument("--window", default=USUAL_WINDOW, metavar="TIME", help=f"how far back: 90s, 10m, 2h, 1d (default: {USUAL_WINDOW})")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (keys: docs/reference/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print the answer. Raises NoAnswer where there is none, BadConfig for a bad time, BadWarehouse where no warehouse is."""
    at = None if args.at is None else time_of("--at", args.at)
    window = span_of("--window", args.window)
    look = look_at_causes(args.warehouse)
    if args.subscription is None:
        from pipeline.diagnosis.topic_answer import is_well, text_lines, topic_answer

        found = topic_answer(look, args.topic, args.broker, at)
        print_document(found, args.format, text_lines)
        return WELL if is_well(found) else BEHIND
    from pipeline.diagnosis.answer import answer

    found = answer(look, args.topic, args.subscription, args.broker, at, window)
    print_document(found, args.format, _lines)
    return BEHIND if found["behind"] else WELL


def _lines(document: dict[str, Any]) -> Iterable[str]:
    from pipeline.diagnosis.words import text_lines

    return text_lines(document)
