"""The streaming job from its session to its end: live, or once."""

import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from console.named_warehouse import named_warehouse
from console.no_event import said_of_no_event
from console.shown import say
from driver.advice import disk_advice, one_line_cause
from driver.books import growth_words, lines_of
from driver.open_warehouse import open_for_writing
from driver.python_workers import start_python_workers
from driver.run_ledger import recorded
from driver.this_machine import utc_now
from driver.watch import POLL_SECONDS, ProgressLines, QueryFailed, raise_failure, run_to_end, stop_between_batches
from pipeline.ingest.files import report_grown_files
from pipeline.ingest.query import start_ingest
from pipeline.lanes.control import issue_drain
from pipeline.lanes.query import start_lanes
from pipeline.query.newest_room import NewestRoom
from pipeline.settings import Settings
from pipeline.store.arrow_reader import arrow_rows
from pipeline.visible import visible
from tools.compiled_rules import tidy_compiled_rules

#: Looking for grown files lists every file that was read.
GROWN_FILES_EVERY_SECONDS = 300.0


def run_stream(spark: Any, events: str, warehouse_uri: str, settings: Settings, *, once: bool, drain: bool) -> int:
    """`stream` on a session; the demo runs it, too."""
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


def _once(opened: Any, recorder: Any, events: str, settings: Settings, drain: bool) -> int:
    """Ingest to its end, then lanes, then (with `drain`) one control row per lane and lanes again."""
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


def _live(opened: Any, recorder: Any, events: str, settings: Settings) -> int:
    """Both queries until a request to stop, or until one of them ends by itself (an error: the other is stopped, too)."""
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

    if files:
        recorder.record("files_grew", growth_words(files), level="WARN", files=files)


def _show_books(opened: Any) -> None:
    """What this run did, from batch_manifest: everything that went in came out somewhere."""
    columns = ("query", "rows_in", "bronze", "quarantined", "applied", "duplicates", "late", "held", "lost")
    manifest = arrow_rows(opened.warehouse.table("batch_manifest"), columns, {"run_id": [opened.run.run_id]})
    books: dict[str, Counter[str]] = {}
    for row in manifest.to_pylist():
        books.setdefault(row.pop("query"), Counter()).update(row)
    for line in lines_of(books):
        say(line)
