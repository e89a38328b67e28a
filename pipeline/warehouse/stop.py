"""Stopping between micro-batches: the gate that every micro-batch passes, and the file that asks from outside."""

import threading
from collections.abc import Callable

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse


class StopFile:
    """WAREHOUSE/_stop: whoever makes it asks the running driver to stop."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._files = files_at(warehouse.root)
        self._uri = warehouse.stop_file

    def clear(self) -> None:
        """Forget a request to an earlier driver."""
        self._files.delete(self._uri)

    def is_there(self) -> bool:
        """Whether somebody asks to stop."""
        return self._files.exists(self._uri)


class MicroBatchGate:
    """Lets micro-batches through until `close`; the next of each query is parked then, before it has done anything.

    `verify` raises when this driver must not write any more. `park` blocks the calling query until Spark stops it, and then raises
    what Spark takes for a stop.
    """

    def __init__(self, verify: Callable[[], None], park: Callable[[], None]) -> None:
        self._verify = verify
        self._park = park
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._parked = 0

    def enter(self) -> None:
        """Called by a query at the start of each micro-batch."""
        if self._closed.is_set():
            with self._lock:
                self._parked += 1
            self._park()
        self._verify()

    def close(self) -> None:
        """Park every micro-batch that starts from now on."""
        self._closed.set()

    @property
    def parked(self) -> int:
        """Queries that stand at the gate."""
        with self._lock:
            return self._parked


class StoppedBetweenMicroBatches(Exception):
    """A parked query was stopped. Spark looks for its words in an error from Python: they mark Spark's own stop, not a failure."""

    def __init__(self) -> None:
        super().__init__("py4j.protocol.Py4JJavaError: An error occurred while calling park: java.lang.InterruptedException")


def park_until_interrupted(spark: SparkSession) -> Callable[[], None]:
    """A `park` for MicroBatchGate: sleeps in the query's own JVM thread.

    foreachBatch runs in Python while the query's JVM thread waits for its answer on a socket, and Spark's `stop()` interrupts that
    thread: a wait in Python would never notice. A call into the JVM from there runs on the same thread (py4j pins them), where an
    interrupt ends the sleep. Its own error would do, but carries a Java stack trace, on which Spark's regular expression
    (StreamExecution.isInterruptionException) overflows the stack: so a short one takes its place.
    """

    def park() -> None:
        try:
            spark._jvm.java.lang.Thread.sleep(2**62)  # type: ignore[union-attr]  # _jvm is None only without a session
        except Py4JJavaError as woken:
            if woken.java_exception.getClass().getSimpleName() != "InterruptedException":
                raise
        raise StoppedBetweenMicroBatches

    return park
