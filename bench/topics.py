"""Lanes over brokers that hold many topics of which few are active: what idle state costs.

The active rows are the multiplied captures. Before them, and not measured, every broker loads its share of idle topics, each with
subscriptions that are caught up, and two minutes pass (so that the windows in which all was opened are closed). With the active rows, and
measured, comes one round of quota checks over the idle topics, as a broker makes one a minute.
"""

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.log import append_as_ingest, id_names
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.events import CODES
from schemas.render.spark import struct
from schemas.tables.bronze import PARSED_FIELDS
from tests.support.ids_of_spark import with_ids

SUBSCRIPTIONS = 3
#: Files of bronze that an append makes.
FILES = 8
LOADED_BEFORE_US = 120_000_000
_LOADS = 5 + 2 * SUBSCRIPTIONS  # events by which an idle topic is met
QUOTAS = (("destination_storage", 10 * 2**30), ("message_age", -1))


@dataclass(frozen=True)
class Brokers:
    """The brokers of the active rows: (broker, epoch, first ts, first ns), and how many idle topics each holds."""

    starts: list[tuple[str, int, int, int]]
    topics_each: int

    @property
    def loads(self) -> int:
        """Events of one broker before its active ones, without the round of checks."""
        return self.topics_each * _LOADS

    @property
    def shift(self) -> int:
        """By how much the `seq` of active events moves."""
        return self.loads + 1 + self.topics_each + 2


def brokers_of(active: DataFrame, topics: int) -> Brokers:
    """The brokers of bronze rows, sharing `topics` idle topics."""
    starts = active.groupBy("broker", "epoch").agg(F.min("ts"), F.min("ns")).orderBy("broker", "epoch").collect()
    return Brokers([(row[0], row[1], row[2], row[3]) for row in starts], -(-topics // len(starts)))


def idle_loads(spark: SparkSession, brokers: Brokers) -> DataFrame:
    """Bronze rows by which every broker meets its idle topics: load, quotas, a closed and an open ledger, cursors, dispatchers."""
    ledger, entries = "1000 + 2 * id AS ledger", "1 + id % 50000"
    closed = f"{entries} AS entries, ({entries}) * 1000 AS bytes, 1795260000000 + id % 1000 AS close_ts"
    quotas = [f"'{kind}' AS quota_type, {limit} AS limit, 'producer_request_hold' AS policy" for kind, limit in QUOTAS]
    kinds = [
        ("topic_load", ""),
        *(("backlog_quota", quota) for quota in quotas),
        ("ledger_close", f"{ledger}, {closed}, true AS snapshot"),
        ("ledger_open", "1001 + 2 * id AS ledger, true AS snapshot"),
    ]
    for number in range(SUBSCRIPTIONS):
        sub = f"'sub-{number}' AS sub"
        kinds.append(("cursor_open", f"{sub}, true AS durable, {ledger}, ({entries}) - 1 AS entry, true AS snapshot"))
        kinds.append(("dispatcher_open", f"{sub}, 'Shared' AS sub_type"))
    parts = [
        _events(spark, brokers, kind, fields, f"1 + nth * {_LOADS} + {k}", -LOADED_BEFORE_US) for k, (kind, fields) in enumerate(kinds)
    ]
    closes_windows = _of_brokers(spark, brokers, "heartbeat", "0L AS dropped", brokers.loads + 1)
    return _bronze(spark, [*parts, closes_windows])


def idle_round(spark: SparkSession, brokers: Brokers) -> DataFrame:
    """Bronze rows of one round of quota checks over the idle topics, right before the active events."""
    first = brokers.loads + 2
    ends = [
        _of_brokers(spark, brokers, "quota_round", "'start' AS phase", first),
        _of_brokers(spark, brokers, "quota_round", "'end' AS phase, 9000L AS duration_us", first + brokers.topics_each + 1),
    ]
    return _bronze(spark, [*ends, _events(spark, brokers, "quota_check", "8000L AS duration_us", f"{first} + 1 + nth", -500_000)])


def active_rows(active: DataFrame, brokers: Brokers) -> DataFrame:
    """The active rows, after what came before them. The brokers live on: a stop, the last event, would close every idle dispatcher."""
    return active.where("type <> 'broker_stop'").withColumn("seq", F.col("seq") + brokers.shift)


def warehouse_with_idle_topics(spark: SparkSession, folder: Path, active: DataFrame, brokers: Brokers) -> Warehouse:
    """A warehouse whose bronze holds the idle topics' loads, and the names of everything that follows."""
    warehouse = Warehouse(str(folder / f"idle-{brokers.topics_each}"))
    create_missing_tables(warehouse)
    loads = idle_loads(spark, brokers)
    append_as_ingest(loads, warehouse, 0, FILES)
    id_names(loads.unionByName(active)).write.format("delta").mode("append").save(warehouse.table("names"))
    return warehouse


def append_active(spark: SparkSession, warehouse: Warehouse, active: DataFrame, brokers: Brokers) -> DataFrame:
    """Write the measured rows; returns them as they were written."""
    rows = active_rows(active, brokers).unionByName(idle_round(spark, brokers))
    append_as_ingest(rows, warehouse, 1, FILES)
    return spark.read.format("delta").load(warehouse.table("dispatch_events")).where("ingest_batch = 1")


def _of_brokers(spark: SparkSession, brokers: Brokers, kind: str, fields: str, seq: int) -> DataFrame:
    starts = spark.createDataFrame(brokers.starts, "broker string, epoch long, first_ts long, first_ns long")
    return starts.selectExpr(
        "broker", "epoch", "first_ts - 500000 AS ts", "first_ns - 500000000 AS ns", f"{seq}L AS seq", f"'{kind}' AS type",
        f"{CODES[kind]} AS type_code", "1 AS v", "'idle' AS source_file", *_split(fields),
    )  # fmt: skip


def _events(spark: SparkSession, brokers: Brokers, kind: str, fields: str, seq: str, before_us: int) -> DataFrame:
    """One event of `kind` per idle topic: `seq` is SQL over `nth`, the topic's number on its broker."""
    numbered = [(number, *start) for number, start in enumerate(brokers.starts)]
    starts = spark.createDataFrame(numbered, "number long, broker string, epoch long, ts long, ns long")
    topics = spark.range(brokers.topics_each * len(brokers.starts)).selectExpr(
        "id", f"id % {len(brokers.starts)} AS number", f"id div {len(brokers.starts)} AS nth"
    )
    return topics.join(F.broadcast(starts), "number").selectExpr(
        "broker", "epoch", f"ts + {before_us} AS ts", f"ns + {before_us}000L AS ns", f"{seq} AS seq", f"'{kind}' AS type",
        f"{CODES[kind]} AS type_code", "1 AS v", "'idle' AS source_file", "concat('persistent://idle/n/topic-', id) AS topic",
        *_split(fields),
    )  # fmt: skip


def _split(fields: str) -> list[str]:
    return [field for field in fields.split(", ") if field]


def _bronze(spark: SparkSession, parts: list[DataFrame]) -> DataFrame:
    """Rows of all parts with every column of bronze, null where a part does not have it."""
    schema = struct(PARSED_FIELDS)
    rows = spark.createDataFrame([], schema)
    for part in parts:
        missing = {f.name: F.lit(None).cast(f.dataType) for f in schema if f.name not in part.columns}
        typed = part.withColumns(missing).select(*(F.col(f.name).cast(f.dataType) for f in schema))
        rows = rows.union(typed.withColumn("source_line", F.col("seq").cast(schema["source_line"].dataType)))
    return with_ids(rows, 0)
