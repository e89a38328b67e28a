"""Records into a topic. A record counts as delivered when all of Kafka's replicas that are in step have it."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import KafkaAddress

_PATIENCE_S = 30.0
_SAY_AGAIN_S = 60.0


class NotDelivered(Exception):
    """Kafka has not confirmed all records."""


class Sender:
    """A client of Kafka. `client` has settings of librdkafka; they win over ours but for the brokers' addresses."""

    def __init__(self, address: KafkaAddress, client: Mapping[str, str], say: Callable[[str], None], waits: bool) -> None:
        """Connects, and looks for the topic. Raises BadConfig if a setting, a broker or the topic is not there.

        With `waits` records wait for as long as Kafka is away; else five minutes (message.timeout.ms).
        """
        from confluent_kafka import KafkaError, KafkaException, Producer

        self._topic, self._say, self._said_s = address.topic, say, float("-inf")
        self._refused: str | None = None
        self._last_fault = ""
        self._starting = True
        self._left_out = 0
        self._too_large, self._not_sent = KafkaError.MSG_SIZE_TOO_LARGE, KafkaException
        ours = {"enable.idempotence": True, "compression.type": "lz4", "linger.ms": 50, "client.id": "dispatch-ship"}
        if waits:
            ours["message.timeout.ms"] = 0
        fixed = {
            "bootstrap.servers": address.servers,
            "on_delivery": self._delivered,
            "delivery.report.only.error": True,
            "error_cb": self._met,
            "log_level": 0,
        }
        where = f"--to kafka://{address.servers}/{address.topic}"
        try:
            self._producer = Producer({**ours, **client, **fixed})
        except (KafkaException, ValueError, TypeError) as fault:
            raise BadConfig(f"--client-file: Kafka's client refuses it: {_words(fault)}") from fault
        try:
            # All topics: a question for one may make it.
            topics = self._producer.list_topics(timeout=_PATIENCE_S).topics
        except KafkaException as fault:
            self._producer.poll(0)
            raise BadConfig(f"{where}: {self._last_fault or _words(fault)}") from fault
        if address.topic not in topics:
            raise BadConfig(f"{where}: there is no topic {address.topic}, or this client may not see it: make it first")
        self._starting = False

    def send(self, key: bytes | None, line: bytes) -> None:
        """Hand a record to the client; waits while too many are under way. Raises NotDelivered."""
        while True:
            self._check()
            try:
                self._producer.produce(self._topic, value=line, key=key)
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(0.5)
            except self._not_sent as fault:
                if fault.args[0].code() != self._too_large:
                    raise NotDelivered(_words(fault)) from fault
                self._left_out += 1
                return

    def confirm(self) -> int:
        """Wait until Kafka has every record; how many were too large for one since the last call. Raises NotDelivered."""
        while self._producer.flush(1.0):
            self._check()
        self._check()
        left_out, self._left_out = self._left_out, 0
        return left_out

    def _check(self) -> None:
        if self._refused is not None:
            raise NotDelivered(self._refused)

    def _delivered(self, fault: Any, _record: Any) -> None:
        if fault is not None:
            # Kafka refuses a whole batch then, not the one line that is too long.
            hint = ": set message.max.bytes in --client-file to the topic's max.message.bytes" if fault.code() == self._too_large else ""
            self._refused = fault.str() + hint

    def _met(self, fault: Any) -> None:
        """The client goes on by itself: it connects again, and sends again until message.timeout.ms."""
        self._last_fault = fault.str()
        if not self._starting and time.monotonic() - self._said_s > _SAY_AGAIN_S:
            self._said_s = time.monotonic()
            self._say(f"waiting for Kafka: {fault.str()}")


def _words(fault: Exception) -> str:
    first = fault.args[0] if fault.args else fault
    return str(first.str()) if hasattr(first, "str") else str(first)
