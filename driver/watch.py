"""Watching queries from the main thread: progress lines, graceful stop, and the cause of a failure in one line."""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from pyspark import StatusTracker
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming import StreamingQuery

from console.heartbeat import running_tasks
from console.shown import say
from driver.advice import advice, one_line_cause
from driver.open_warehouse import OpenWarehouse
from driver.recorder import Recorder
from pipeline.faults import BadWarehouse
from pipeline.upkeep.run_records.outbox import Entry
from pipeline.visible import visible
from pipeline.warehouse.layout import Warehouse

POLL_SECONDS = 0.2
#: A person who sees nothing for longer than this wonders whether it hangs.
SILENCE_SECONDS = 15.0
#: The same before the first micro-batch of a run, when nothing was seen yet.
FIRST_SILENCE_SECONDS = 2.0
#: Beyond any micro-batch that the settings allow on a slow machine; then something hangs, and the operator should know.
STOP_PATIENCE_SECONDS = 600.0


class QueryFailed(Exception):
    """A streaming query ended by an error; the message is its cause in one line."""


class ProgressLines:
    """Prints a line per finished micro-batch of each query, and a sign of life while one takes long."""

    def __init__(self, recorder: Recorder, names: dict[str, StreamingQuery], tracker: StatusTracker) -> None:
        self._recorder = recorder
        self._tracker = tracker
        self._patience_s = FIRST_SILENCE_SECONDS
        self._names = names
        self._shown: dict[str, int] = dict.fromkeys(names, -1)
        self._quiet_since = time.monotonic()

    def speak(self) -> None:
        """Print what is new since the last call."""
        for row in self._recorder.take():
            self._shown[row["query"]] = row["batch_id"]
            self._quiet_since = time.monotonic()
            say(_line(row))
        self._sign_of_life()

    def speak_last(self) -> None:
        """The queries have ended: print what Spark still reports of them."""
        self._recorder.wait_for_last_words(list(self._names.values()))
        self.speak()

    def _sign_of_life(self) -> None:
        if time.monotonic() - self._quiet_since < self._patience_s:
            return
        self._quiet_since, self._patience_s = time.monotonic(), SILENCE_SECONDS
        for name, query in self._names.items():
            if query.isActive and query.status["isTriggerActive"]:
                message = query.status["message"]
                tasks = running_tasks(self._tracker)  # of both queries: what they ask Spark for in their threads is not told apart
                words = f"{name:<6} micro-batch {self._shown[name] + 1} still runs: {message}" + (f" ({tasks} done)" if tasks else "")
                self._recorder.record("still_runs", words, query=name, micro_batch=self._shown[name] + 1, message=message)


def _line(row: Entry) -> str:
    """A row of query_progress for a person."""
    rows, seconds = row["rows_in"], row["trigger_execution_ms"] / 1000
    amount = "nothing new" if rows is None else f"{rows:,} events"
    rate = f" ({row['rows_per_s']:,.0f}/s)" if row["rows_per_s"] else ""
    lag = f", {row['files_behind']:,} files behind" if row["files_behind"] else ""
    return f"{row['query']:<6} micro-batch {row['batch_id']}: {amount} in {seconds:.1f} s{rate}{lag}"


def run_to_end(opened: OpenWarehouse, recorder: Recorder, name: str, query: StreamingQuery) -> bool:
    """Watch an availableNow query to its end; False if it was stopped on request before. Raises QueryFailed or BadWarehouse."""
    lines = ProgressLines(recorder, {name: query}, opened.spark.sparkContext.statusTracker())
    while query.isActive:
        if opened.stop.is_made():
            recorder.record("stop_requested")
            stop_between_batches(opened, [query])
            lines.speak_last()
            return False
        lines.speak()
        _wait_for_end(query)
    lines.speak_last()
    raise_failure(opened.warehouse, {name: query})
    return True


def _wait_for_end(query: StreamingQuery) -> None:
    """POLL_SECONDS, or until the query ends. `raise_failure` tells how it ended."""
    with suppress(StreamingQueryException):
        query.awaitTermination(POLL_SECONDS)  # type: ignore[arg-type]  # declared as whole seconds; a part of one is taken, too


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

    The line names what to do where that is known.
    """
    for name, query in queries.items():
        fault = query.exception()
        if fault is None:
            continue
        details = str(fault)
        cause = one_line_cause(details)
        if cause.startswith("BadWarehouse: "):
            raise BadWarehouse(f"{name}: {cause.removeprefix('BadWarehouse: ')}")
        print(visible(f"--- {name} failed, details:\n{details}\n---", keep="\n\t"), file=sys.stderr, flush=True)
        known = advice(details, warehouse, name)
        raise QueryFailed(f"{name} failed: {known} ({cause})" if known else f"{name} failed: {cause}")
