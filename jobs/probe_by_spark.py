"""Probes by Spark, where only Hadoop can read the warehouse."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from jobs.probe import LivingBroker
from pipeline.faults import BadWarehouse
from pipeline.lanes.lane import LaneSettings
from pipeline.lanes.lane_input import WANTED, replayed_rows
from pipeline.lanes.operator import OUTPUT_TYPE
from pipeline.lanes.probe_query import probe_lanes
from pipeline.sinks.outcomes import lacks_text, table_rows, with_text
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

TABLES = ("topic_backlog", "subscription_backlog")


def rows_by_spark(
    warehouse: Warehouse, brokers: Sequence[LivingBroker], at_us: int, settings: LaneSettings
) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """Rows of TABLES of the brokers' epochs at `at_us`. Raises BadWarehouse if the names of what was read are still to come."""
    spark = SparkSession.getActiveSession()
    assert spark is not None
    bronze = spark.read.format("delta").load(warehouse.table("dispatch_events"))
    control = spark.read.format("delta").load(warehouse.table("lane_control"))
    # An epoch's log is cut at a `seq`, not at a time: a hole in it would look like a loss.
    wanted = spark.createDataFrame([(one.broker_id, one.epoch, 1, one.last_seq) for one in brokers], WANTED)
    outcomes = (
        replayed_rows(bronze, control, wanted).mapInPandas(partial(probe_lanes, now_us=at_us, settings=settings), OUTPUT_TYPE).persist()
    )
    try:
        outcomes.count()
        # After the count: ingest writes events before their names, so the names of what was read are there by now.
        resolved = with_text(outcomes, spark.read.format("delta").load(warehouse.table("names")))
        if resolved.where(lacks_text()).count():
            raise BadWarehouse(f"ingest is amid a micro-batch: names of new topics are not in {warehouse.table('names')} yet; ask again")
        return {name: [row.asDict() for row in table_rows(resolved, TABLES_BY_NAME[name]).collect()] for name in TABLES}
    finally:
        outcomes.unpersist()
