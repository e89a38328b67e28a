"""What the sender does with lines that are too long, on the broker that librdkafka simulates: it starts no Java."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from pipeline.sources.kafka_address import KafkaAddress
from pipeline.sources.shipping.lines import Record
from pipeline.sources.shipping.sender import Sender

TOO_LONG = b"x" * 1_100_000


@pytest.fixture
def servers() -> Iterator[str]:
    """A simulated broker with a topic `t`."""
    home = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "x:1", "log_level": 0})
    (broker,) = home.list_topics("t", timeout=60).brokers.values()
    yield f"{broker.host}:{broker.port}"
    del home


@pytest.fixture
def sender(servers: str) -> Sender:
    """One that is connected."""
    return Sender(KafkaAddress(servers, "t"), {}, print, time.monotonic, waits=False)


def values(servers: str) -> list[bytes]:
    """What the topic has, sorted."""
    reader = Consumer({"bootstrap.servers": servers, "group.id": "g", "log_level": 0})
    found: list[bytes] = []
    for partition in reader.list_topics("t", timeout=60).topics["t"].partitions:
        _, end = reader.get_watermark_offsets(TopicPartition("t", partition), timeout=60)
        reader.assign([TopicPartition("t", partition, 0)])
        there: list[bytes] = []
        while len(there) < end:
            there += [record.value() for record in reader.consume(100, timeout=20) if record.error() is None]
        found += there
    reader.close()
    return sorted(found)


def test_a_line_that_the_client_refuses_is_named_once(servers: str, sender: Sender) -> None:
    for number, line in enumerate([b"1", b"2", TOO_LONG, b"4"], 1):
        sender.send(Record(b"b", line, number))
    assert sender.confirm() == [3]
    assert sender.confirm() == []
    assert values(servers) == [b"1", b"2", b"4"]


class Refused:
    """What the client reports of each record of a batch that Kafka refuses for its size."""

    def __init__(self, sender: Sender, line: bytes) -> None:
        self._code, self._line = sender._too_large, line

    def code(self) -> int:
        return self._code

    def key(self) -> bytes:
        return b"b"

    def value(self) -> bytes:
        return self._line


def test_lines_that_were_refused_together_are_sent_alone(servers: str, sender: Sender, capsys: pytest.CaptureFixture[str]) -> None:
    for number, line in ((7, b"7"), (8, TOO_LONG)):
        report = Refused(sender, line)
        sender._delivered(number, sender._refused_together.append, report, report)
    assert sender.confirm() == [8]
    assert sender.confirm() == []
    assert values(servers) == [b"7"]
    assert "takes no 2 lines together, so each is sent alone: set batch.size in --client-file" in capsys.readouterr().out
