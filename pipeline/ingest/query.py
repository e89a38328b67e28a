"""The ingest query: wires a source to what every micro-batch does."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pipeline.faults import BadConfig
from pipeline.ingest.archive import Archive, archive_of
from pipeline.ingest.first_listing import first_listed
from pipeline.ingest.following import followed, woken_stream
from pipeline.ingest.kafka_loss import refuse_or_pass_loss
from pipeline.ingest.micro_batch import MicroBatch, ingest_micro_batch
from pipeline.ingest.source_log import FILES, planned_files
from pipeline.ingest.source_log_cleanup import EVERY_BATCHES, forget_gone_files
from pipeline.run_context import RunContext
from pipeline.session_settings import FEW_ROWS_IN_JAVA, settings_of_query
from pipeline.settings import Settings
from pipeline.sources.jsonl_files import JsonlFiles
from pipeline.sources.kafka_topic import KafkaTopic
from pipeline.sources.kind import open_source
from pipeline.sources.parquet_files import ParquetFiles
from pipeline.sources.source import Source
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint, write_checkpoints_quickly
from pipeline.warehouse.layout import INGEST, Warehouse
from pipeline.warehouse.offsets import source_offsets


def start_ingest(
    spark: SparkSession, warehouse: Warehouse, events: str, settings: Settings, run: RunContext, trigger: Mapping[str, Any]
) -> StreamingQuery:
    """Start to read `events` (--events) into the warehouse, with `trigger` (keyword arguments of DataStreamWriter.trigger).

    The tables must exist. Raises BadConfig if there is nothing that could be read at `events`, if the warehouse was read from a source
    of another kind, or if ingest.archive_folder cannot be, and BadWarehouse if Kafka lost what was to be read.
    """
    write_checkpoints_quickly(spark, warehouse)
    follow = settings.ingest.follow_open_files
    source = followed(open_source(events, settings), warehouse, follow)
    _refuse_other_source(warehouse, source, events)
    archive = archive_of(source, settings.ingest.archive_path)
    go_on = settings.kafka.on_loss == "go_on"
    run.source_opened(refuse_or_pass_loss(spark, warehouse, INGEST, source, go_on) if isinstance(source, KafkaTopic) else None)
    with settings_of_query(spark, FEW_ROWS_IN_JAVA if isinstance(source, JsonlFiles | ParquetFiles) else {}):
        return (
            woken_stream(spark, warehouse, INGEST, source, waits=follow == "always" and "availableNow" not in trigger)
            .writeStream.queryName(INGEST)
            .option("checkpointLocation", warehouse.checkpoint(INGEST))
            .foreachBatch(_writer(source, warehouse, run, archive))
            .trigger(**trigger)
            .start()
        )


def _refuse_other_source(warehouse: Warehouse, source: Source, events: str) -> None:
    entry = offset_entry(warehouse, INGEST, read_checkpoint(warehouse, INGEST).last_planned)
    offset = source_offsets(entry)[FILES] if entry else None
    if offset is not None and not source.owns(offset):
        raise BadConfig(f"--events {events}: the warehouse was read from another kind of source, or another topic: name that one")


def _writer(source: Source, warehouse: Warehouse, run: RunContext, archive: Archive | None) -> Callable[[DataFrame, int], None]:
    def write(batch: DataFrame, batch_id: int) -> None:
        run.before_micro_batch()
        spark = batch.sparkSession
        query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
        if archive is not None and batch_id % EVERY_BATCHES == 0:
            forget_gone_files(warehouse, INGEST)
        planned = partial(planned_files, warehouse, INGEST, batch_id)
        reader = source.reader(batch, planned, first_listed(warehouse.checkpoint(INGEST), batch_id, archive))
        if reader is not None:
            ingest_micro_batch(MicroBatch(spark, warehouse, run, INGEST, query_id or "", batch_id), reader)

    return write
