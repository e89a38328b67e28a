"""What every topic and subscription looked like at an instant: backlogs, ages and counters between two quota checks.

Folds the events from the start of each broker's epoch up to --at by the rules of the job. Changes nothing and takes no lock: it may run
beside a live job. If a broker's clock was set back, so that it showed the instant twice, the later one counts.
"""

import argparse
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from jobs.shown import aligned
from pipeline.faults import BadConfig, BadWarehouse

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
    from jobs.driver import existing_warehouse
    from jobs.session import SHORT_JOB, build_session
    from pipeline.settings import load_settings

    settings = load_settings(None, [], os.environ)
    spark = build_session("dispatch-analytics probe", SHORT_JOB)
    warehouse = existing_warehouse(spark, args.warehouse, ("dispatch_events",))
    brokers, tables = probe(spark, warehouse, at_us, settings, broker=args.broker, topic=args.topic)
    for line in json_lines(brokers, tables) if args.json else text_lines(at_us, brokers, tables):
        print(line)
    return 0


def micros_of(text: str) -> int:
    """An instant in µs since 1970; BadConfig for what is none, or has no zone."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise BadConfig(f"--at {text}: expected an ISO 8601 time with its zone, as 2026-11-21T11:30:05.5Z or 2026-11-21T12:30:05.5+01:00")
    return (at - _START) // timedelta(microseconds=1)


def text_of(us: int) -> str:
    """An instant as --at takes it, in UTC."""
    return (_START + timedelta(microseconds=us)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def probe(
    spark: Any, warehouse: Any, at_us: int, settings: Any, *, broker: str | None, topic: str | None
) -> tuple[list[LivingBroker], dict[str, list[dict[str, Any]]]]:
    """Brokers as of the instant, and rows of `topic_backlog` and `subscription_backlog` as of a check then, without the columns of checks.

    Raises BadConfig if no event lies before the instant, or none of that broker or topic; BadWarehouse if names are still to come.
    """
    from pyspark.sql import functions as F

    from pipeline.sinks.outcomes import lacks_text, table_rows, with_text
    from schemas.tables import TABLES_BY_NAME

    brokers = _brokers_at(spark, warehouse, at_us, broker, topic)
    outcomes = _outcomes(spark, warehouse, at_us, settings, [one for one in brokers if not one.stopped]).persist()
    try:
        outcomes.count()
        # After the count: ingest writes events before their names, so the names of what was read are there by now.
        resolved = with_text(outcomes, spark.read.format("delta").load(warehouse.table("names")))
        if resolved.where(lacks_text()).count():
            raise BadWarehouse(f"ingest is amid a micro-batch: names of new topics are not in {warehouse.table('names')} yet; ask again")
        tables = {}
        for name in _TABLES:
            rows = table_rows(resolved, TABLES_BY_NAME[name]).drop(*_OF_CHECKS)
            chosen = rows.where(F.col("topic") == topic) if topic is not None else rows
            tables[name] = [row.asDict() for row in chosen.orderBy(*chosen.columns).collect()]
        return brokers, tables
    finally:
        outcomes.unpersist()


def _brokers_at(spark: Any, warehouse: Any, at_us: int, broker: str | None, topic: str | None) -> list[LivingBroker]:
    """Per broker its last epoch that began until the instant. With `topic` only where its log knows that topic."""
    from pyspark.sql import functions as F

    from schemas.events import CODES

    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    of_topic = F.lit(True) if topic is None else F.max(F.coalesce(F.col("topic") == topic, F.lit(False)))
    epochs = (
        bronze.where(F.col("ts") <= at_us)
        .groupBy("broker", "broker_id", "epoch")
        .agg(
            F.max("seq").alias("last_seq"),
            F.max_by("ts", "seq").alias("last_us"),
            F.max_by("type_code", "seq").alias("last_type"),
            of_topic.alias("of_topic"),
        )
        .orderBy("broker", "epoch")
        .collect()
    )
    if not epochs:
        begin_us = bronze.agg(F.min("ts")).first()[0]
        begin = f"the first event is of {text_of(begin_us)}" if begin_us is not None else "the warehouse has no events"
        raise BadConfig(f"--at {text_of(at_us)}: no event until then, {begin}")
    last = {row.broker: row for row in epochs if broker is None or row.broker == broker}
    if not last:
        raise BadConfig(
            f"--broker {broker}: no event of it until {text_of(at_us)}, only of {', '.join(sorted({e.broker for e in epochs}))}"
        )
    chosen = [row for row in last.values() if row.of_topic]
    if not chosen:
        raise BadConfig(f"--topic {topic}: no event of it until {text_of(at_us)} in the last epoch of {', '.join(last)}")
    return [
        LivingBroker(row.broker, row.broker_id, row.epoch, row.last_seq, row.last_us, row.last_type == CODES["broker_stop"])
        for row in chosen
    ]


def _outcomes(spark: Any, warehouse: Any, at_us: int, settings: Any, brokers: list[LivingBroker]) -> Any:
    """Operator output of the probes. An epoch's log is cut at a `seq`, not at a time: a hole in it would look like a loss."""
    from functools import partial

    from pipeline.lanes.operator import OUTPUT_TYPE
    from pipeline.lanes.probe import probe_lanes
    from pipeline.lanes.project import WANTED, replayed_rows
    from pipeline.lanes.query import lane_settings

    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    control = spark.read.format("delta").load(warehouse.table("lane_control"))
    wanted = spark.createDataFrame([(one.broker_id, one.epoch, 1, one.last_seq) for one in brokers], WANTED)
    lanes = replayed_rows(bronze, control, wanted)
    return lanes.mapInPandas(partial(probe_lanes, now_us=at_us, settings=lane_settings(settings)), OUTPUT_TYPE)


def json_lines(brokers: list[LivingBroker], tables: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """An object per broker, topic and subscription; `table` is its kind. Times are ISO 8601 in UTC."""
    for one in brokers:
        shown = {"broker": one.broker, "epoch": one.epoch, "last_event": text_of(one.last_us), "stopped": one.stopped}
        yield json.dumps({"table": "brokers", **shown}, ensure_ascii=False)
    for table, rows in tables.items():
        for row in rows:
            yield json.dumps({"table": table, **{name: _plain(value) for name, value in row.items()}}, ensure_ascii=False)


def text_lines(at_us: int, brokers: list[LivingBroker], tables: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """A line per broker, then two tables; the broker is a column where there is more than one."""
    for one in brokers:
        state = f"stopped at {text_of(one.last_us)}: nothing lives" if one.stopped else f"last event until then {text_of(one.last_us)}"
        yield f"{one.broker} at {text_of(at_us)}: {state}"
    if not tables["topic_backlog"]:
        yield "no topic was loaded then"
    for table, shown in _TABLES.items():
        columns = (("broker", *shown) if len(brokers) > 1 else shown) if tables[table] else ()
        if columns:
            yield ""
            yield aligned([SHORT.get(name, name) for name in columns], [[_plain(row[name]) for name in columns] for row in tables[table]])


def _plain(value: Any) -> Any:
    # collect() gives naive times of this process's local zone
    return text_of((value.astimezone(UTC) - _START) // timedelta(microseconds=1)) if isinstance(value, datetime) else value
