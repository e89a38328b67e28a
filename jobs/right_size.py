"""Which limit would each topic and subscription need: the smallest that keeps ages below a bound, by replays of the recorded demand.

A row for each limiter that has a rate: too low, fits, far above the need, or not the limit that makes the backlog old.
Several brokers are replayed by Spark, each in a task of its own. One topic or one broker (--broker) needs no Spark.
exit: 0 there is an answer for each topic; 1 for some there is none, or a limit is too low; 2 an argument that cannot work.
"""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from console.named_warehouse import look_at
from console.shown import aligned_lines, print_document
from pipeline.diagnosis.instants import time_words
from pipeline.times import span_of, time_of
from pipeline.what_if.changes import read_budget_of

if TYPE_CHECKING:
    from pipeline.query.room import ReadingRoom
    from pipeline.what_if.limited import Asked, Limited

EXAMPLES = """examples:
  ./spark-submit.sh right-size --keep-age 5s --warehouse ./warehouse/demo
  ./spark-submit.sh right-size persistent://real/y/orders --keep-age 8s --warehouse ./warehouse/demo
  ./spark-submit.sh right-size --keep-age 5s --read-budget 500000 --sort excess --warehouse ./warehouse/demo
  ./spark-submit.sh right-size --namespace real/y --keep-age 2s --format json --warehouse ./warehouse/demo
  ./spark-submit.sh right-size --master spark://spark-1:7077 --keep-age 60s --warehouse s3a://events/warehouse
"""
WELL, NOT_WELL = 0, 1
#: Verdicts for people.
VERDICTS = {
    "too_low": "too low",
    "fits": "fits",
    "above_need": "far above the need",
    "over_budget": "above the budget",
    "not_this_limit": "not this limit",
}
#: Verdicts from the one that needs somebody most.
URGENT = ("too_low", "over_budget", "not_this_limit", "above_need", "fits")
#: `--sort` → the order of limits.
SORTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "verdict": lambda one: URGENT.index(one["verdict"]),
    "topic": lambda one: (one["topic"] or "", one["subscription"] or ""),
    "age": lambda one: -one["oldest_s"],
    "limit": lambda one: one["limit"],
    "excess": lambda one: -one["limit"] / (one["needed"] or math.inf),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `right-size`."""
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="full name (default: every topic with a limit)")
    parser.add_argument("--namespace", metavar="TENANT/NAMESPACE", help="only topics of it")
    parser.add_argument("--keep-age", required=True, metavar="TIME", help="the oldest entry may be so old: 60s, 10m, 2h")
    parser.add_argument(
        "--read-budget", metavar="BYTES", help="the broker may read so many bytes a second for these subscriptions (default: any)"
    )
    parser.add_argument("--sort", choices=tuple(SORTS), default="verdict", help="order of the limits (default: verdict, the worst first)")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--broker", metavar="NAME", help="only this one (default: all; of several that had a topic the last one)")
    parser.add_argument("--from", dest="from_", metavar="TIME", help="look at ages from here on (default: the first publish of the record)")
    parser.add_argument("--to", metavar="TIME", help="and up to here (default: the end of the record)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (keys: docs/reference/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print the answer. Raises BadConfig for a bad time, NoAnswer where no topic has a limit, BadWarehouse."""
    from pipeline.what_if.right_size import of_broker, together

    asked, look, brokers = _looked_at(args)
    is_for_people = args.format == "text"
    parts = _on_spark(look, asked, brokers, is_for_people) if len(brokers) > 1 else [of_broker(look, asked, *brokers[0])]
    found = together(asked, parts)
    found["limits"].sort(key=SORTS[args.sort])
    print_document(found, args.format, text_lines)
    is_well = not found["without_answer"] and all(one["verdict"] != "too_low" for one in found["limits"])
    return WELL if is_well else NOT_WELL


def needs_spark(args: argparse.Namespace) -> bool:
    """Whether several brokers have limits to look at. Raises as `run`."""
    return len(_looked_at(args)[2]) > 1


def _looked_at(args: argparse.Namespace) -> "tuple[Asked, ReadingRoom, list[Limited]]":
    """The question, the warehouse, and its brokers with limits."""
    from pipeline.warehouse.answerable import OF_CAUSES, refuse_half_written
    from pipeline.what_if.limited import Asked, limited

    span = tuple(None if text is None else time_of(option, text) for option, text in (("--from", args.from_), ("--to", args.to)))
    asked = Asked(
        span_of("--keep-age", args.keep_age).total_seconds(), read_budget_of("--read-budget", args.read_budget), args.topic, args.namespace,
        (span[0], span[1]),
    )  # fmt: skip
    look = look_at(args.warehouse, OF_CAUSES, consistent=True)
    refuse_half_written(look, look.cut)
    return asked, look, limited(look, asked, args.broker)


def _on_spark(look: "ReadingRoom", asked: "Asked", brokers: "Sequence[Limited]", is_for_people: bool) -> list[dict[str, Any]]:
    """The parts of the answer, made by tasks, with signs of life for people."""
    from console.heartbeat import Heartbeat, running_tasks
    from console.shown import say
    from driver.brokers_on_spark import of_each_broker
    from driver.session import SHORT_JOB, build_session

    if is_for_people:
        say(f"{len(brokers)} brokers: starting Spark …")
    spark = build_session("dispatch-analytics right-size", SHORT_JOB)
    tasks = partial(running_tasks, spark.sparkContext.statusTracker())
    heartbeat = Heartbeat("right-size", say if is_for_people else _quiet, tasks)
    heartbeat.step("replaying the record of each broker")
    with heartbeat.beating():
        return of_each_broker(spark, look, asked, brokers)


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """A table, the commands, and the topics without an answer."""
    columns = ("topic", "subscription", "limit of", "limit", "oldest s", "needed", "then s", "reads B/s", "most", "verdict")
    rows = [
        (
            _owner(one), one["subscription"], f"{one['level']} {one['dimension']}", one["limit"],
            one["oldest_s"], one["needed"], one["oldest_with_needed_s"], one["reads_per_s"], _most(one),
            VERDICTS[one["verdict"]] + (f": {one['held_by']}" if one["held_by"] else ""),
        )
        for one in document["limits"]
    ]  # fmt: skip
    shown = [k for k, column in enumerate(columns) if column != "most" or document["read_budget"] is not None]
    if rows:
        yield from aligned_lines([columns[k] for k in shown], [[row[k] for k in shown] for row in rows])
    yield from _quota_lines(document["quotas"])
    told = [one for one in [*document["limits"], *document["quotas"]] if one["effect"]]
    if told:
        yield ""
        yield "The commands, none of which has run:"
    for one in told:
        yield f"# {_name(one)}: {one['effect']}"
        if one["command"]:
            yield one["command"]
    for one in document["without_answer"]:
        yield f"No answer for {_owner(one)}: {'; '.join(one['reasons'])}."


def _owner(one: dict[str, Any]) -> str:
    return str(one["topic"] or f"broker {one['broker']}")


def _most(one: dict[str, Any]) -> str:
    """The largest limit under the budget, or that any is, none is, or nobody knows."""
    return {"always": "any", "never": "none", "unknown": "?", "up_to": f"{one['most'] or 0:,}"}.get(one["budget"] or "", "")


def _quota_lines(quotas: list[dict[str, Any]]) -> Iterable[str]:
    if not quotas:
        return
    yield ""
    yield "Quotas that will trip within a day:"
    columns = ("topic", "quota", "limit", "trips at", "policy", "loses")
    yield from aligned_lines(
        columns,
        [
            (
                one["topic"], one["quota"], one["limit"], "now" if one["exceeded"] else time_words(one["breach_at"]), one["policy"],
                ", ".join([one["loses_first"], *one["others_losing"]]) if one["loses_first"] else "",
            )
            for one in quotas
        ],
    )  # fmt: skip


def _name(one: dict[str, Any]) -> str:
    names = [_owner(one), one.get("subscription")]
    return " ".join(name for name in [*names, one.get("dimension") or f"quota of {one.get('quota')}"] if name)


def _quiet(line: str) -> None:
    """Progress has no place beside a document."""
