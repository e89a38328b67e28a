"""The ingest query: wires a source to what every micro-batch does."""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pipeline.ingest.listed import first_listed
from pipeline.ingest.micro_batch import MicroBatch, ingest_micro_batch
from pipeline.ingest.source_log import planned_files
from pipeline.run_context import RunContext
from pipeline.settings import Settings
from pipeline.sources.detect import open_source
from pipeline.sources.source import Source
from pipeline.warehouse.checkpoint import write_checkpoints_quickly
from pipeline.warehouse.layout import Warehouse

QUERY = "ingest"


def start_ingest(
    spark: SparkSession, warehouse: Warehouse, events: str, settings: Settings, run: RunContext, trigger: Mapping[str, Any]
) -> StreamingQuery:
    """Start to read `events` (--events) into the warehouse, with `trigger` (keyword arguments of DataStreamWriter.trigger).

    The tables must exist. Raises BadConfig if there is nothing that could be read at `events`.
    """
    write_checkpoints_quickly(spark, warehouse)
    source = open_source(spark, events, settings.ingest)
    return (
        source.stream(spark)
        .writeStream.queryName(QUERY)
        .option("checkpointLocation", warehouse.checkpoint(QUERY))
        .foreachBatch(_writer(source, warehouse, run))
        .trigger(**trigger)
        .start()
    )


def _writer(source: Source, warehouse: Warehouse, run: RunContext) -> Callable[[DataFrame, int], None]:
    def write(batch: DataFrame, batch_id: int) -> None:
        run.before_micro_batch()
        spark = batch.sparkSession
        query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
        planned = planned_files(spark, warehouse, QUERY, batch_id)
        reader = source.reader(batch, planned, first_listed(spark, warehouse.checkpoint(QUERY), batch_id))
        if reader is not None:
            ingest_micro_batch(MicroBatch(spark, warehouse, run, QUERY, query_id or "", batch_id), reader)

    return write
