"""What Kafka lost since the job ran last: stop with one line, or go on from what is there."""

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.sources.kafka_loss import loss_of
from pipeline.sources.kafka_topic import KafkaTopic
from pipeline.store.files import files_at
from pipeline.warehouse.append import app_id_of, is_appended
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import source_offsets
from schemas.tables.bronze import DISPATCH_EVENTS

_FIRST_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


def refuse_or_pass_loss(spark: SparkSession, warehouse: Warehouse, query: str, source: KafkaTopic, go_on: bool) -> str | None:
    """Words on what is lost, if it was passed over by `go_on`; None: nothing is lost. Call before the query starts.

    Raises BadWarehouse if something is lost and the job must not go on. Notes the topic's id in the checkpoint.
    """
    now, files = source.now(spark), files_at(warehouse.root)
    noted = f"{warehouse.checkpoint(query)}/kafka_topic_id"
    checkpoint = read_checkpoint(warehouse, query)
    planned, committed = checkpoint.last_planned, checkpoint.last_committed
    known = files.read(noted)
    read_to = _read_to(warehouse, query, source.address.topic, committed)
    # A micro-batch that was begun is run again with its first offsets; the first one of all begins at what was there then.
    loss = loss_of(source.address.topic, read_to, known and known.strip(), now)
    if loss is not None and planned is not None:
        if not go_on:
            raise BadWarehouse(
                f"{loss.words}. Events are missing then. To go on with what is there: --set kafka.on_loss=go_on; "
                "log_gaps then shows which events are missing"
            )
        over = planned + 1 if planned == committed else planned
        app_id = app_id_of(checkpoint.query_id or "", DISPATCH_EVENTS.name)
        if over == planned and is_appended(warehouse, DISPATCH_EVENTS.name, app_id, planned):
            raise BadWarehouse(f"{loss.words}, and micro-batch {planned} is half written. Compute anew: {warehouse.rebuild_command(query)}")
        _pass_over(warehouse, query, over, {source.address.topic: loss.read_to})
    files.write(noted, now.id + "\n")
    return None if loss is None or planned is None else loss.words


def _read_to(warehouse: Warehouse, query: str, topic: str, committed: int | None) -> dict[int, int]:
    entry = offset_entry(warehouse, query, committed)
    (offset,) = source_offsets(entry) if entry else [None]
    return {int(partition): int(number) for partition, number in (offset or {}).get(topic, {}).items()}


def _pass_over(warehouse: Warehouse, query: str, batch_id: int, read_to: Mapping[str, Any]) -> None:
    """Make `batch_id` a finished micro-batch without rows, after which Spark goes on from `read_to`.

    No entry of a finished one changes: batch_manifest has them, too. A crash in between leaves an entry that this replaces.
    """
    files, folder = files_at(warehouse.root), warehouse.checkpoint(query)
    entry = offset_entry(warehouse, query, batch_id) or offset_entry(warehouse, query, batch_id - 1) or ""
    offset = json.dumps({topic: {str(key): value for key, value in offsets.items()} for topic, offsets in read_to.items()})
    commit = files.read(f"{folder}/commits/{batch_id - 1}") or _FIRST_COMMIT
    for log, text in (("offsets", "\n".join([*entry.splitlines()[:2], offset])), ("commits", commit)):
        files.delete(f"{folder}/{log}/.{batch_id}.crc")
        files.write(f"{folder}/{log}/{batch_id}", text)
