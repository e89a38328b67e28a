"""Read a dispatch-event log into the Delta tables of a warehouse.

Live by default: both queries run in one driver until SIGTERM, Ctrl-C or the file WAREHOUSE/_stop; running micro-batches finish first.
With --once: the job reads the present log to its end, then it ends.
"""

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import client_settings, is_kafka, kafka_address
from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.settings import Settings

EXAMPLES = """examples:
  ./spark-submit.sh stream --events /var/log/pulsar-events --warehouse /data/warehouse
  ./spark-submit.sh stream --once --drain --events 'captures/**/events.jsonl*' --warehouse ./warehouse/captures
  ./spark-submit.sh stream --events s3a://logs/pulsar --warehouse s3a://lake/dispatch --set lanes.lateness_ms=30000 --master yarn
  ./spark-submit.sh stream --events kafka://broker1:9092,broker2:9092/pulsar-events --warehouse /data/warehouse
  touch /data/warehouse/_stop        ends a live job after its running micro-batches
"""
#: Looking for grown files lists every file that was read.
GROWN_FILES_EVERY_SECONDS = 300.0


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
        "--drain", action="store_true", help="with --once: the log is finite; close open windows and give up on holes at its end"
    )
    add_settings_arguments(parser)


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare --settings and --set."""
    parser.add_argument("--settings", type=Path, metavar="FILE", help="TOML with any part of conf/settings.toml, in place of its values")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help="one setting, as lanes.lateness_ms=5000; repeatable",
    )


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
    from jobs.session import build_session

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


def run_stream(spark: Any, events: str, warehouse_uri: str, settings: "Settings", *, once: bool, drain: bool) -> int:
    """`stream` on a session; the demo runs it, too."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from jobs.advice import disk_advice, one_line_cause
    from jobs.compiled_rules import tidy_compiled_rules
    from jobs.driver import open_for_writing
    from jobs.processes import utc_now
    from jobs.python_workers import start_python_workers
    from jobs.reader import named_warehouse
    from jobs.run_ledger import recorded
    from jobs.shown import say
    from jobs.watch import QueryFailed

    warehouse = named_warehouse(warehouse_uri)
    say(f"events    {events}\nwarehouse {warehouse.root}")
    tidy_compiled_rules(utc_now().timestamp(), say)
    start_python_workers(spark)
    try:
        mode = "drain" if drain else "once" if once else "live"
        with open_for_writing(spark, warehouse) as opened, recorded(opened, settings, events=events, mode=mode) as recorder:
            heard = replace(opened.run, after_micro_batch=recorder.after_micro_batch, source_opened=recorder.source_opened)
            watched = replace(opened, run=heard)
            if once:
                return _once(watched, recorder, events, settings, drain)
            return _live(watched, recorder, events, settings)
    except QueryFailed as failed:
        print(f"error: {visible(str(failed))}", file=sys.stderr)
        return 1
    except (Py4JJavaError, PySparkException) as fault:
        known = disk_advice(str(fault))
        if known is None:
            raise
        print(visible(f"error: {warehouse.root}: {known} ({one_line_cause(str(fault))})"), file=sys.stderr)
        return 1


def _once(opened: Any, recorder: Any, events: str, settings: "Settings", drain: bool) -> int:
    """Ingest to its end, then lanes, then (with `drain`) one control row per lane and lanes again."""
    from jobs.load import said_of_no_event
    from jobs.shown import say
    from jobs.watch import run_to_end
    from pipeline.ingest.files import report_grown_files
    from pipeline.ingest.query import start_ingest
    from pipeline.lanes.control import issue_drain
    from pipeline.lanes.query import start_lanes
    from pipeline.reading.newest import NewestRoom

    to_end: dict[str, Any] = {"availableNow": True}
    context = (opened.spark, opened.warehouse)
    steps: list[tuple[str, Any]] = [
        ("ingest", lambda: start_ingest(*context, events, settings, opened.run, to_end)),
        ("lanes", lambda: start_lanes(*context, settings, opened.run, to_end)),
    ]
    if drain:

        def drained_lanes() -> Any:
            lanes = issue_drain(opened.warehouse, opened.run)
            say(f"drain: the log ends here for {lanes} lanes")
            return start_lanes(*context, settings, opened.run, to_end)

        steps.append(("lanes", drained_lanes))
    for name, start in steps:
        if not run_to_end(opened, recorder, name, start()):
            say("stopped before the end; the same command goes on from here")
            recorder.outcome = "stopped"
            return 1
    _report_grown(recorder, report_grown_files(opened.warehouse, events, settings, opened.run))
    _show_books(opened)
    return said_of_no_event(NewestRoom(opened.warehouse))


def _live(opened: Any, recorder: Any, events: str, settings: "Settings") -> int:
    """Both queries until a request to stop, or until one of them ends by itself (an error: the other is stopped, too)."""
    from jobs.shown import say
    from jobs.watch import POLL_SECONDS, ProgressLines, raise_failure, stop_between_batches
    from pipeline.ingest.files import report_grown_files
    from pipeline.ingest.query import start_ingest
    from pipeline.lanes.query import start_lanes

    trigger = {"processingTime": f"{settings.stream.trigger_interval_ms} milliseconds"}
    queries = {"ingest": start_ingest(opened.spark, opened.warehouse, events, settings, opened.run, trigger)}
    try:
        queries["lanes"] = start_lanes(opened.spark, opened.warehouse, settings, opened.run, trigger)
        say(f"live; stop with Ctrl-C, SIGTERM or the file {opened.warehouse.stop_file.removeprefix('file:')}")
        lines = ProgressLines(recorder, queries, opened.spark.sparkContext.statusTracker())
        looked = time.monotonic()
        while not opened.stop.is_made() and all(query.isActive for query in queries.values()):
            lines.speak()
            if time.monotonic() - looked > GROWN_FILES_EVERY_SECONDS:
                looked = time.monotonic()
                _report_grown(recorder, report_grown_files(opened.warehouse, events, settings, opened.run))
            opened.stop.wait(POLL_SECONDS)
        recorder.record("stop_requested" if opened.stop.is_made() else "query_ended")
    finally:
        stop_between_batches(opened, list(queries.values()))
    lines.speak_last()
    raise_failure(opened.warehouse, queries)
    say("stopped")
    recorder.outcome = "stopped"
    return 0


def _report_grown(recorder: Any, files: int) -> None:
    from jobs.books import growth_words

    if files:
        recorder.record("files_grew", growth_words(files), level="WARN", files=files)


def _show_books(opened: Any) -> None:
    """What this run did, from batch_manifest: everything that went in came out somewhere."""
    from jobs.books import lines_of
    from jobs.shown import say
    from pipeline.store.arrow_reader import arrow_rows

    columns = ("query", "rows_in", "bronze", "quarantined", "applied", "duplicates", "late", "held", "lost")
    manifest = arrow_rows(opened.warehouse.table("batch_manifest"), columns, {"run_id": [opened.run.run_id]})
    books: dict[str, Counter[str]] = {}
    for row in manifest.to_pylist():
        books.setdefault(row.pop("query"), Counter()).update(row)
    for line in lines_of(books):
        say(line)
