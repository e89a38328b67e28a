"""From the broker to the screen: seconds from a change at a real broker until `serve` names the new cause.

Collector, job and server are as a user starts them, with defaults.
It needs `./spark-submit.sh set-up broker` and `./spark-submit.sh collector build`.
"""

import json
import os
import signal
import statistics
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.live import LiveTables, started
from bench.measure import processor_s
from bench.serve import served
from pipeline.query.views.status_words import WELL
from pipeline.sources.growing import UNFINISHED
from pipeline.warehouse.layout import Warehouse
from tools.collector_jar import JAR
from tools.live_broker.admin import rate
from tools.live_broker.load import Clients, Publishing
from tools.live_broker.pulsar import server
from tools.live_broker.stage import TENANT
from tools.live_broker.standalone import Standalone, checked_collector

#: Messages a second: few, so that the two cores are there for the job. What the limit lets through is half of it.
PER_S, LIMIT_PER_S = 40, 20
#: Java compiles itself in the first rounds.
WARM_UP = 1
#: How long a state lasts before the next change: a cause needs a moment to be the main one, and its windows to be written.
SETTLE_S = 8.0
PATIENCE_S = 120.0
POLL_S = 0.25
SUBSCRIPTION = "s"
BOUNDS = {"p50_s": 5.0, "p95_s": 8.0}
_HELD = "throttled"


class Seen(NamedTuple):
    """What a change should look like on the screen: a name, and whether a row of `why` shows it."""

    change: str
    shows: Callable[[dict[str, Any]], bool]


STOPS = Seen("stops_reading", lambda row: row["cause"] in ("no_permits", "no_flow"))
READS = Seen("reads_again", lambda row: row["status"] in WELL or row["cause"] == "catching_up")
LIMITED = Seen("limit_set", lambda row: row["cause"] == _HELD)
LIFTED = Seen("limit_lifted", lambda row: row["status"] in WELL or row["cause"] not in (_HELD, None))
LEAVES = Seen("leaves", lambda row: row["cause"] == "no_consumer")
COMES = Seen("comes_back", lambda row: row["status"] in WELL or row["cause"] not in ("no_consumer", None))


def bench_screen(folder: Path, rounds: int) -> dict[str, Any]:
    """Rounds of the six changes; p50 and p95 of all of them, and the median of each change. The first WARM_UP rounds are not counted."""
    events, warehouse = folder / "events", f"file:{folder / 'warehouse'}"
    events.mkdir()
    broker = Standalone(server(), checked_collector(JAR), folder / "broker", events, collector_options="")
    with ExitStack() as running:
        running.enter_context(broker)
        job = running.enter_context(_job(events, folder, warehouse))
        LiveTables(warehouse).wait_for(1, job)
        screen = _Screen(running.enter_context(served(Warehouse(warehouse), folder)).port, broker)
        screen.begin()
        running.callback(screen.end)
        found: dict[str, list[float]] = {}
        for number in range(WARM_UP + rounds):
            load, used_s, began = os.getloadavg()[0], processor_s(job.pid), time.monotonic()
            seconds = screen.round()
            share = (processor_s(job.pid) - used_s) / (time.monotonic() - began)
            words = ", ".join(f"{change} {took:.1f} s" for change, took in seconds.items())
            is_warm = number >= WARM_UP
            print(f"  round {number}{'' if is_warm else ' (warm-up)'}: {words} (load {load:.1f}, job {share:.2f} cores)", flush=True)
            for change, took in seconds.items():
                found.setdefault(change, []).extend([took] if is_warm else [])
        files = sum(1 for path in events.iterdir() if not path.name.startswith(UNFINISHED))
    return _summary(found) | {
        "rounds": rounds,
        "load_of_last_round": round(load, 2),
        "job_cores_of_last_round": round(share, 2),
        "files": files,
    }


def _summary(found: dict[str, list[float]]) -> dict[str, Any]:
    every = [took for some in found.values() for took in some]
    p50, p95 = statistics.median(every), statistics.quantiles(every, n=20, method="inclusive")[-1]
    return {
        "p50_s": round(p50, 2),
        "p95_s": round(p95, 2),
        "max_s": round(max(every), 2),
        "medians_s": {change: round(statistics.median(some), 2) for change, some in found.items()},
        "within_bounds": {"p50": p50 <= BOUNDS["p50_s"], "p95": p95 <= BOUNDS["p95_s"]},
    }


@contextmanager
def _job(events: Path, folder: Path, warehouse: str) -> Iterator["subprocess.Popen[bytes]"]:
    job = started(events, folder, warehouse)
    try:
        yield job
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        job.wait(PATIENCE_S)


class _Screen:
    """A topic with a steady load, one subscription, and somebody who looks at it all the time."""

    def __init__(self, port: int, broker: Standalone) -> None:
        self._url = f"http://127.0.0.1:{port}/v1/why?all=true"
        self._broker, self._clients = broker, Clients(broker.service_url, broker.work / "clients.log")
        self._namespace = f"{TENANT}/screen"
        self._topic = f"persistent://{self._namespace}/t"
        self._ends = threading.Event()
        self._client = _Client(broker, self._topic)

    def begin(self) -> None:
        """The load, and a consumer that follows it: until the screen shows that."""
        self._broker.admin.make_namespace(self._namespace)
        self._broker.admin.make_topic(self._topic)
        self._client.comes()
        threading.Thread(target=self._publish, daemon=True).start()
        self._seconds_until(lambda row: row["status"] in WELL)

    def end(self) -> None:
        """Stop all of it."""
        self._ends.set()
        self._client.leaves()

    def round(self) -> dict[str, float]:
        """Seconds of each change."""
        policy = f"{SUBSCRIPTION}/dispatchRate"
        admin = self._broker.admin
        changes: list[tuple[Seen, Callable[[], None]]] = [
            (STOPS, self._client.stops),
            (READS, self._client.reads),
            (LIMITED, lambda: admin.topic_policy(self._topic, policy, rate(LIMIT_PER_S))),
            (LIFTED, lambda: admin.remove_topic_policy(self._topic, policy)),
            (LEAVES, self._client.leaves),
            (COMES, self._client.comes),
        ]
        found = {}
        for seen, change in changes:
            change()
            found[seen.change] = self._seconds_until(seen.shows)
            time.sleep(SETTLE_S)
        return found

    def _seconds_until(self, shows: Callable[[dict[str, Any]], bool]) -> float:
        began, row = time.monotonic(), None
        while time.monotonic() - began < PATIENCE_S:
            row = self._row()
            if row is not None and shows(row):
                return time.monotonic() - began
            time.sleep(POLL_S)
        raise SystemExit(f"the screen does not show it within {PATIENCE_S:.0f} s: {row}")

    def _row(self) -> dict[str, Any] | None:
        with urllib.request.urlopen(self._url, timeout=PATIENCE_S) as answer:
            rows: list[dict[str, Any]] = json.load(answer)["subscriptions"]
        return next((row for row in rows if (row["topic"], row["subscription"]) == (self._topic, SUBSCRIPTION)), None)

    def _publish(self) -> None:
        while not self._ends.is_set():
            self._clients.publish(self._topic, Publishing(PER_S * 10, PER_S))


class _Client:
    """One consumer with a short queue, on a thread of its own; it can stop to take messages, and leave."""

    def __init__(self, broker: Standalone, topic: str) -> None:
        self._broker, self._topic = broker, topic
        self._reads = threading.Event()
        self._is_here = False
        self._thread: threading.Thread | None = None

    def comes(self) -> None:
        """Subscribe and read; returns when the broker knows the consumer."""
        import pulsar

        log = pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(self._broker.work / "consumer.log"))
        client = pulsar.Client(self._broker.service_url, logger=log)
        consumer = client.subscribe(self._topic, SUBSCRIPTION, consumer_type=pulsar.ConsumerType.Shared, receiver_queue_size=10)
        self._is_here = True
        self._reads.set()
        self._thread = threading.Thread(target=self._run, args=(client, consumer, pulsar.Timeout), daemon=True)
        self._thread.start()

    def stops(self) -> None:
        """Take no further message."""
        self._reads.clear()

    def reads(self) -> None:
        """Go on."""
        self._reads.set()

    def leaves(self) -> None:
        """Close; returns when it has."""
        self._is_here = False
        self._reads.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
            self._thread = None

    def _run(self, client: Any, consumer: Any, nothing_came: type[Exception]) -> None:
        while self._is_here:
            self._reads.wait()
            try:
                consumer.acknowledge(consumer.receive(timeout_millis=200))
            except nothing_came:
                continue
        client.close()
