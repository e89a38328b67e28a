"""Records into a topic. A record counts as delivered when all of Kafka's replicas that are in step have it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import KafkaAddress
from pipeline.sources.shipping.lines import Record

_PATIENCE_S = 30.0
_SAY_AGAIN_S = 60.0


class NotDelivered(Exception):
    """Kafka has not confirmed all records."""


class Sender:
    """A client of Kafka. `client` has settings of librdkafka; they win over ours but for the brokers' addresses."""

    def __init__(
        self, address: KafkaAddress, client: Mapping[str, str], say: Callable[[str], None], now_s: Callable[[], float], *, waits: bool
    ) -> None:
        """Connects, and looks for the topic. Raises BadConfig if a setting, a broker or the topic is not there.

        With `waits` records wait for as long as Kafka is away; else five minutes (message.timeout.ms). `now_s`: a clock that never goes
        back, in seconds.
        """
        from confluent_kafka import KafkaError, KafkaException, Producer

        self._topic, self._say, self._now_s, self._said_s = address.topic, say, now_s, float("-inf")
        self._fault: str | None = None
        self._last_fault = ""
        self._starting = True
        #: Kafka refuses a whole batch for its size: which of the lines is too long shows when each is sent alone.
        self._refused_together: list[Record] = []
        self._too_long: list[int] = []
        self._too_large, self._not_sent = KafkaError.MSG_SIZE_TOO_LARGE, KafkaException
        ours = {"enable.idempotence": True, "compression.type": "lz4", "linger.ms": 50, "client.id": "dispatch-ship"}
        if waits:
            ours["message.timeout.ms"] = 0
        fixed = {
            "bootstrap.servers": address.servers,
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

    def send(self, record: Record) -> None:
        """Hand a record to the client; waits while too many are under way. Raises NotDelivered."""
        self._produce(record, self._refused_together.append)

    def confirm(self) -> list[int]:
        """Wait until Kafka has every record; numbers of the lines since the last call that are too long for it. Raises NotDelivered."""
        self._flush()
        alone, self._refused_together = self._refused_together, []
        if len(alone) > 1:
            self._say(f"Kafka takes no {len(alone)} lines together, so each is sent alone: set batch.size in --client-file to less")
        for record in alone:
            self._produce(record, lambda refused: self._too_long.append(refused.number))
            self._flush()
        too_long, self._too_long = self._too_long, []
        return sorted(too_long)

    def _produce(self, record: Record, refuse: Callable[[Record], None]) -> None:
        # The client keeps a copy of the line: a refused record is made of it again.
        delivered = partial(self._delivered, record.number, refuse)
        while True:
            self._check()
            try:
                self._producer.produce(self._topic, value=record.line, key=record.key, on_delivery=delivered)
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(0.5)
            except self._not_sent as fault:
                if fault.args[0].code() != self._too_large:
                    raise NotDelivered(_words(fault)) from fault
                self._too_long.append(record.number)
                return

    def _flush(self) -> None:
        while self._producer.flush(1.0):
            self._check()
        self._check()

    def _check(self) -> None:
        if self._fault is not None:
            raise NotDelivered(self._fault)

    def _delivered(self, number: int, refuse: Callable[[Record], None], fault: Any, message: Any) -> None:
        if fault is None:
            return
        if fault.code() == self._too_large:
            refuse(Record(message.key(), message.value(), number))
        else:
            self._fault = fault.str()

    def _met(self, fault: Any) -> None:
        """The client goes on by itself: it connects again, and sends again until message.timeout.ms."""
        self._last_fault = fault.str()
        if not self._starting and self._now_s() - self._said_s > _SAY_AGAIN_S:
            self._said_s = self._now_s()
            self._say(f"waiting for Kafka: {fault.str()}")


def _words(fault: Exception) -> str:
    first = fault.args[0] if fault.args else fault
    return str(first.str()) if hasattr(first, "str") else str(first)
