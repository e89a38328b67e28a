"""A topic of Kafka: one record per line of the log. Spark reads the records and tracks their offsets; tasks parse them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import KafkaAddress
from pipeline.sources.kafka_loss import TopicNow
from pipeline.sources.names_met import TaskNames
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.records import parse_records
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, FirstListed, InTask, PlannedFiles, RowReader, task_of

_PATIENCE_MS = 30_000


@dataclass(frozen=True)
class KafkaTopic:
    """The topic at `address`, at most `max_records` of it in a micro-batch; `client` has settings for Kafka's clients."""

    address: KafkaAddress
    client: Mapping[str, str]
    max_records: int
    limits: ParseLimits

    def stream(self, spark: SparkSession) -> DataFrame:
        """Records: partition, offset, value."""
        reader = (
            spark.readStream.format("kafka")
            .options(**{f"kafka.{key}": value for key, value in self.client.items()})
            .option("kafka.bootstrap.servers", self.address.servers)
            # A transaction that was aborted is no part of the log.
            .option("kafka.isolation.level", "read_committed")
            .option("subscribe", self.address.topic)
            .option("startingOffsets", "earliest")
            .option("failOnDataLoss", "true")
            .option("maxOffsetsPerTrigger", self.max_records)
        )
        return reader.load().select("partition", "offset", "value")

    def owns(self, offset: Mapping[str, Any]) -> bool:
        """Whether it is an offset by partition of this topic."""
        return set(offset) == {self.address.topic}

    def reader(self, batch: DataFrame, _planned: PlannedFiles, _first_listed: FirstListed) -> RowReader | None:
        """Rows of the micro-batch's records; the same offsets have the same records each time."""
        return partial(_rows, batch, self.address.topic, self.limits)

    def listing(self) -> None:
        """None: records never change."""

    def now(self, spark: SparkSession) -> TopicNow:
        """The topic as its brokers describe it. Raises BadConfig if there are no jars, no broker, or no such topic."""
        return _described(spark, self.address, self.client)


def name_of(topic: str, partition: int) -> str:
    """What stands in source_file: source_line is the offset then."""
    return f"kafka:{topic}/{partition}"


def piece_of(topic: str, partition: int, first: int, last: int) -> str:
    """What stands in ingest_files: a part of a partition, by its first and last offset."""
    return f"{name_of(topic, partition)}?offsets={first}-{last}"


def _rows(batch: DataFrame, topic: str, limits: ParseLimits, in_task: InTask) -> DataFrame:
    return batch.mapInArrow(task_of(partial(_read, topic, limits), in_task), in_task.schema)


@dataclass
class _Piece:
    """A part of a partition while its records go by; `counted` has its name when it is over."""

    partition: int
    first: int
    last: int
    counted: Counted


def _read(topic: str, limits: ParseLimits, batches: Batches) -> Batches:
    """Rows of a task's records. Spark gives a task one stretch of one partition, in its order, or some of them one after the other."""
    met, piece = TaskNames(), None
    for batch in batches:
        partitions = batch.column("partition").to_numpy()
        borders = np.flatnonzero(np.diff(partitions, prepend=-1, append=-1))
        for start, end in pairwise(borders):
            part, partition = batch.slice(start, end - start), int(partitions[start])
            offsets = part.column("offset").to_numpy()
            if piece is None or piece.partition != partition:
                yield from _ended(topic, piece)
                piece = _Piece(partition, int(offsets[0]), 0, Counted(None, 0, met))
            piece.last = int(offsets[-1])
            values = part.column("value").to_pylist()
            piece.counted.bytes += sum(len(value) for value in values if value)
            for block in parse_records(values, offsets, name_of(topic, partition), limits):
                piece.counted.add(block)
                yield from block_rows(block)
    yield from _ended(topic, piece)


def _ended(topic: str, piece: _Piece | None) -> list[pa.RecordBatch]:
    if piece is None:
        return []
    piece.counted.file = piece_of(topic, piece.partition, piece.first, piece.last)
    return [summary_row(piece.counted)]


def _described(spark: SparkSession, address: KafkaAddress, client: Mapping[str, str]) -> TopicNow:
    jvm: Any = spark._jvm
    # Kafka's jars came with --jars: only this loader of classes knows them, for us and for Kafka's own look-ups by name.
    try:
        jvm.org.apache.spark.util.Utils.classForName("org.apache.kafka.clients.admin.Admin", True, True)
    except Py4JJavaError as fault:
        advice = "start by ./spark-submit.sh, or name them (--packages, docs/guide/collector.md)"
        raise BadConfig(f"there are no jars of Kafka: {advice}") from fault
    properties = jvm.java.util.HashMap()
    patience = {"default.api.timeout.ms": str(_PATIENCE_MS), "request.timeout.ms": str(_PATIENCE_MS // 2)}
    for key, value in {**patience, **client, "bootstrap.servers": address.servers}.items():
        properties.put(key, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
    except Py4JJavaError as fault:
        raise BadConfig(f"kafka.client_file: Kafka's client cannot be made: {_cause(fault)}") from fault
    try:
        names = jvm.java.util.Collections.singletonList(address.topic)
        topic = admin.describeTopics(names).allTopicNames().get().get(address.topic)
        partitions = [info.partition() for info in topic.partitions()]
        spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
        found = [_offsets(jvm, admin, address.topic, partitions, of()) for of in (spec.earliest, spec.latest)]
        return TopicNow(str(topic.topicId().toString()), *found)
    except Py4JJavaError as fault:
        raise BadConfig(f"--events kafka://{address.servers}/{address.topic}: {_cause(fault)}") from fault
    finally:
        admin.close()


def _offsets(jvm: Any, admin: Any, topic: str, partitions: list[int], spec: Any) -> dict[int, int]:
    places = {partition: jvm.org.apache.kafka.common.TopicPartition(topic, partition) for partition in partitions}
    asked = jvm.java.util.HashMap()
    for place in places.values():
        asked.put(place, spec)
    found = admin.listOffsets(asked).all().get()
    return {partition: int(found.get(place).offset()) for partition, place in places.items()}


def _cause(fault: Py4JJavaError) -> str:
    cause = fault.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return f"{cause.getClass().getSimpleName()}: {cause.getMessage()}"
