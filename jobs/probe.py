"""The state of every topic and subscription at an instant: backlogs, ages and counters between two quota checks.

Folds the events from the start of each broker's epoch up to --at by the rules of the job. Changes nothing and takes no lock: it may run
beside a live job. If a broker's clock was set back, so that it showed the instant twice, the later one counts.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs.instants import time_of
from jobs.reader import look_at
from jobs.shown import aligned, in_utc
from pipeline.faults import BadConfig
from pipeline.visible import visible, visible_json

if TYPE_CHECKING:
    from pipeline.warehouse.look import Look

#: Brokers that live, the instant (µs) and the lanes' settings to the rows of both tables: what each epoch looked like then.
RowsOf = Callable[[Sequence["LivingBroker"], int, Any], Mapping[str, Iterable[Mapping[str, Any]]]]

EXAMPLES = """examples:
  ./spark-submit.sh probe --warehouse ./warehouse/demo --at 2026-11-21T11:48:00Z
  ./spark-submit.sh probe --warehouse /data/warehouse --at 2026-11-21T11:30:05.5+01:00 --topic persistent://shop/eu/orders --json
"""
_START = datetime(1970, 1, 1, tzinfo=UTC)
#: Columns of the tables that a probe has no value for: it is no check.
_OF_CHECKS = ("check_number", "check_source")
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


class LivingBroker(NamedTuple):
    """The last epoch of a broker that began until the instant: its newest event until then (`last_us`, `last_seq`)."""

    broker: str
    broker_id: int
    epoch: int
    last_seq: int
    last_us: int
    stopped: bool


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
    from jobs.probe_here import rows_here
    from pipeline.lanes.lane import LaneSettings
    from pipeline.settings import load_settings

    lanes = load_settings(None, [], os.environ).lanes
    settings = LaneSettings(lanes.lateness_ms, lanes.window_ms, lanes.clock_step_ms)
    look = look_at(args.warehouse, ("dispatch_events",))
    brokers, tables = probe(look, at_us, settings, partial(rows_here, look), broker=args.broker, topic=args.topic)
    for line in json_lines(brokers, tables) if args.json else text_lines(at_us, brokers, tables):
        print(line)
    return 0


def micros_of(text: str) -> int:
    """An instant in µs since 1970; BadConfig for what is none, or has no zone."""
    return (time_of("--at", text) - _START) // timedelta(microseconds=1)


def text_of(us: int) -> str:
    """An instant as --at takes it, in UTC."""
    return (_START + timedelta(microseconds=us)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def probe(
    look: "Look", at_us: int, settings: Any, rows_of: RowsOf, *, broker: str | None, topic: str | None
) -> tuple[list[LivingBroker], dict[str, list[dict[str, Any]]]]:
    """Brokers as of the instant, and rows of `topic_backlog` and `subscription_backlog` as of a check then, without the columns of checks.

    Raises BadConfig if no event lies before the instant, or none of that broker or topic; BadWarehouse if names are still to come.
    """
    brokers = brokers_at(look, at_us, broker, topic)
    found = rows_of([one for one in brokers if not one.stopped], at_us, settings)
    tables = {}
    for name in _TABLES:
        rows = [{key: in_utc(value) for key, value in row.items() if key not in _OF_CHECKS} for row in found[name]]
        chosen = [row for row in rows if topic is None or row["topic"] == topic]
        tables[name] = sorted(chosen, key=lambda row: [(value is not None, value) for value in row.values()])
    return brokers, tables


def brokers_at(look: "Look", at_us: int, broker: str | None, topic: str | None) -> list[LivingBroker]:
    """Per broker its last epoch that began until the instant. With `topic` only where its log knows that topic."""
    from schemas.events import CODES
    from schemas.render.ddl import quoted

    of_topic = "true" if topic is None else f"coalesce(max(topic = {quoted(topic)}), false)"
    epochs = _epochs_until(look, at_us, of_topic, "" if broker is None else _of_broker(look, broker))
    if not epochs:
        raise BadConfig(_why_none(look, at_us, broker))
    last = {row["broker"]: row for row in epochs}
    chosen = [row for row in last.values() if row["of_topic"]]
    if not chosen:
        raise BadConfig(f"--topic {topic}: no event of it until {text_of(at_us)} in the last epoch of {', '.join(last)}")
    return [
        LivingBroker(
            row["broker"], row["broker_id"], row["epoch"], row["last_seq"], row["last_us"], row["last_type"] == CODES["broker_stop"]
        )
        for row in chosen
    ]


def _epochs_until(look: "Look", at_us: int, of_topic: str, of_broker: str = "") -> list[dict[str, Any]]:
    """Per epoch the last event until the instant, in order."""
    return look.rows(
        "SELECT broker, broker_id, epoch, max(seq) AS last_seq, max_by(ts, seq) AS last_us, max_by(type_code, seq) AS last_type,"
        f" {of_topic} AS of_topic FROM dispatch_events WHERE ts <= {at_us}{of_broker}"
        " GROUP BY broker, broker_id, epoch ORDER BY broker, epoch"
    )


def _of_broker(look: "Look", broker: str) -> str:
    """A condition on its events. By its id files are skipped, which its name does not do."""
    from schemas.render.ddl import quoted

    ids = look.rows(f"SELECT id FROM names WHERE level = 'broker' AND broker = {quoted(broker)}")
    return f" AND broker = {quoted(broker)}" + "".join(f" AND broker_id = {row['id']}" for row in ids)


def _why_none(look: "Look", at_us: int, broker: str | None) -> str:
    """Why no event was found."""
    others = sorted({row["broker"] for row in _epochs_until(look, at_us, "true")})
    if others:
        return f"--broker {broker}: no event of it until {text_of(at_us)}, only of {', '.join(others)}"
    begin_us = look.rows("SELECT min(ts) AS begin FROM dispatch_events")[0]["begin"]
    begin = f"the first event is of {text_of(begin_us)}" if begin_us is not None else "the warehouse has no events"
    return f"--at {text_of(at_us)}: no event until then, {begin}"


def json_lines(brokers: list[LivingBroker], tables: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """An object per broker, topic and subscription; `table` is its kind. Times are ISO 8601 in UTC."""
    for one in brokers:
        shown = {"broker": one.broker, "epoch": one.epoch, "last_event": text_of(one.last_us), "stopped": one.stopped}
        yield visible_json({"table": "brokers", **shown})
    for table, rows in tables.items():
        for row in rows:
            yield visible_json({"table": table, **{name: _plain(value) for name, value in row.items()}})


def text_lines(at_us: int, brokers: list[LivingBroker], tables: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
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
    return text_of((value - _START) // timedelta(microseconds=1)) if isinstance(value, datetime) else value
