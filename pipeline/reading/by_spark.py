"""A look at a warehouse by Spark: slower than the room, but wherever Hadoop can read."""

from datetime import UTC, datetime
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.store.commit import Commit
from pipeline.store.hadoop_files import files_with_hadoop
from pipeline.views.register import register
from pipeline.warehouse import delta_log
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.look import TableFacts
from pipeline.warehouse.newest_cut import newest_cut
from pipeline.warehouse.small_tables import newest_version
from pipeline.warehouse.table_facts import all_table_facts


class SparkLook:
    """`Look` by a session of Spark; its temporary views are nobody else's.

    With `consistent` tables of the job stand at the newest consistent cut of the beginning, and of the last `refresh`; else each at its
    newest version whenever it is asked for.
    """

    def __init__(self, spark: SparkSession, warehouse: Warehouse, *, consistent: bool = False) -> None:
        self.warehouse = warehouse
        self.files = files_with_hadoop(warehouse.root, spark)
        self._spark = spark.newSession()
        self.cut = newest_cut(SparkLook(spark, warehouse)) if consistent else None

    def refresh(self) -> None:
        """Go to the newest cut, where one is wanted."""
        if self.cut is not None:
            self.cut = newest_cut(SparkLook(self._spark, self.warehouse))

    def version(self, table: str) -> int:
        """Newest version of the table; −1 if there is none."""
        return newest_version(self._spark, self.warehouse.table(table))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query over tables and views; times have the zone UTC."""
        register(self._spark, self.warehouse, self.cut, sql, lenient=True)
        return [{name: in_utc(value) for name, value in row.asDict().items()} for row in self._spark.sql(sql).collect()]

    def columns(self, table: str) -> list[str]:
        """Names of the table's columns, with those that were added to its declaration since."""
        register(self._spark, self.warehouse, self.cut, table, lenient=True)
        return self._spark.table(table).columns

    def facts(self, small_below: int) -> list[TableFacts]:
        """Of every declared table that is there, in declared order."""
        return all_table_facts(self._spark, self.warehouse, small_below)

    def newest_event_times(self, read_batch: int | None) -> tuple[int | None, int | None]:
        """Greatest `ts` (µs) of all events, and of those in files of nothing beyond that micro-batch."""
        _, files = delta_log.live_files(self._spark, self.warehouse.table("dispatch_events"))
        ts = F.get_json_object("stats", "$.maxValues.ts").cast("long")
        batch = F.get_json_object("stats", "$.maxValues.ingest_batch").cast("long")
        is_read = F.lit(False) if read_batch is None else batch <= read_batch
        row = files.agg(F.max(ts).alias("newest"), F.max(F.when(is_read, ts)).alias("read")).collect()[0]
        return row["newest"], row["read"]

    def commits(self, table: str, most: int | None = None) -> list[Commit]:
        """What the table's log still has of its versions, newest first."""
        history = DeltaTable.forPath(self._spark, self.warehouse.table(table)).history(most)
        rows = history.select("version", "operation", "timestamp", "isBlindAppend", "userMetadata").collect()
        return [Commit(row[0], row[1], in_utc(row[2]), row[3], row[4]) for row in rows]


def in_utc(value: Any) -> Any:
    """collect() gives naive times of this process's local zone."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value
