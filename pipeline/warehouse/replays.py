"""What `quarantine replay` put back into dispatch_events, by its table."""

from pyspark.sql import DataFrame, SparkSession

from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse
from schemas.render.spark import struct
from schemas.tables.bronze import QUARANTINE_REPLAYS


def replayed_lines(spark: SparkSession, warehouse: Warehouse) -> DataFrame:
    """The rows of quarantine_replays; none where the warehouse is of a version before that table, and not yet taken up by this one."""
    path = warehouse.table(QUARANTINE_REPLAYS.name)
    if newest_version_at(path) < 0:
        return spark.createDataFrame([], struct(QUARANTINE_REPLAYS.fields))
    return spark.read.format("delta").load(path)
