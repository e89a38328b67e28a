"""What a scenario works with: a broker that runs, clients, threads, and the book of causes."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tools.live_broker.admin import Admin
from tools.live_broker.causes import CAUSES, Cause
from tools.live_broker.hanging import Hanging
from tools.live_broker.load import Clients, Consuming, Publishing
from tools.live_broker.standalone import BrokerFailed, Standalone
from tools.live_broker.transaction import OpenTransaction

TENANT = "real"
#: A compaction of some hundred messages takes a second; the first one of a broker makes its client.
_COMPACTED_S = 60.0
#: A replicator connects in a second or two, or tries again later.
_REPLICATED_S = 60.0


def now_us() -> int:
    """The wall clock, which the broker on this machine has, too: µs since the epoch."""
    return time.time_ns() // 1000


@dataclass
class Stage:
    """A running broker with a namespace of its own for the scenario."""

    broker: Standalone
    namespace: str
    clients: Clients
    causes: list[Cause] = field(default_factory=list)
    _begun: list[Future[Any]] = field(default_factory=list)
    _processes: list[Hanging] = field(default_factory=list)
    _others: list[Standalone] = field(default_factory=list)

    @property
    def admin(self) -> Admin:
        """The broker's web service."""
        return self.broker.admin

    def topic(self, name: str, *subs: str, kind: str = "Shared") -> str:
        """Make a topic with subscriptions at its beginning; returns its full name."""
        topic = f"persistent://{self.namespace}/{name}"
        self.admin.make_topic(topic)
        if subs:
            self.clients.subscribe(topic, *subs, kind=kind)
        return topic

    def partitions(self, name: str, count: int, *subs: str) -> list[str]:
        """Make a partitioned topic with Shared subscriptions at its beginning; returns the full names of its partitions."""
        topic = f"persistent://{self.namespace}/{name}"
        self.admin.make_partitions(topic, count)
        if subs:
            self.clients.subscribe(topic, *subs)
        return [f"{topic}-partition-{number}" for number in range(count)]

    def publish(self, topic: str, count: int, per_s: float, **how: Any) -> None:
        """See Clients.publish; `how` as in Publishing."""
        self.clients.publish(topic, Publishing(count, per_s, **how))

    def consume(self, topic: str, sub: str, **how: Any) -> int:
        """See Clients.consume; `how` as in Consuming."""
        return self.clients.consume(topic, sub, Consuming(**how))

    def compact(self, topic: str, ends: str) -> None:
        """Compact a topic, and wait for the end. BrokerFailed if the status is then another one than `ends` (SUCCESS or ERROR)."""
        self.admin.compact(topic)
        deadline = time.monotonic() + _COMPACTED_S
        while (status := self.admin.compaction_status(topic)) == "RUNNING" and time.monotonic() < deadline:
            time.sleep(0.1)
        if status != ends:
            raise BrokerFailed(f"the compaction of {topic} has the status {status}, not {ends}: {self.broker.output}")

    def other_cluster(self, name: str) -> Standalone:
        """Start the broker of another cluster, without the collector; it has the scenario's namespace, and this broker knows it."""
        other = Standalone(self.broker.pulsar, None, self.broker.work / name, self.broker.events, {"clusterName": name})
        self._others.append(other)
        other.start()
        other.admin.make_namespace(self.namespace)
        self.admin.make_cluster(name, other.admin.web, other.service_url)
        return other

    def await_replicated(self, topic: str, cluster: str) -> None:
        """Until the other cluster has all of a topic. TimeoutError if it has not within _REPLICATED_S."""
        deadline = time.monotonic() + _REPLICATED_S
        while time.monotonic() < deadline:
            found = self.admin.stats(topic)["replication"].get(cluster)
            if found is not None and found["connected"] and not found["replicationBacklog"]:
                return
            time.sleep(0.2)
        raise TimeoutError(f"{topic} is not whole in the cluster {cluster} within {_REPLICATED_S:.0f} s")

    def meanwhile(self, work: Callable[..., Any], *arguments: Any, **named: Any) -> "Future[Any]":
        """Begin work on a thread; `join` waits for it, and raises what it raised. Nobody waits for it when the process ends."""
        result: Future[Any] = Future()

        def run() -> None:
            try:
                result.set_result(work(*arguments, **named))
            except BaseException as fault:  # noqa: BLE001  # whoever asks for the result gets it
                result.set_exception(fault)

        threading.Thread(target=run, daemon=True).start()
        self._begun.append(result)
        return result

    def reader(self, topic: str, prefix: str, *, count: int, for_s: float) -> str:
        """Begin to read, see Clients.read; returns the name of the subscription, once it is there."""
        self.meanwhile(self.clients.read, topic, prefix, count=count, for_s=for_s)
        deadline = time.monotonic() + for_s
        while time.monotonic() < deadline:
            for sub in self.admin.stats(topic)["subscriptions"]:
                if sub.startswith(prefix):
                    return str(sub)
            time.sleep(0.1)
        raise TimeoutError(f"no reader {prefix}… on {topic} within {for_s} s")

    @contextmanager
    def open_transaction(self, topic: str, timeout_s: int) -> Iterator[None]:
        """While this lasts, a transaction of another process has messages in the topic; then its client dies. Aborted after `timeout_s`."""
        with OpenTransaction(self.broker, topic, timeout_s):
            yield

    def hanging(self, *subscriptions: tuple[str, str], produces: str = "", kind: str = "Exclusive") -> Hanging:
        """A client process that can hang; see Hanging."""
        self._processes.append(Hanging(self.clients, subscriptions, produces=produces, kind=kind))
        return self._processes[-1]

    def close(self) -> None:
        """Leave no process behind, whatever the scenario came to."""
        for process in self._processes:
            process.kill()
        for other in self._others:
            other.kill()

    def join(self) -> None:
        """Wait for all work that was begun."""
        begun, self._begun = self._begun, []
        for one in begun:
            one.result()

    @contextmanager
    def held_back(self, cause: str, words: str, *of: tuple[str, str]) -> Iterator[None]:
        """While this lasts, `cause` holds back the subscriptions `of`: (topic, subscription) each."""
        if cause not in CAUSES:
            raise ValueError(f"{cause} is no cause: {', '.join(CAUSES)}")
        begun = now_us()
        try:
            yield
        finally:
            self.causes += [Cause(topic, sub, cause, begun, now_us(), words) for topic, sub in of]
