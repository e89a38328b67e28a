"""What if a limit, a quota or the consumers were others: the recorded demand, replayed through other settings, beside the record.

The replay is checked first: with the settings as they were it must give the backlog, the throttle counters and the evictions that were.
Where it does not, there is no answer, and the reason is told.
exit: 0 there is an answer; 1 there is none, the replay differs from the record; 2 an argument that cannot work, or nothing to replay.
"""

import argparse
from datetime import datetime

from console.named_warehouse import look_at
from console.shown import print_document
from pipeline.times import span_of, time_of
from pipeline.what_if.changes import KEYS, changes_of

_KEYS = "\n".join(f"  {key:<40}{value}" for key, value in KEYS.items())
EXAMPLES = f"""keys of --set, of the named topic and subscription (without a name: of all subscriptions of the topic):
{_KEYS}

examples:
  ./spark-submit.sh what-if persistent://shop/eu/orders --set topic.dispatch_rate.bytes=120000 --warehouse ./warehouse/demo
  ./spark-submit.sh what-if persistent://shop/eu/orders billing --consumers 3 --set consumers.speed=2 --warehouse ./warehouse/demo
  ./spark-submit.sh what-if persistent://shop/eu/orders --set quota.size=none --format json --warehouse ./warehouse/demo
  ./spark-submit.sh what-if persistent://shop/eu/orders --set topic.dispatch_rate.bytes=120000 --until 2h --warehouse ./warehouse/demo
"""
ANSWERED, NO_ANSWER = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `what-if`."""
    parser.add_argument("topic", metavar="TOPIC", help="full name, as persistent://shop/eu/orders")
    parser.add_argument("subscription", metavar="SUBSCRIPTION", nargs="?", help="without one: all of the topic")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting to change, repeatable; the keys are below"
    )
    parser.add_argument("--consumers", metavar="N", help="short for --set consumers=N")
    parser.add_argument("--broker", metavar="NAME", help="of several that had the topic (default: the last one)")
    parser.add_argument("--from", dest="from_", metavar="TIME", help="compare from here (default: the first publish of the record)")
    parser.add_argument("--to", metavar="TIME", help="compare up to here (default: the end of the record)")
    parser.add_argument(
        "--until",
        metavar="TIME",
        help="go on so long after --to, or the end of the record, with the demand of its last part: 2h",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (keys: docs/reference/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print the answer. Raises BadConfig for a setting that is none, NoAnswer where there is nothing to replay, BadWarehouse."""
    from pipeline.warehouse.answerable import OF_CAUSES, refuse_half_written
    from pipeline.what_if.answer import what_if
    from pipeline.what_if.words import text_lines

    changes = changes_of([*args.set, *([] if args.consumers is None else [f"consumers={args.consumers}"])])
    span = _instant("--from", args.from_), _instant("--to", args.to)
    until_s = None if args.until is None else span_of("--until", args.until).total_seconds()
    look = look_at(args.warehouse, OF_CAUSES, consistent=True)
    refuse_half_written(look, look.cut)
    found = what_if(look, args.topic, args.subscription, changes, args.broker, span, until_s)
    print_document(found, args.format, text_lines)
    return ANSWERED if found["self_check"]["ok"] else NO_ANSWER


def _instant(option: str, text: str | None) -> datetime | None:
    return None if text is None else time_of(option, text)
