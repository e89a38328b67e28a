"""What lanes computed of events that are no longer in dispatch_events: nothing can compute it again."""

from dataclasses import dataclass
from datetime import date
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.table_facts import existing_tables
from schemas.tables import LANE_TABLES


@dataclass(frozen=True)
class BeforeBronze:
    """Of one broker: the oldest date in a table of lanes, and the first one of which dispatch_events has events (None: of none)."""

    broker: str
    oldest: date
    first_event: date | None

    def __str__(self) -> str:
        until = f"before {self.first_event}" if self.first_event else "on; it has no events left"
        return f"{self.broker} from {self.oldest} {until}"


def dates_before_bronze(spark: SparkSession, warehouse: Warehouse) -> list[BeforeBronze]:
    """Brokers whose tables of lanes go back to an older date than their dispatch_events, by name. Reads only."""
    existing = existing_tables(spark, warehouse)
    aged = [(table.name, table.age_by) for table in LANE_TABLES if table.age_by and table.name in existing]
    if not aged:
        return []
    computed = reduce(DataFrame.unionByName, [_oldest(spark, warehouse, name, age_by) for name, age_by in aged])
    computed = computed.groupBy("broker").agg(F.min("oldest").alias("oldest"))
    events = _oldest(spark, warehouse, "dispatch_events", "event_date").withColumnRenamed("oldest", "first_event")
    both = computed.join(events, "broker", "left").where("first_event IS NULL OR oldest < first_event")
    return [BeforeBronze(*row) for row in both.select("broker", "oldest", "first_event").orderBy("broker").collect()]


def _oldest(spark: SparkSession, warehouse: Warehouse, table: str, age_by: str) -> DataFrame:
    """broker, oldest: first date of each broker in `table`."""
    rows = spark.read.format("delta").load(warehouse.table(table))
    return rows.groupBy("broker").agg(F.min(F.col(age_by).cast("date")).alias("oldest"))
