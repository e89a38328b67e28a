"""`--events kafka://HOST:PORT,…/TOPIC`, and the file of client settings beside it: checked before Spark starts."""

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.faults import BadConfig

SCHEME = "kafka://"
_SERVER = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_EXAMPLE = "kafka://broker1:9092,broker2:9092/pulsar-events"
#: What the job decides, or what Spark refuses to be given.
_OURS = {
    "auto.offset.reset",
    "bootstrap.servers",
    "enable.auto.commit",
    "group.id",
    "interceptor.classes",
    "key.deserializer",
    "key.serializer",
    "value.deserializer",
    "value.serializer",
}


@dataclass(frozen=True)
class KafkaAddress:
    """A topic, and the brokers (`host:port`, commas between) that are asked first."""

    servers: str
    topic: str


def is_kafka(events: str) -> bool:
    """Whether `--events` names a Kafka topic."""
    return events.startswith(SCHEME)


def kafka_address(events: str, option: str = "--events") -> KafkaAddress:
    """The address that `events` (is_kafka), the value of `option`, names. Raises BadConfig."""
    servers, slash, topic = events.removeprefix(SCHEME).partition("/")
    for server in servers.split(","):
        port = _SERVER.fullmatch(server)
        if port is None or not 0 < int(port[1]) < 1 << 16:
            raise BadConfig(f"{option} {events}: {server or 'nothing'} is not HOST:PORT; expected {_EXAMPLE}")
    if not slash or _TOPIC.fullmatch(topic) is None or topic in (".", ".."):
        raise BadConfig(f"{option} {events}: {topic or 'nothing'} is not a name of a topic; expected {_EXAMPLE}")
    return KafkaAddress(servers, topic)


def client_settings(file: Path | None, option: str = "kafka.client_file =") -> dict[str, str]:
    """Kafka's client settings in `file`, a line `key=value` each, `#` before comments. BadConfig names `option`, line and key."""
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise BadConfig(f"{option} {file}: cannot be read: {fault}") from fault
    settings: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key:
            raise BadConfig(f"{option} {file}, line {number}: expected key=value, as security.protocol=SSL")
        if key in _OURS:
            raise BadConfig(f"{option} {file}, line {number}: {key} is not for you to set: the job sets it")
        settings[key] = value
    return settings
