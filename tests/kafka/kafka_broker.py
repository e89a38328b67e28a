"""A real Kafka broker (KRaft, one process) on this machine, from jars that Maven fetches once; and what a test does with its topics."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewPartitions,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from tools.maven import MavenProject, java_tool

HERE = Path(__file__).parent
PATIENCE_S = 120.0
JOB, SHIPPER, PASSWORD = "job", "shipper", "a-secret"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def jars() -> str:
    """The class path of a broker."""
    project = MavenProject(HERE)
    folder = project.kept / "jars"
    if not folder.exists():
        fetched = project.run("dependency:copy-dependencies", f"-DoutputDirectory={project.kept / 'fetched-jars'}")
        assert fetched == 0, "Maven cannot fetch Kafka's jars"
        (project.kept / "fetched-jars").rename(folder)
    return f"{folder}/*"


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class KafkaBroker:
    """A broker that runs within the `with`. `servers` want nothing of a client, `secure_servers` TLS, a password and rights."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.servers = f"127.0.0.1:{free_port()}"
        self.secure_servers = f"127.0.0.1:{free_port()}"
        self._keys = folder / "keys.p12"
        self._certificate = folder / "certificate.pem"

    def __enter__(self) -> "KafkaBroker":
        controller = f"127.0.0.1:{free_port()}"
        properties = self._folder / "server.properties"
        self._make_keys()
        properties.write_text(
            "process.roles=broker,controller\nnode.id=1\n"
            f"controller.quorum.voters=1@{controller}\nlisteners=PLAINTEXT://{self.servers},SASL_SSL://{self.secure_servers},CONTROLLER://{controller}\n"
            f"advertised.listeners=PLAINTEXT://{self.servers},SASL_SSL://{self.secure_servers}\n"
            f"sasl.enabled.mechanisms=PLAIN\nlistener.name.sasl_ssl.plain.sasl.jaas.config={_LOGIN} required"
            f' user_{JOB}="{PASSWORD}" user_{SHIPPER}="{PASSWORD}";\n'
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\nsuper.users=User:ANONYMOUS\n"
            f"ssl.keystore.type=PKCS12\nssl.keystore.location={self._keys}\nssl.keystore.password={PASSWORD}\n"
            f"controller.listener.names=CONTROLLER\n"
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL\n"
            f"log.dirs={self._folder / 'data'}\noffsets.topic.replication.factor=1\nauto.create.topics.enable=false\n"
        )
        java = [
            java_tool("java"),
            "-Xms128m",
            "-Xmx384m",
            "-XX:+UseSerialGC",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            jars(),
        ]
        with (self._folder / "broker.log").open("wb") as log:
            format_it = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(properties)]
            subprocess.run([*java, *format_it], check=True, stdout=log, stderr=log)
            self._process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
        self.admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        self._until(lambda: bool(self.admin.list_topics(timeout=5).brokers))
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def address(self, topic: str) -> str:
        """As `--events` names it."""
        return f"kafka://{self.servers}/{topic}"

    def java_client(self, password: str = PASSWORD) -> str:
        """What kafka.client_file needs for the secure servers."""
        return (
            f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.truststore.type=PEM\nssl.truststore.location={self._certificate}\n"
            f'sasl.jaas.config={_LOGIN} required username="{JOB}" password="{password}";\n'
        )

    def shipper_client(self, password: str = PASSWORD) -> str:
        """What --client-file of `ship` needs for the secure servers."""
        return (
            f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.ca.location={self._certificate}\n"
            f"sasl.username={SHIPPER}\nsasl.password={password}\n"
        )

    def allow(self, user: str, topic: str, operation: AclOperation) -> None:
        """Give a user of the secure servers a right on a topic."""
        one = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
        for done in self.admin.create_acls([AclBinding(*one)]).values():
            done.result(10)

    def lines(self, topic: str) -> list[bytes]:
        """The values of all records."""
        reader = Consumer({"bootstrap.servers": self.servers, "group.id": "test", "enable.auto.commit": False, "log_level": 0})
        found: list[bytes] = []
        for partition in self.admin.list_topics(topic, timeout=5).topics[topic].partitions:
            place = TopicPartition(topic, partition, 0)
            _, end = reader.get_watermark_offsets(place, timeout=10)
            reader.assign([place])
            position = 0
            while position < end:
                for record in reader.consume(10_000, timeout=5):
                    assert record.error() is None, record.error()
                    found.append(record.value())
                    position = record.offset() + 1
        reader.close()
        return found

    def make(self, topic: str, partitions: int = 1) -> str:
        """A topic; its address."""

        def made() -> bool:
            try:
                self.admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(10)
            except KafkaException as refused:
                if refused.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
                return False  # after a deletion the name is free a moment later
            return True

        self._until(made)
        self._until(lambda: len(self.admin.list_topics(topic, timeout=5).topics[topic].partitions) == partitions)
        return self.address(topic)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self.admin.delete_topics([topic])[topic].result(10)
        self._until(lambda: topic not in self.admin.list_topics(timeout=5).topics)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(10)
        self._until(lambda: len(self.admin.list_topics(topic, timeout=5).topics[topic].partitions) == partitions)

    def expire(self, topic: str, partition: int, before: int) -> None:
        """Drop records before an offset, as retention does."""
        place = TopicPartition(topic, partition, before)
        self.admin.delete_records([place])[place].result(10)

    def send(self, topic: str, lines: Iterable[bytes | None], partition: int = 0, key: str = "broker") -> None:
        """Write records, and wait until the broker has all."""
        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 50})
        for line in lines:
            while True:
                try:
                    producer.produce(topic, value=line, key=key, partition=partition)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(PATIENCE_S) == 0

    def _make_keys(self) -> None:
        store = ["-keystore", str(self._keys), "-storetype", "PKCS12", "-storepass", PASSWORD, "-alias", "broker"]
        made = ["-genkeypair", "-keyalg", "RSA", "-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1", "-validity", "30"]
        given = ["-exportcert", "-rfc", "-file", str(self._certificate)]
        for action in (made, given):
            subprocess.run([java_tool("keytool"), *action, *store], check=True, capture_output=True)

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                if holds():
                    return
            except KafkaException:
                pass  # an open port is not full readiness
            assert self._process.poll() is None, f"the broker ended; see {self._folder / 'broker.log'}"
            assert time.monotonic() < deadline, f"the broker is not ready; see {self._folder / 'broker.log'}"
            time.sleep(0.2)
