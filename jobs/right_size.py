"""Which limit would each topic and subscription need: the smallest that keeps ages below a bound, by replays of the recorded demand.

A row for each limiter that has a rate: too low, fits, far above the need, or not the limit that makes the backlog old.
exit: 0 there is an answer for each topic; 1 for some there is none, or a limit is too low; 2 an argument that cannot work.
"""

import argparse
from collections.abc import Iterable
from typing import Any

from console.named_warehouse import look_at
from console.shown import aligned_lines, print_document
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.times import span_of, time_of

EXAMPLES = """examples:
  ./spark-submit.sh right-size --keep-age 5s --warehouse ./warehouse/demo
  ./spark-submit.sh right-size persistent://real/y/orders --keep-age 8s --warehouse ./warehouse/demo
  ./spark-submit.sh right-size --namespace real/y --keep-age 2s --format json --warehouse ./warehouse/demo
"""
WELL, NOT_WELL = 0, 1
#: Verdicts for people.
VERDICTS = {
    "too_low": "too low",
    "fits": "fits",
    "above_need": "far above the need",
    "not_this_limit": "not this limit",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `right-size`."""
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="full name (default: every topic with a limit)")
    parser.add_argument("--namespace", metavar="TENANT/NAMESPACE", help="only topics of it")
    parser.add_argument("--keep-age", required=True, metavar="TIME", help="the oldest entry may be so old: 60s, 10m, 2h")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--broker", metavar="NAME", help="of several that had a topic (default: the last one)")
    parser.add_argument("--from", dest="from_", metavar="TIME", help="look at ages from here on (default: the first publish of the record)")
    parser.add_argument("--to", metavar="TIME", help="and up to here (default: the end of the record)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (keys: docs/reference/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print the answer. Raises BadConfig for a bad time, NoAnswer where no topic has a limit, BadWarehouse."""
    from pipeline.warehouse.answerable import OF_CAUSES, refuse_half_written
    from pipeline.what_if.right_size import right_size, topics_with_limits

    keep_age_s = span_of("--keep-age", args.keep_age).total_seconds()
    span = tuple(None if text is None else time_of(option, text) for option, text in (("--from", args.from_), ("--to", args.to)))
    look = look_at(args.warehouse, OF_CAUSES, consistent=True)
    refuse_half_written(look, look.cut)
    topics = topics_with_limits(look, args.topic, args.namespace)
    if not topics:
        raise NoAnswer("no topic with a limit of its own, or of a subscription, is in the log")
    found = right_size(look, topics, keep_age_s, args.broker, (span[0], span[1]))
    print_document(found, args.format, text_lines)
    is_well = not found["without_answer"] and all(one["verdict"] != "too_low" for one in found["limits"])
    return WELL if is_well else NOT_WELL


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """A table, the commands, and the topics without an answer."""
    columns = ("topic", "subscription", "level", "limit of", "limit", "oldest s", "needed", "oldest then s", "verdict")
    rows = [
        (
            one["topic"], one["subscription"], one["level"], one["dimension"], one["limit"], one["oldest_s"], one["needed"],
            one["oldest_with_needed_s"], VERDICTS[one["verdict"]] + (f": {one['held_by']}" if one["held_by"] else ""),
        )
        for one in document["limits"]
    ]  # fmt: skip
    if rows:
        yield from aligned_lines(columns, rows)
    commands = [one["command"] for one in document["limits"] if one["command"]]
    if commands:
        yield ""
        yield "The commands, none of which has run:"
        yield from commands
    for one in document["without_answer"]:
        yield f"No answer for {one['topic']}: {'; '.join(one['reasons'])}."
