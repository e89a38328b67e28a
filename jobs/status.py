"""The state of a warehouse: its writer, the progress and the lag of each query, missing events, sizes of the tables.

Reads only and takes no lock: it may be asked beside a running job and of a stopped one. Problems that need an action come first.
--checkpoint shows the checkpoint of one query in its place: its query id, the micro-batches planned and committed, the position of each
source, the size of the state, and whether `stream` would go on from there. `rebuild` begins a checkpoint anew, with its tables.
"""

import argparse
import os
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from console.checkpoint_lines import checkpoint_lines
from console.named_warehouse import existing_warehouse, look_at
from console.shown import aligned_lines, print_document
from pipeline.diagnosis.duration import duration
from pipeline.warehouse.layout import QUERIES

EXAMPLES = """examples:
  ./spark-submit.sh status --warehouse /data/warehouse
  ./spark-submit.sh status --warehouse /data/warehouse --format json
  ./spark-submit.sh status --warehouse /data/warehouse --checkpoint lanes
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `status`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--checkpoint", choices=QUERIES, help="the checkpoint of this query, and nothing else; it starts Spark")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one document (keys: docs/reference/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print it; 0 whatever the state is. BadWarehouse where no warehouse is."""
    if args.checkpoint is not None:
        return _show_checkpoint(args)
    import socket

    from driver.this_machine import is_alive, utc_now
    from pipeline.settings import load_settings
    from pipeline.upkeep.status import status

    small = load_settings(None, [], os.environ).maintain.small_file_bytes
    look = look_at(args.warehouse, ("lane_control", "dispatch_events"), consistent=True)
    document = status(look, utc_now(), socket.gethostname(), is_alive, small)
    print_document(document, args.format, text_lines)
    return 0


def _show_checkpoint(args: argparse.Namespace) -> int:
    from driver.session import LITTLE_DATA, build_session
    from pipeline.upkeep.checkpoint import inspect

    spark = build_session("dispatch-analytics status", LITTLE_DATA)
    print_document(inspect(spark, existing_warehouse(args.warehouse), args.checkpoint), args.format, checkpoint_lines)
    return 0


def text_lines(document: dict[str, Any]) -> Iterable[str]:
    """For a person who was woken by it: problems, who writes, how far, what is missing; sizes last."""
    now = document["at"]
    yield f"{document['warehouse']} at {now.isoformat(timespec='seconds')}"
    for problem in document["problems"]:
        yield f"PROBLEM    {problem}"
    yield f"writer     {_writer(document['writer'], now)}{', asked to stop' if document['stop_requested'] else ''}"
    if document["run"] is not None:
        yield f"last run   {run_words(document['run'], document['writer'], now)}"
    events, times = document["events"], document["event_time"]
    for query, behind in (("ingest", _newest(times)), ("lanes", _behind(events, times))):
        yield f"{query:<10} {_last(document['queries'][query], now)}; {behind}"
    yield f"events     {events['lines_in']:,} lines = {events['bronze']:,} events + {events['quarantined']:,} quarantined"
    yield (
        f"           {events['applied']:,} applied, {events['duplicates']:,} duplicate, {events['late']:,} late, "
        f"{events['held']:,} held behind a gap, {events['lost']:,} lost"
    )
    gaps = document["gaps"]
    if gaps and (gaps["lost_ranges"] or gaps["clock_steps"]):
        yield f"gaps       {gaps['lost_events']:,} events lost in {gaps['lost_ranges']:,} ranges; {gaps['clock_steps']:,} steps of a clock"
    for name in ("late", "quarantine"):
        if document[name]:
            yield f"{name:<10} {', '.join(f'{reason} {count:,}' for reason, count in document[name].items())}"
    yield from _backfill(document["backfill"], now)
    yield ""
    columns = ["table", "version", "rows", "bytes", "files", "small", "last write"]
    yield from aligned_lines(columns, [_table_row(name, table, now) for name, table in document["tables"].items()])


def _backfill(backfill: dict[str, Any], now: datetime) -> Iterable[str]:
    last, waiting = backfill["last"], backfill["waiting"]
    if last is not None:
        dates = f"{last['first_date']} to {last['last_date']}, {last['brokers']:,} brokers"
        yield f"backfill   {ago(now, last['finished_at'])}: {dates}, {last['rows_replaced']:,} rows replaced"
    if waiting and waiting["late_events"]:
        yield f"           {waiting['late_events']:,} late events of {waiting['dates']:,} dates wait: ./spark-submit.sh backfill --pending"


def _table_row(name: str, table: dict[str, Any], now: datetime) -> list[Any]:
    written = "" if table["written_at"] is None else ago(now, table["written_at"])
    return [name, table["version"], table["rows"], table["bytes"], table["files"], table["small_files"], written]


def _writer(writer: dict[str, Any], now: datetime) -> str:
    if "pid" not in writer:
        return writer["state"]
    who = f"host {writer['host']}, pid {writer['pid']}, since {writer['started_at'].isoformat(timespec='seconds')}, run {writer['run_id']}"
    return f"{writer['state']}: {who}, heartbeat {ago(now, writer['heartbeat_at'])}"


def run_words(run: dict[str, Any], writer: dict[str, Any], now: datetime) -> str:
    """The last run in a line: one without an end runs if it holds the lock, else it was killed."""
    code = f"version {run['code_version']}, code {run['code_fingerprint']}, settings {run['settings_fingerprint']}"
    begun = f"{run['mode']}, started {ago(now, run['started_at'])}"
    if run["outcome"] is None:
        state = "running" if writer.get("run_id") == run["run_id"] and writer["state"] == "running" else "was killed"
        return f"{run['run_id']}: {state}; {begun}; {code}"
    error = f": {run['error']}" if run["error"] else ""
    return f"{run['run_id']}: {run['outcome']} {ago(now, run['ended_at'])}{error}; {begun}, {run['micro_batches']:,} micro-batches; {code}"


def _last(query: dict[str, Any], now: datetime) -> str:
    last = query["last_batch"]
    if last is None:
        return "no micro-batch yet"
    return f"micro-batch {last['batch_id']} {ago(now, last['written_at'])}, {last['rows_in']:,} rows{_pace(query['last_progress'])}"


def _pace(progress: dict[str, Any] | None) -> str:
    """Of the newest micro-batch that query_progress has: not always the newest one."""
    if progress is None:
        return ""
    rate = f", {progress['rows_per_s']:,.0f}/s" if progress["rows_per_s"] else ""
    return f" ({progress['batch_id']} took {progress['trigger_execution_ms'] / 1000:.1f} s{rate})"


def _newest(times: dict[str, Any]) -> str:
    if times["newest"] is None:
        return "no events"
    return f"newest event of {times['newest'].isoformat(timespec='seconds')}"


def _behind(events: dict[str, Any], times: dict[str, Any]) -> str:
    seconds = times["lanes_behind_s"]
    in_time = "" if seconds is None else f", {duration(round(seconds))} of event time"
    return f"{events['lanes_behind']:,} rows behind{in_time}"


def ago(now: datetime, then: datetime) -> str:
    """How long before `now`."""
    return f"{duration(max(0, round((now - then).total_seconds())))} ago"
