"""A driver's life around its queries: warehouse opened for writing, lock and gate wired to clock and process, stop by signal or file."""

import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from pyspark.sql import SparkSession

from console.shown import say
from driver.locked import locked
from driver.this_machine import utc_now
from pipeline import VERSION
from pipeline.query.newest_room import NewestRoom
from pipeline.run_context import RunContext
from pipeline.warehouse.guard import check_checkpoint
from pipeline.warehouse.layout import QUERIES, Warehouse
from pipeline.warehouse.stop import MicroBatchGate, StopFile, park_until_interrupted


@dataclass(frozen=True)
class OpenWarehouse:
    """A warehouse that this driver, and no other, may write to."""

    spark: SparkSession
    warehouse: Warehouse
    run: RunContext
    gate: MicroBatchGate
    stop: "StopRequest"


class StopRequest:
    """Whether somebody asked to stop: SIGTERM, SIGINT, or the warehouse's stop file."""

    def __init__(self, file: StopFile) -> None:
        self._file = file
        self._signalled = threading.Event()

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Signal handler."""
        say(f"{signal.Signals(number).name}: stopping after the running micro-batch")
        self._signalled.set()

    def is_made(self) -> bool:
        """Looks at the file, too."""
        if not self._signalled.is_set() and self._file.is_there():
            say("stop file found: stopping after the running micro-batch")
            self._signalled.set()
        return self._signalled.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than until a signal."""
        self._signalled.wait(seconds)


@contextmanager
def open_for_writing(spark: SparkSession, warehouse: Warehouse) -> Iterator[OpenWarehouse]:
    """Lock the warehouse, refuse what must not be continued, make missing tables, listen for requests to stop. Main thread only."""
    from pipeline.warehouse.tables import create_missing_tables

    run_id = str(uuid.uuid4())
    stop_file = StopFile(warehouse)
    stop = StopRequest(stop_file)
    with _signals_heard(stop), locked(warehouse, run_id, spark=spark) as lock:
        stop_file.clear()
        look = NewestRoom(warehouse)
        for query in QUERIES:
            check_checkpoint(look, query)
        create_missing_tables(warehouse)
        gate = MicroBatchGate(lock.verify, park_until_interrupted(spark))
        run = RunContext(run_id, VERSION, utc_now, gate.enter, time.sleep)
        yield OpenWarehouse(spark, warehouse, run, gate, stop)


@contextmanager
def _signals_heard(stop: StopRequest) -> Iterator[None]:
    """SIGTERM and SIGINT are requests to stop, from before the lock is taken: a driver that is asked to stop removes its lock."""
    before = {number: signal.signal(number, stop.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
