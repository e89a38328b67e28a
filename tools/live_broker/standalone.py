"""A Pulsar standalone as a child process: one broker, one bookie, on free ports of the loopback interface, with the collector."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from pipeline.faults import BadConfig
from tools.live_broker.admin import Admin
from tools.maven import java_tool

HOST = "127.0.0.1"
#: A broker that starts takes 6 s on two quiet cores.
START_S = 120.0
STOP_S = 60.0
_SETTINGS = {
    "advertisedAddress": HOST,
    "bindAddress": HOST,
    "backlogQuotaCheckIntervalInSeconds": "5",
    # With one thread per core a size eviction after a precise age check can block itself for 30 s.
    "bookkeeperClientNumWorkerThreads": "16",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "managedLedgerCacheSizeMB": "64",
    "managedLedgerCursorPositionFlushSeconds": "2",
    "managedLedgerDefaultMarkDeleteRateLimit": "1000",
    "managedLedgerMaxEntriesPerLedger": "50",
    "managedLedgerMinLedgerRolloverTimeMinutes": "0",
    "numHttpServerThreads": "8",
    "numIOThreads": "4",
    "preciseTimeBasedBacklogQuotaCheck": "true",
    "pulsarChannelPauseReceivingRequestsIfUnwritable": "true",
    "statsUpdateFrequencyInSecs": "5",
}


class BrokerFailed(Exception):
    """The broker did not start, or ended by itself; the message names its log."""


@dataclass(frozen=True)
class Ports:
    """The ports of one standalone."""

    binary: int
    web: int
    otel: int
    bookie: int

    @staticmethod
    def free() -> "Ports":
        """Four that nobody uses now."""
        sockets = [socket.socket() for _ in range(4)]
        try:
            for one in sockets:
                one.bind((HOST, 0))
            return Ports(*(one.getsockname()[1] for one in sockets))
        finally:
            for one in sockets:
                one.close()


@dataclass
class Standalone:
    """One broker. `events` is the collector's folder, `work` keeps everything else: data, settings, the broker's own log.

    Without a `collector` it starts as Pulsar alone does; see `attach`.
    """

    pulsar: Path
    collector: Path | None
    work: Path
    events: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    collector_options: str = "roll_s=1,flush_ms=200"
    ports: Ports = field(default_factory=Ports.free)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def service_url(self) -> str:
        """For clients."""
        return f"pulsar://{HOST}:{self.ports.binary}"

    @property
    def name(self) -> str:
        """The broker's id in the log."""
        return f"{HOST}:{self.ports.web}"

    @property
    def admin(self) -> Admin:
        """Its web service."""
        return Admin(f"http://{self.name}", f"http://{HOST}:{self.ports.otel}/metrics")

    @property
    def output(self) -> Path:
        """What the broker and the collector print."""
        return self.work / "broker.log"

    def effective_settings(self) -> dict[str, str]:
        """The settings that differ from Pulsar's own conf/standalone.conf; ports are not among them."""
        return {**_SETTINGS, **self.settings}

    def start(self) -> None:
        """Start it and wait until it serves. BrokerFailed if it does not within START_S."""
        self.work.mkdir(parents=True, exist_ok=True)
        conf = self.work / "standalone.conf"
        ports = {"brokerServicePort": str(self.ports.binary), "webServicePort": str(self.ports.web)}
        text = (self.pulsar / "conf" / "standalone.conf").read_text(encoding="utf-8")
        conf.write_text(overlaid(text, {**self.effective_settings(), **ports}), encoding="utf-8")
        data = self.work / "data"
        command = [
            str(self.pulsar / "bin" / "pulsar"), "standalone", "-nfw", "-nss", "--num-bookies", "1", "-c", str(conf),
            "--metadata-dir", str(data / "metadata"), "--bookkeeper-dir", str(data / "bookkeeper"),
            "--bookkeeper-port", str(self.ports.bookie),
        ]  # fmt: skip
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self._environment(), start_new_session=True
            )
        self._wait_until_it_serves(self._process)

    @property
    def pid(self) -> int:
        """The process of the broker: `bin/pulsar` becomes it. BrokerFailed if it does not run."""
        if self._process is None:
            raise BrokerFailed(f"no broker runs: {self.output}")
        return self._process.pid

    @property
    def _options(self) -> str:
        return f"dir={self.events},{self.collector_options}"

    def attach(self, collector: Path) -> None:
        """Add the collector while the broker runs, as docs/guide/collector.md describes; CalledProcessError if Java refuses."""
        subprocess.run([java_tool("jcmd"), str(self.pid), "JVMTI.agent_load", str(collector), f'"{self._options}"'], check=True)

    def stop(self) -> None:
        """SIGTERM, and wait for the end: the log then ends with `broker_stop`."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired as fault:
                self.kill()
                raise BrokerFailed(f"the broker did not end within {STOP_S:.0f} s: {self.output}") from fault
        self._process = None

    def kill(self) -> None:
        """SIGKILL, as a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None

    def __enter__(self) -> "Standalone":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.stop()
        else:
            self.kill()

    def _environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("PULSAR_", "OTEL_", "BOOKIE_"))}
        return ours | {
            "PULSAR_EXTRA_OPTS": f"-javaagent:{self.collector}={self._options}" if self.collector else "",
            "PULSAR_MEM": "-Xms256m -Xmx768m -XX:MaxDirectMemorySize=512m",
            "PULSAR_GC": "-XX:+UseSerialGC",
            "PULSAR_GC_LOG": "-Xlog:disable",
            "PULSAR_LOG_DIR": str(self.work / "logs"),
            "PULSAR_LOG_APPENDER": "Console",
            "OTEL_SDK_DISABLED": "false",
            "OTEL_METRICS_EXPORTER": "prometheus",
            "OTEL_EXPORTER_PROMETHEUS_HOST": HOST,
            "OTEL_EXPORTER_PROMETHEUS_PORT": str(self.ports.otel),
        }

    def _wait_until_it_serves(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise BrokerFailed(f"the broker ended with {process.returncode} before it served: {self.output}")
            try:
                if self.admin.is_ready():
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                pass
            time.sleep(0.2)
        self.kill()
        raise BrokerFailed(f"the broker did not serve within {START_S:.0f} s: {self.output}")


def overlaid(conf: str, settings: Mapping[str, str]) -> str:
    """A configuration with other values; keys that it has not are appended."""
    left = dict(settings)
    lines = []
    for line in conf.splitlines():
        key = line.partition("=")[0].strip()
        lines.append(f"{key}={left.pop(key)}" if key in left else line)
    return "\n".join([*lines, *(f"{key}={value}" for key, value in left.items())]) + "\n"


def checked_collector(jar: Path) -> Path:
    """The collector's jar; BadConfig where it was not made."""
    if not jar.exists():
        raise BadConfig(f"there is no {jar}: make it by ./spark-submit.sh collector build")
    return jar
