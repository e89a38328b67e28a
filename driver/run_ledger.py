"""A run of the streaming job from begin to end: who ran what with which settings, how it ended, and all records in between."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from driver.advice import one_line_cause
from driver.open_warehouse import OpenWarehouse
from driver.recorder import Recorder
from driver.run_row import begun_row
from pipeline.settings import Settings
from pipeline.upkeep.run_records.json_lines import lines_writer
from pipeline.upkeep.run_records.outbox import Outbox
from pipeline.upkeep.run_records.rows_writer import rows_writer
from schemas.tables.watch import QUERY_PROGRESS, RUN_LEDGER

#: A run that is over by then costs one commit of run_ledger, not two.
LEDGER_INTERVAL_S = 10.0
#: Who reads a log wants to see what happens now; a line alone would open the file for itself.
LOG_INTERVAL_S = 1.0
ERROR_CHARACTERS = 2_000


@contextmanager
def recorded(opened: OpenWarehouse, settings: Settings, *, events: str, mode: str) -> Iterator[Recorder]:
    """The recorder of a run that begins and ends with the block: its two rows of run_ledger, the log file, the listener.

    `events` is the value of --events, `mode` is live, once or drain. A fault in here does not end the job, and delays its end by
    CLOSE_WAIT_S at most. A fault that ends the block passes through.
    """
    run, log_path = opened.run, settings.watch.log_path
    log = None if log_path is None else Outbox("watch.log_file", lines_writer(log_path), LOG_INTERVAL_S)
    progress, ledger = (
        Outbox(table.name, rows_writer(opened.warehouse, table, run.run_id), interval_s)
        for table, interval_s in ((QUERY_PROGRESS, settings.watch.write_interval_ms / 1000), (RUN_LEDGER, LEDGER_INTERVAL_S))
    )
    begun = begun_row("stream", mode, events, opened.run, settings, opened.spark.version)
    started = _Started(ledger, begun)
    recorder = Recorder(run.run_id, run.now, progress, log, started.put)
    recorder.record("run_started", **{key: value for key, value in begun.items() if key not in ("run_id", "event")})
    recorder.reports.begin(opened.spark)
    outcome, error = "failed", None
    try:
        yield recorder
        outcome = recorder.outcome
    except BaseException as fault:
        error = one_line_cause(fault)[:ERROR_CHARACTERS]
        raise
    finally:
        _forget_listener(recorder)
        recorder.take()
        counted = {"micro_batches": recorder.micro_batches, "unrecorded": recorder.unrecorded}
        end: dict[str, Any] = {"ended_at": run.now(), "outcome": outcome, "error": error, **counted}
        if not started.is_put:
            started.put(None)
        ledger.put({**begun, "event": "ended", "lost": started.lost, **end})
        recorder.record("run_ended", level="INFO" if error is None else "ERROR", **end)
        recorder.close(ledger)


class _Started:
    """The first row of a run. It is put when the source is open: a row is written once, and then it has what the source lost."""

    def __init__(self, ledger: Outbox, begun: dict[str, Any]) -> None:
        self.lost: str | None = None
        self.is_put = False
        self._ledger = ledger
        self._begun = begun

    def put(self, lost: str | None) -> None:
        self.lost, self.is_put = lost, True
        self._ledger.put({**self._begun, "lost": lost})


def _forget_listener(recorder: Recorder) -> None:
    try:
        recorder.reports.stop()
    except Exception as fault:  # noqa: BLE001 - Java may be gone by now; the fault that ended the job reports it
        print(f"WARNING: the listener could not be removed: {one_line_cause(fault)}", file=sys.stderr, flush=True)
