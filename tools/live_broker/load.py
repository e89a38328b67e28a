"""Producers and consumers. Each call has a client of its own, so a connection of its own.

Pulsar's client is imported when one is made: it is installed for those who start a broker.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pulsar

_PATIENCE_S = 60.0
_POLL_MS = 200


def always(number: int) -> bool:
    """Acknowledge each message."""
    return True


def never(number: int) -> bool:
    """Acknowledge none."""
    return False


@dataclass(frozen=True)
class Publishing:
    """How messages are published. `batch` > 1: so many in an entry. `delay_ms` > 0: to be delivered so much later.

    `keys` > 0: that many keys, one after the other. `first_at_s`: when the first one is sent, by `time.monotonic`; null: at once.
    """

    count: int
    per_s: float
    size: int = 100
    batch: int = 1
    delay_ms: int = 0
    keys: int = 0
    first_at_s: float | None = None


@dataclass(frozen=True)
class Consuming:
    """How messages are consumed: by whom, how fast, which are acknowledged, when it ends.

    It ends after `count` messages, after `for_s`, or when none came for `idle_s`.
    """

    kind: str = "Shared"
    count: int | None = None
    for_s: float = _PATIENCE_S
    idle_s: float = _PATIENCE_S
    pause_ms: float = 0
    queue: int = 1000
    #: Asked for the number of each message, 0 first.
    acknowledges: Callable[[int], bool] = always
    #: Messages that are given back; they come again at once.
    gives_back: Callable[[int], bool] = never
    cumulative: bool = False


@dataclass
class Clients:
    """Clients of one broker, and what they counted by topic and by `topic#subscription`."""

    service_url: str
    log: Path
    produced: dict[str, int] = field(default_factory=dict)
    consumed: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def connected(self) -> "Iterator[pulsar.Client]":
        """A client, closed at the end."""
        import pulsar

        client = pulsar.Client(
            self.service_url, logger=pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(self.log)), operation_timeout_seconds=30
        )
        try:
            yield client
        finally:
            client.close()

    def subscribe(self, topic: str, *subs: str, kind: str = "Shared", latest: bool = False) -> None:
        """Make subscriptions, at the first message or behind the last one; nobody consumes."""
        with self.connected() as client:
            for sub in subs:
                _subscribed(client, topic, sub, kind, 10, latest=latest).close()

    def publish(self, topic: str, how: Publishing) -> None:
        """Publish at an even rate; returns when the broker has confirmed all. What it refuses is counted, and tried once."""
        batching = {"batching_enabled": True, "batching_max_messages": how.batch, "batching_max_publish_delay_ms": 60_000}
        failed: list[Any] = []
        with self.connected() as client:
            producer = client.create_producer(topic, block_if_queue_full=True, send_timeout_millis=0, **(batching if how.batch > 1 else {}))
            begun = time.monotonic() if how.first_at_s is None else how.first_at_s
            later = {"deliver_after": timedelta(milliseconds=how.delay_ms)} if how.delay_ms else {}
            for number in range(how.count):
                _sleep_until(begun + number / how.per_s)
                key = {"partition_key": f"key-{number % how.keys}"} if how.keys else {}
                payload = number.to_bytes(8, "big").ljust(how.size, b".")
                producer.send_async(payload, lambda result, _: _note(failed, result), **later, **key)
                if how.batch > 1 and number % how.batch == how.batch - 1:
                    producer.flush()
            producer.flush()
            producer.close()
        self.produced[topic] = self.produced.get(topic, 0) + how.count - len(failed)

    def publish_stubbornly(self, topic: str, how: Publishing, *, for_s: float) -> None:
        """Publish as a producer that must not give up: it is made anew, and sends again, until `for_s` are over."""
        import pulsar

        end = time.monotonic() + for_s
        sent = refused = 0
        with self.connected() as client:
            producer = None
            while sent < how.count and time.monotonic() < end:
                try:
                    producer = producer or client.create_producer(topic, send_timeout_millis=1_000)
                    producer.send(sent.to_bytes(8, "big").ljust(how.size, b"."))
                    sent += 1
                    time.sleep(1 / how.per_s)
                except pulsar.PulsarException:
                    refused += 1
                    producer = None
                    time.sleep(0.1)
        self.produced[topic] = self.produced.get(topic, 0) + sent
        self.refused[topic] = self.refused.get(topic, 0) + refused

    def consume(self, topic: str, sub: str, how: Consuming) -> int:
        """Consume; returns how many messages came."""
        import pulsar

        end = time.monotonic() + how.for_s
        received, last = 0, time.monotonic()
        with self.connected() as client:
            consumer = _subscribed(client, topic, sub, how.kind, how.queue)
            while time.monotonic() < end and (how.count is None or received < how.count) and time.monotonic() - last < how.idle_s:
                try:
                    message = consumer.receive(timeout_millis=_POLL_MS)
                except pulsar.Timeout:
                    continue
                last = time.monotonic()
                if how.gives_back(received):
                    consumer.negative_acknowledge(message)
                elif how.acknowledges(received):
                    (consumer.acknowledge_cumulative if how.cumulative else consumer.acknowledge)(message)
                received += 1
                if how.pause_ms:
                    time.sleep(how.pause_ms / 1000)
            consumer.close()
        name = f"{topic}#{sub}"
        self.consumed[name] = self.consumed.get(name, 0) + received
        return received

    def read(self, topic: str, prefix: str, *, count: int, for_s: float) -> int:
        """Read from the beginning, `count` messages at most; the reader stays for `for_s`. Returns how many came.

        The name of its subscription begins with `prefix`.
        """
        import pulsar

        end = time.monotonic() + for_s
        received = 0
        with self.connected() as client:
            reader = client.create_reader(topic, pulsar.MessageId.earliest, receiver_queue_size=20, subscription_role_prefix=prefix)
            while time.monotonic() < end:
                try:
                    if received < count:
                        reader.read_next(timeout_millis=_POLL_MS)
                        received += 1
                    else:
                        time.sleep(_POLL_MS / 1000)
                except pulsar.Timeout:
                    continue
            reader.close()
        return received


def _subscribed(client: Any, topic: str, sub: str, kind: str, queue: int, *, latest: bool = False) -> Any:
    import pulsar

    position = pulsar.InitialPosition.Latest if latest else pulsar.InitialPosition.Earliest
    return client.subscribe(
        topic,
        sub,
        consumer_type=getattr(pulsar.ConsumerType, kind.replace("_", "")),
        receiver_queue_size=queue,
        initial_position=position,
        negative_ack_redelivery_delay_ms=500,
    )


def _note(failed: list[Any], result: Any) -> None:
    if result.name != "Ok":
        failed.append(result)


def _sleep_until(at: float) -> None:
    left = at - time.monotonic()
    if left > 0:
        time.sleep(left)
