"""The run's own records: in the log file, in query_progress and run_ledger, and for the person who waits. The job never waits for them.

Spark reports each micro-batch once (reports.py). The report goes into a bounded queue. (Asking a query for its recentProgress would copy
the last hundred from Java at every look.) The main thread takes reports from the queue. Outboxes with threads of their own write them. A
fault or a hanging writer is reported once on stderr, and counted.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql.streaming import StreamingQuery

from console.shown import say
from driver.advice import one_line_cause
from driver.reports import INBOX, Reports
from pipeline.run_context import nobody_keeps
from pipeline.upkeep.run_records.json_lines import log_entry
from pipeline.upkeep.run_records.outbox import CAPACITY, Entry, Outbox
from pipeline.upkeep.run_records.progress import is_micro_batch, only_looked, progress_row
from pipeline.visible import visible
from pipeline.warehouse.layout import QUERIES

#: Spark reports a query's end from another thread, some milliseconds after it.
LAST_WORDS_S = 5.0
#: How long the end of the job may wait for its records to be written.
CLOSE_WAIT_S = 10.0


class Recorder:
    """Takes from queries and micro-batches, gives to the outboxes. `now` is the clock; times have a zone.

    `progress` and `log` receive rows of query_progress and lines of the log file (None: no file), `put_started` what the source lost.
    """

    def __init__(
        self,
        run_id: str,
        now: Callable[[], datetime],
        progress: Outbox,
        log: Outbox | None,
        put_started: Callable[[str | None], None] = nobody_keeps,
    ) -> None:
        self.outcome = "done"
        self.micro_batches = 0
        self.reports = Reports()
        self._run_id = run_id
        self._now = now
        self._progress = progress
        self._log = log
        self._put_started = put_started
        self._counts: dict[tuple[str, int], Mapping[str, int]] = {}
        self._counts_lock = threading.Lock()
        self._reported: set[str] = set()

    def after_micro_batch(self, query: str, batch_id: int, counts: Mapping[str, int]) -> None:
        """For RunContext: called in the queries' threads."""
        with self._counts_lock:
            self._counts[query, batch_id] = counts
            if len(self._counts) > INBOX:
                del self._counts[next(iter(self._counts))]

    def take(self) -> list[Entry]:
        """Record micro-batches that were finished since the last call; their rows of query_progress. Main thread only, never raises."""
        rows = []
        while self.reports.progress:
            try:
                progress = json.loads(self.reports.progress.popleft())
                if progress["name"] in QUERIES and is_micro_batch(progress) and (row := self._row(progress)) is not None:
                    rows.append(row)
            except Exception as fault:  # noqa: BLE001 - a progress of an unknown form must not end the job; it is reported
                self._report("progress", f"a progress of Spark was not understood: {type(fault).__name__}: {fault}")
        self._report_outboxes()
        return rows

    def _row(self, progress: Mapping[str, Any]) -> Entry | None:
        query, batch_id = progress["name"], progress["batchId"]
        with self._counts_lock:
            counts = self._counts.pop((query, batch_id), None)
        if only_looked(progress, counts):
            return None
        row = progress_row(progress, counts, self._run_id)
        self.micro_batches += 1
        self._progress.put(row)
        fields = {key: value for key, value in row.items() if key not in ("run_id", "query", "batch_id")}
        self.record("micro_batch", query=query, micro_batch=batch_id, **fields)
        return row

    def record(self, event: str, words: str = "", *, level: str = "INFO", **fields: Any) -> None:
        """Something happened: a line of the log file with these fields, and `words` for the person who waits."""
        if words:
            say(words)
        if self._log is not None:
            self._log.put(log_entry(self._now(), level, self._run_id, event, **fields))

    def source_opened(self, lost: str | None) -> None:
        """For RunContext: the run's first row of run_ledger, and what was lost for the person who waits. Main thread only."""
        self._put_started(lost)
        if lost is not None:
            self.record("records_lost", f"WARNING: {lost}; going on with what is there (kafka.on_loss = go_on)", level="WARN", lost=lost)

    def wait_for_last_words(self, queries: Sequence[StreamingQuery]) -> None:
        """Until Spark has reported everything of queries that ended; LAST_WORDS_S at most."""
        waited_for = {str(query.runId) for query in queries}
        deadline = time.monotonic() + LAST_WORDS_S
        while not waited_for <= self.reports.ended and (left := deadline - time.monotonic()) > 0:
            self.reports.query_ended.wait(left)
            self.reports.query_ended.clear()

    @property
    def unrecorded(self) -> int:
        """Micro-batches that query_progress will lack, as far as is known now."""
        box = self._progress
        return self.reports.pushed_out + (box.given_up if box.fault is None else box.unwritten)

    def close(self, ledger: Outbox) -> None:
        """Have everything written, CLOSE_WAIT_S at most. Report on stderr what could not be written."""
        boxes = [box for box in (self._log, self._progress, ledger) if box is not None]
        for box in boxes:
            box.close()
        deadline = time.monotonic() + CLOSE_WAIT_S
        for box in boxes:
            if not box.join(max(0.0, deadline - time.monotonic())):
                self._report(box.name, f"{box.name}: its writer hangs and is left behind, {box.unwritten:,} entries are not written")
        self._report_outboxes(ledger)

    def _report_outboxes(self, *more: Outbox) -> None:
        for box in (self._log, self._progress, *more):
            if box is None:
                continue
            if box.fault is not None:
                self._report(box.name, f"{box.name} could not be written: {one_line_cause(box.fault)}")
            elif box.given_up:
                self._report(box.name, f"{box.name} is written too slowly: only the newest {CAPACITY:,} entries wait")

    def _report(self, name: str, words: str) -> None:
        """Once for each outbox; the rest is counted in run_ledger."""
        if name not in self._reported:
            self._reported.add(name)
            print(f"WARNING: {visible(words)}. The job is not affected", file=sys.stderr, flush=True)
