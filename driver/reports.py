"""Spark's reports of micro-batches and of queries that ended, kept as text until the main thread takes them.

PySpark would hand over each report as an object: it asks Java for every figure of it, some hundreds of calls, most of them for metrics
of the state store. With a micro-batch each second that is a third of a core. The JSON text of a report is one call.
"""

import threading
from collections import deque
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

#: The main thread looks five times a second; a listing of all log files may keep it for a minute.
INBOX = 1_000


class Reports:
    """What Spark reported: `progress` has JSON texts, the oldest first; `ended` has the run ids of queries."""

    def __init__(self) -> None:
        self.progress: deque[str] = deque(maxlen=INBOX)
        self.pushed_out = 0
        self.ended: set[str] = set()
        self.query_ended = threading.Event()

    def keep(self, progress: str) -> None:
        """Keep the progress; the oldest gives way."""
        self.pushed_out += len(self.progress) == INBOX
        self.progress.append(progress)

    def end(self, run_id: str) -> None:
        """No progress of this run of a query follows."""
        self.ended.add(run_id)
        self.query_ended.set()

    def begin(self, spark: SparkSession) -> None:
        """Have every report of the session's queries from now on. Once."""
        gateway: Any = spark.sparkContext._gateway
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]  # PySpark has no types there
        self._queries: Any = spark._jsparkSession.streams()
        self._java = gateway.jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper(FromJava(self))
        self._queries.addListener(self._java)

    def stop(self) -> None:
        """Have no more reports. Raises what Py4J raises if Java is gone."""
        self._queries.removeListener(self._java)


class FromJava:
    """Spark's interface, as Java calls it in a thread of its own."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Nobody waits for it."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """A micro-batch is done. The event is Java's."""
        self._reports.keep(event.progress().json())

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Nobody waits for it."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """A run of a query is over, with or without a fault."""
        self._reports.end(event.runId().toString())

    class Java:
        """Read by Py4J."""

        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)
