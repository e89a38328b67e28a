"""Clients with transactions: `pulsar-perf`, for Pulsar's Python client has no transactions."""

import os
import subprocess
import time
from dataclasses import dataclass
from types import TracebackType

from tools.live_broker.standalone import BrokerFailed, Standalone

#: A Java client starts in 4 s on two quiet cores; the first transaction waits for its coordinator.
_OPEN_S = _OVER_S = 150.0
_POLL_S = 0.2
_NEVER = 1_000_000


@dataclass(frozen=True)
class Transactions:
    """`count` transactions, one after the other: each acknowledges `messages` of one subscription, and publishes as many to `produces`."""

    consumes: str
    produces: str
    count: int
    messages: int
    aborts: bool = False
    sub: str = "s"
    kind: str = "Shared"

    def run(self, broker: Standalone) -> None:
        """By a client of its own. BrokerFailed if they are not over within _OVER_S."""
        process = _perf(
            broker,
            *("transaction", "--topics-c", self.consumes, "-ss", self.sub, "-st", self.kind, "--topics-p", self.produces, "-threads", "1"),
            *("-ntxn", str(self.count), "-nmc", str(self.messages), "-nmp", str(self.messages), *(["-abort"] if self.aborts else [])),
        )
        try:
            process.wait(_OVER_S)
        except subprocess.TimeoutExpired as fault:
            raise BrokerFailed(f"{self.count} transactions were not over within {_OVER_S:.0f} s: {broker.work / 'perf.log'}") from fault
        finally:
            _kill(process)


class OpenTransaction:
    """While this lasts the process publishes five messages a second in one transaction. It is killed; the broker aborts later."""

    def __init__(self, broker: Standalone, topic: str, timeout_s: int) -> None:
        self._broker, self._topic, self._timeout_s = broker, topic, timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "OpenTransaction":
        words = ("-r", "5", "-m", "0", "-s", "100", "-txn", "-nmt", str(_NEVER), "-tto", str(self._timeout_s), self._topic)
        self._process = _perf(self._broker, "produce", *words)
        deadline = time.monotonic() + _OPEN_S
        while not self._broker.admin.stats(self._topic)["ongoingTxnCount"]:
            if time.monotonic() > deadline or self._process.poll() is not None:
                _kill(self._process)
                raise BrokerFailed(f"no transaction was opened: {self._broker.work / 'perf.log'}")
            time.sleep(_POLL_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self._process is not None:
            _kill(self._process)


def _perf(broker: Standalone, command: str, *words: str) -> "subprocess.Popen[bytes]":
    """`pulsar-perf` of the broker's own version, at the broker; it prints to perf.log."""
    tool = str(broker.pulsar / "bin" / "pulsar-perf")
    ours = {"PULSAR_MEM": "-Xmx128m", "PULSAR_EXTRA_OPTS": "", "PULSAR_LOG_DIR": str(broker.work / "perf-logs")}
    with (broker.work / "perf.log").open("ab") as output:
        return subprocess.Popen(
            [tool, command, "-u", broker.service_url, "-au", f"http://{broker.name}", *words],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **ours},
        )


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
