"""Watching queries from the main thread: progress lines, graceful stop, and the cause of a failure in one line."""

import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from jobs.advice import advice
from jobs.driver import OpenWarehouse, say
from pipeline.faults import BadWarehouse
from pipeline.warehouse.layout import Warehouse

POLL_SECONDS = 0.2
#: A person who sees nothing for longer than this wonders whether it hangs.
SILENCE_SECONDS = 15.0
#: Beyond any micro-batch that the settings allow on a slow machine; then something hangs, and the operator should know.
STOP_PATIENCE_SECONDS = 600.0


class QueryFailed(Exception):
    """A streaming query ended by an error; the message is its cause in one line."""


class ProgressLines:
    """Says a line per finished micro-batch of each query, and a sign of life while one takes long."""

    def __init__(self, opened: OpenWarehouse, names: dict[str, StreamingQuery]) -> None:
        self._opened = opened
        self._names = names
        self._said: dict[str, int] = dict.fromkeys(names, -1)
        self._quiet_since = time.monotonic()

    def speak(self) -> None:
        """Print what is new since the last call."""
        for name, query in self._names.items():
            for progress in query.recentProgress:
                batch = int(progress["batchId"])
                if batch > self._said[name] and progress["durationMs"].get("addBatch") is not None:
                    self._said[name] = batch
                    self._quiet_since = time.monotonic()
                    say(_line(name, progress, self._rows_in(name, batch)))
        self._sign_of_life()

    def _rows_in(self, name: str, batch: int) -> int | None:
        """Events that went into the micro-batch, from its row of batch_manifest: Spark's own count is of files where ingest reads files."""
        manifest = self._opened.spark.read.format("delta").load(self._opened.warehouse.table("batch_manifest"))
        rows = manifest.where((F.col("batch_id") == batch) & (F.col("query") == name)).select("rows_in").limit(1).collect()
        return int(rows[0].rows_in) if rows else None

    def _sign_of_life(self) -> None:
        if time.monotonic() - self._quiet_since < SILENCE_SECONDS:
            return
        self._quiet_since = time.monotonic()
        for name, query in self._names.items():
            if query.isActive and query.status["isTriggerActive"]:
                say(f"{name:<6} micro-batch {self._said[name] + 1} still runs: {query.status['message']}")


def _line(name: str, progress: Any, rows: int | None) -> str:
    seconds = progress["durationMs"].get("triggerExecution", 0) / 1000
    amount = "nothing new" if rows is None else f"{rows:,} events"
    rate = f" ({rows / seconds:,.0f}/s)" if rows and seconds else ""
    behind = sum(int((source["metrics"] or {}).get("numFilesOutstanding") or 0) for source in progress["sources"])
    lag = f", {behind:,} files behind" if behind else ""
    return f"{name:<6} micro-batch {progress['batchId']}: {amount} in {seconds:.1f} s{rate}{lag}"


def run_to_end(opened: OpenWarehouse, name: str, query: StreamingQuery) -> bool:
    """Watch an availableNow query to its end; False if it was stopped on request before. Raises QueryFailed or BadWarehouse."""
    lines = ProgressLines(opened, {name: query})
    while query.isActive:
        if opened.stop.is_made():
            stop_between_batches(opened, [query])
            lines.speak()
            return False
        lines.speak()
        opened.stop.wait(POLL_SECONDS)
    lines.speak()
    raise_failure(opened.warehouse, {name: query})
    return True


def stop_between_batches(opened: OpenWarehouse, queries: Sequence[StreamingQuery]) -> None:
    """Let running micro-batches finish, park the next ones, then stop all queries."""
    opened.gate.close()
    deadline = time.monotonic() + STOP_PATIENCE_SECONDS
    while time.monotonic() < deadline:
        busy = sum(1 for query in queries if query.isActive and query.status["isTriggerActive"])
        # A parked query is within a trigger, too; every one that is busy must be parked.
        if busy <= opened.gate.parked:
            break
        time.sleep(POLL_SECONDS)
    else:
        say(f"a micro-batch still runs after {STOP_PATIENCE_SECONDS:.0f} s; stopping it (its rows will be written by the next run)")
    for query in queries:
        query.stop()


def raise_failure(warehouse: Warehouse, queries: dict[str, StreamingQuery]) -> None:
    """Raise for the first query that ended by an error: details to stderr, the cause in one line as QueryFailed or BadWarehouse.

    The line says what to do where that is known.
    """
    for name, query in queries.items():
        fault = query.exception()
        if fault is None:
            continue
        details = str(fault)
        cause = one_line_cause(details)
        if cause.startswith("BadWarehouse: "):
            raise BadWarehouse(f"{name}: {cause.removeprefix('BadWarehouse: ')}")
        print(f"--- {name} failed, details:\n{details}\n---", file=sys.stderr, flush=True)
        known = advice(details, warehouse, name)
        raise QueryFailed(f"{name} failed: {known} ({cause})" if known else f"{name} failed: {cause}")


def one_line_cause(details: str) -> str:
    """The last Python error in the text of a StreamingQueryException, ours before others; else the last Java cause, else its first line."""
    for pattern in (
        r"pipeline\.faults\.(\w+: [^\n]+)",
        r"^(?:pyspark\.errors\.[\w.]*\.)?((?!py4j\.|org\.|java\.|pyspark\.)[A-Za-z_][\w.]*(?:Error|Exception|Interrupt): [^\n]+)",
        r"Caused by: ([^\n]+)",
    ):
        found = re.findall(pattern, details, flags=re.MULTILINE)
        if found:
            return str(found[-1])
    return details.strip().splitlines()[0]
