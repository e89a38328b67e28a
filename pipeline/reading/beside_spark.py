"""A look at a warehouse for a driver that has Spark: the room's, which takes milliseconds where a job of Spark takes most of a second."""

from typing import Any

from pyspark.sql import SparkSession

from pipeline.reading.by_spark import SparkLook
from pipeline.reading.delta_table import OnlySpark
from pipeline.reading.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.look import Look


def look_beside(spark: SparkSession, warehouse: Warehouse) -> Look:
    """The room's look where it can read the warehouse, else Spark's."""
    try:
        return _RoomBesideSpark(spark, warehouse)
    except OnlySpark:
        return SparkLook(spark, warehouse)


class _RoomBesideSpark(ReadingRoom):
    """A room that has Spark read what only Spark reads, and that looks at what is newest in each query, as Spark does."""

    def __init__(self, spark: SparkSession, warehouse: Warehouse) -> None:
        super().__init__(warehouse)
        self._spark = spark

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query of ours over the tables as they are now."""
        self.refresh()
        try:
            return super().rows(sql)
        except OnlySpark:
            return SparkLook(self._spark, self.warehouse).rows(sql)
