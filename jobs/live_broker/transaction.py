"""A client with a transaction that it neither commits nor aborts: `pulsar-perf`, for Pulsar's Python client has no transactions."""

import os
import subprocess
import time
from types import TracebackType

from jobs.live_broker.standalone import BrokerFailed, Standalone

#: A Java client starts in 4 s on two quiet cores; the first transaction waits for its coordinator.
_OPEN_S = 150.0
_POLL_S = 0.2
_NEVER = 1_000_000


class OpenTransaction:
    """While this lasts the process publishes five messages a second in one transaction. It is killed; the broker aborts later."""

    def __init__(self, broker: Standalone, topic: str, timeout_s: int) -> None:
        self._broker, self._topic = broker, topic
        self._command = [
            str(broker.pulsar / "bin" / "pulsar-perf"), "produce", "-u", broker.service_url, "-au", f"http://{broker.name}",
            "-r", "5", "-m", "0", "-s", "100", "-txn", "-nmt", str(_NEVER), "-tto", str(timeout_s), topic,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "OpenTransaction":
        with (self._broker.work / "perf.log").open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={
                    **os.environ,
                    "PULSAR_MEM": "-Xmx128m",
                    "PULSAR_EXTRA_OPTS": "",
                    "PULSAR_LOG_DIR": str(self._broker.work / "perf-logs"),
                },
            )
        deadline = time.monotonic() + _OPEN_S
        while not self._broker.admin.stats(self._topic)["ongoingTxnCount"]:
            if time.monotonic() > deadline or self._process.poll() is not None:
                self._kill()
                raise BrokerFailed(f"no transaction was opened: {self._broker.work / 'perf.log'}")
            time.sleep(_POLL_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._kill()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
