"""The live job as a child process, started as a user starts it; what it wrote is watched without Spark."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from driver.session import SHORT_JOB
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parents[2]
#: Far beyond what a busy machine needs for any one step; a condition that takes longer will not come.
PATIENCE_S = 180.0
POLL_S = 0.02


class LiveJob:
    """`./spark-submit.sh stream` without --once, in a process group of its own; killed at the end of the `with` if it still runs."""

    def __init__(
        self, events: Path | str, warehouse: Warehouse, output: Path, *, conf: Mapping[str, str] | None = None, **settings: str
    ) -> None:
        """`conf` are Spark's settings beside the production's, `settings` the job's, with `__` for the dot of their keys."""
        self._warehouse = warehouse
        self._output = output
        self._manifest: tuple[int, list[dict[str, Any]]] = (0, [])
        self._command = [
            str(ROOT / "spark-submit.sh"), "stream", "--events", str(events), "--warehouse", warehouse.root,
            "--master", "local[2]", "--driver-java-options", SHORT_JOB["spark.driver.extraJavaOptions"],
            "--conf", "spark.sql.shuffle.partitions=2", "--set", "stream.trigger_interval_ms=1000",
            *(word for key, value in (conf or {}).items() for word in ("--conf", f"{key}={value}")),
            *(word for key, value in settings.items() for word in ("--set", f"{key.replace('__', '.')}={value}")),
        ]  # fmt: skip

    def __enter__(self) -> "LiveJob":
        environ = {
            key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")
        }
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                self._command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environ, start_new_session=True
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def said(self) -> str:
        """Everything it printed so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Poll until `condition` holds; the test fails if the job ends before, or after PATIENCE_S."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if self._process.poll() is not None:
                self._fail(f"it ended with {self._process.returncode} before {what}")
            if time.monotonic() > deadline:
                self._fail(f"not within {PATIENCE_S:.0f} s: {what}")
            time.sleep(POLL_S)

    def wait_until_live(self) -> None:
        """Until both queries run."""
        self.wait_until(lambda: "\nlive;" in self.said(), "its queries run")

    def signal_group(self, number: signal.Signals) -> None:
        """As `timeout` and terminals do: the signal reaches Java, too."""
        os.killpg(self._process.pid, number)

    def exit_code(self) -> int:
        """Wait for its end."""
        try:
            return self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._fail(f"it did not end within {PATIENCE_S:.0f} s")
            raise

    def written(self, query: str, column: str) -> int:
        """The sum of a column of batch_manifest over the finished micro-batches of a query."""
        commits = self.commits("batch_manifest")
        if commits != self._manifest[0]:  # read when it has grown: the job needs the processor more
            self._manifest = (commits, arrow_rows(self._warehouse.table("batch_manifest")).to_pylist())
        return sum(row[column] for row in self._manifest[1] if row["query"] == query)

    def commits(self, table: str) -> int:
        """How many versions a table has."""
        return newest_version_at(self._warehouse.table(table)) + 1

    def _fail(self, why: str) -> None:
        quoted = " ".join(f"'{word}'" if " " in word or "*" in word or "[" in word else word for word in self._command)
        pytest.fail(f"the live job: {why}\n--- it said\n{self.said()}\n--- start it by hand (its files are kept)\n{quoted}", pytrace=False)
