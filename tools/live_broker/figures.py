"""A broker's own figures: scraped when nothing moves, or all the time; kept in the form of shared/captures."""

import json
import re
import threading
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.live_broker.admin import Admin
from tools.live_broker.broker_metrics import check_buckets

SAMPLE_S = 2.0
QUIET_S = 60.0
#: Requests; as many as the broker has threads for them.
_AT_ONCE = 8
_CLOCK_US = 1000
_EVICTIONS = re.compile(r"^pulsar_(broker_)?storage_backlog_quota_exceeded_evictions_total\{([^}]*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
#: What a subscription's sample has of its statistics.
_SUB = ("msgBacklog", "backlogSize", "earliestMsgPublishTimeInBacklog", "unackedMessages", "type")
_TOPIC = (
    "backlogSize", "storageSize", "oldestBacklogMessageAgeSeconds", "oldestBacklogMessageSubscriptionName", "backlogQuotaLimitSize",
    "backlogQuotaLimitTime",
)  # fmt: skip
#: Statistics that change although nothing happens.
_MOVES = ("Rate", "Throughput", "Time", "Age", "Timestamp", "waitingReadOp", "pendingReadOps", "cursorLedger", "MessageId", "messageAck")


def now_us() -> int:
    """µs since the epoch."""
    return time.time_ns() // _CLOCK_US


@dataclass(frozen=True)
class Figures:
    """Everything that the broker reports, asked between two instants (µs) in which none of it changed."""

    as_of_us: int
    as_of_end_us: int
    metrics: str
    otel: str
    stats: dict[str, Any]
    internal: dict[str, Any]
    scrapes: int

    def write(self, folder: Path) -> None:
        """`metrics.txt`, `otel.txt`, `stats.json`, `internal.json`."""
        (folder / "metrics.txt").write_text(self.metrics, encoding="utf-8")
        (folder / "otel.txt").write_text(self.otel, encoding="utf-8")
        for name, found in (("stats", self.stats), ("internal", self.internal)):
            (folder / f"{name}.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def when_quiet(admin: Admin, namespace: str) -> Figures:
    """The figures just after a round of quota checks, when two scrapes agree. TimeoutError after QUIET_S.

    Just after: so none is missing in them when the broker is stopped at once.
    """
    deadline = time.monotonic() + QUIET_S
    checks, scrapes = check_buckets(admin.metrics()), 0
    while time.monotonic() < deadline:
        time.sleep(0.2)
        if check_buckets(admin.metrics()) == checks:
            continue
        _await_end_of_round(admin)
        one, other = _scrape(admin, namespace), _scrape(admin, namespace)
        scrapes += 2
        if _lasting(one) == _lasting(other):
            return Figures(one.as_of_us, other.as_of_end_us, one.metrics, one.otel, one.stats, one.internal, scrapes)
        checks = check_buckets(other.metrics)
    raise TimeoutError(f"the broker's figures did not come to rest within {QUIET_S:.0f} s")


def _await_end_of_round(admin: Admin) -> None:
    """Checks of one round follow each other closely: it is over when none has come for most of a second."""
    checks = None
    while checks != (checks := check_buckets(admin.metrics())):
        time.sleep(0.8)


def _scrape(admin: Admin, namespace: str) -> Figures:
    begun, topics = now_us(), admin.topics(namespace)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        asked = threads.map(admin.stats, topics), threads.map(admin.internal_stats, topics)
        stats, internal = (dict(zip(topics, answers, strict=True)) for answers in asked)
    metrics, otel = admin.metrics(), admin.otel()
    return Figures(begun, now_us(), metrics, otel, stats, internal, 1)


def _lasting(figures: Figures) -> Any:
    """What two scrapes must agree in."""
    wanted = re.compile(r"^pulsar_(subscription_dispatch_throttled|\w*backlog_quota_(?!check_duration_seconds_created)).*$", re.MULTILINE)
    lines = [found.group(0) for found in wanted.finditer(figures.metrics)]
    pauses = [line for line in figures.otel.splitlines() if line.startswith("pulsar_broker_connection_rate_limit_count")]
    return lines, pauses, _still(figures.stats), _still(figures.internal)


def _still(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _still(value) for key, value in found.items() if not any(word in key for word in _MOVES)}
    return [_still(one) for one in found] if isinstance(found, list) else found


def evictions(metrics: str) -> dict[str, int]:
    """`TOPIC|size`, `TOPIC|time` → evictions since the topic was loaded; the broker's own sum under `(broker)`."""
    found = {}
    for broker, labels, value in _EVICTIONS.findall(metrics):
        of = dict(_LABEL.findall(labels))
        found[f"{'(broker)' if broker else of['topic']}|{of['quota_type']}"] = int(float(value))
    return found


@dataclass
class Timeline:
    """Samples every topic's statistics and all evictions, each with the interval in which it was asked."""

    admin: Admin
    namespace: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def begin(self) -> None:
        """Sample until `end`."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Take no more samples."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(SAMPLE_S):
            try:
                for topic in self.admin.topics(self.namespace):
                    begun = now_us()
                    stats = self.admin.stats(topic)
                    self.lines.append({"ts": begun, "ts_end": now_us(), "topic": topic, **_sampled(stats)})
                begun = now_us()
                found = evictions(self.admin.metrics())
                self.lines.append({"ts": begun, "ts_end": now_us(), "evictions": found})
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                continue  # the scenario restarts the broker, or unloads the topic: no sample


def _sampled(stats: dict[str, Any]) -> dict[str, Any]:
    subscriptions = {sub: {name: said.get(name) for name in _SUB} for sub, said in stats["subscriptions"].items()}
    return {**{name: stats.get(name) for name in _TOPIC}, "publishers": len(stats["publishers"]), "subscriptions": subscriptions}
