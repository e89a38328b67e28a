"""Read a dispatch-event log into the Delta tables of a warehouse.

Live by default: both queries run in one driver until SIGTERM, Ctrl-C or the file WAREHOUSE/_stop; running micro-batches finish first.
With --once: the job reads the present log to its end, then it ends.
"""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from console.settings_arguments import add_settings_arguments
from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import client_settings, is_kafka, kafka_address

if TYPE_CHECKING:
    from pipeline.settings import Settings

EXAMPLES = """examples:
  ./spark-submit.sh stream --events /var/log/pulsar-events --warehouse /data/warehouse
  ./spark-submit.sh stream --once --drain --events 'captures/**/events.jsonl*' --warehouse ./warehouse/captures
  ./spark-submit.sh stream --events s3a://logs/pulsar --warehouse s3a://lake/dispatch --set lanes.lateness_ms=30000 --master yarn
  ./spark-submit.sh stream --events kafka://broker1:9092,broker2:9092/pulsar-events --warehouse /data/warehouse
  touch /data/warehouse/_stop        ends a live job after its running micro-batches
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `stream`."""
    parser.add_argument(
        "--events",
        required=True,
        metavar="URI",
        help="folder (with subfolders) or glob of the log's files, a Delta table, or kafka://HOST:PORT/TOPIC",
    )
    parser.add_argument(
        "--warehouse",
        required=True,
        metavar="URI",
        help="folder of the Delta tables, here, in an object store or HDFS; made if missing",
    )
    parser.add_argument("--once", action="store_true", help="read the present log and end: ingest to its end, then lanes")
    parser.add_argument(
        "--drain", action="store_true", help="with --once: the log is finite; close open windows and give up on gaps at its end"
    )
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the job; exit code 0 when it came to its end or was stopped on request.

    1 if --once was stopped before its end, or if no line that the warehouse was made of is an event.
    """
    if args.drain and not args.once:
        raise BadConfig("--drain closes what is open at the end of a finite log: it needs --once")
    # Here, since arguments are checked before pydantic is installed.
    from pipeline.settings import describe, load_settings

    settings = load_settings(args.settings, args.overrides, os.environ)
    check_log_file(settings.watch.log_path)
    check_kafka(args.events, settings)
    from driver.session import build_session
    from driver.streaming import run_stream

    print(f"settings:\n{describe(settings)}\nstarting Spark …", flush=True)
    spark = build_session("dispatch-analytics stream")
    return run_stream(spark, args.events, args.warehouse, settings, once=args.once, drain=args.drain)


def check_kafka(events: str, settings: "Settings") -> None:
    """Raise BadConfig if `events` is no address of a topic though it begins as one, or if kafka.client_file cannot be used."""
    if is_kafka(events):
        kafka_address(events)
        if settings.ingest.source_format != "auto":
            raise BadConfig(f"ingest.source_format = {settings.ingest.source_format}: --events {events} is a topic; leave it auto")
    client_settings(settings.kafka.client_path)


def check_log_file(path: Path | None) -> None:
    """Raise BadConfig unless lines can be appended to watch.log_file (None: no file is wanted)."""
    if path is None:
        return
    try:
        with path.open("ab"):
            return
    except OSError as fault:
        raise BadConfig(
            f"watch.log_file = {path}: {fault.strerror}; name a file in a folder that exists and may be written, or none"
        ) from fault
