"""The state of every topic and subscription at an instant: backlogs, ages and counters between two quota checks.

Folds the events from the start of each broker's epoch up to --at by the rules of the job. Changes nothing and takes no lock: it may run
beside a live job. If a broker's clock was set back, so that it showed the instant twice, the later one counts.
"""

import argparse
import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from console.named_warehouse import look_at
from console.shown import aligned
from pipeline.diagnosis.probe.brokers import START, text_of
from pipeline.times import time_of
from pipeline.visible import visible, visible_json

if TYPE_CHECKING:
    from pipeline.diagnosis.probe.brokers import LivingBroker

EXAMPLES = """examples:
  ./spark-submit.sh probe --warehouse ./warehouse/demo --at 2026-11-21T11:48:00Z
  ./spark-submit.sh probe --warehouse /data/warehouse --at 2026-11-21T11:30:05.5+01:00 --topic persistent://shop/eu/orders --json
"""
#: What people see of a row; --json has all of it.
TOPIC_SHOWN = (
    "topic", "backlog_size", "storage_size", "backlog_quota_limit_size", "oldest_backlog_message_age_seconds", "backlog_quota_limit_time",
    "oldest_backlog_message_subscription_name", "true_oldest_publish_time", "producers", "decision", "complete",
)  # fmt: skip
SUBSCRIPTION_SHOWN = (
    "topic", "subscription", "msg_backlog", "backlog_messages", "backlog_size", "oldest_age_ms", "unacked_entries", "individually_deleted",
    "mark_delete_ledger", "mark_delete_entry", "complete",
)  # fmt: skip
#: Columns whose full names are too wide over their values.
SHORT = {
    "backlog_quota_limit_size": "limit_size",
    "backlog_quota_limit_time": "limit_s",
    "oldest_backlog_message_age_seconds": "age_s",
    "oldest_backlog_message_subscription_name": "oldest",
    "decision": "exceeded",
}
_TABLES = {"topic_backlog": TOPIC_SHOWN, "subscription_backlog": SUBSCRIPTION_SHOWN}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `probe`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--at", required=True, metavar="TIME", help="ISO 8601 with its zone, as 2026-11-21T11:30:05.5Z")
    parser.add_argument("--broker", metavar="NAME", help="this broker only (default: all)")
    parser.add_argument("--topic", metavar="NAME", help="this topic only, by its full name (default: all)")
    parser.add_argument("--json", action="store_true", help="one JSON object per line, with every column")


def run(args: argparse.Namespace) -> int:
    """Print what was found; BadConfig for a bad time, broker or topic, BadWarehouse where no warehouse is."""
    at_us = micros_of(args.at)
    from pipeline.diagnosis.probe.answer import probe
    from pipeline.lanes.timing import lane_timing
    from pipeline.settings import load_settings

    look = look_at(args.warehouse, ("dispatch_events",))
    brokers, tables = probe(look, at_us, lane_timing(load_settings(None, [], os.environ)), broker=args.broker, topic=args.topic)
    for line in json_lines(brokers, tables) if args.json else text_lines(at_us, brokers, tables):
        print(line)
    return 0


def micros_of(text: str) -> int:
    """An instant in µs since 1970; BadConfig for what is none, or has no zone."""
    return (time_of("--at", text) - START) // timedelta(microseconds=1)


def json_lines(brokers: list["LivingBroker"], tables: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """An object per broker, topic and subscription; `table` is its kind. Times are ISO 8601 in UTC."""
    for one in brokers:
        shown = {"broker": one.broker, "epoch": one.epoch, "last_event": text_of(one.last_us), "stopped": one.stopped}
        yield visible_json({"table": "brokers", **shown})
    for table, rows in tables.items():
        for row in rows:
            yield visible_json({"table": table, **{name: _plain(value) for name, value in row.items()}})


def text_lines(at_us: int, brokers: list["LivingBroker"], tables: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """A line per broker, then two tables; the broker is a column where there is more than one."""
    for one in brokers:
        state = f"stopped at {text_of(one.last_us)}: nothing lives" if one.stopped else f"last event until then {text_of(one.last_us)}"
        yield f"{visible(one.broker)} at {text_of(at_us)}: {state}"
    if not tables["topic_backlog"]:
        yield "no topic was loaded then"
    for table, shown in _TABLES.items():
        columns = (("broker", *shown) if len(brokers) > 1 else shown) if tables[table] else ()
        if columns:
            yield ""
            rows = [[_plain(row[name]) for name in columns] for row in tables[table]]
            yield aligned([SHORT.get(name, name) for name in columns], rows, "--json has all of it")


def _plain(value: Any) -> Any:
    return text_of((value - START) // timedelta(microseconds=1)) if isinstance(value, datetime) else value
