"""The state of a warehouse as one document: who writes, how far, what is missing, how large. Reads only; beside a running job, too.

Its keys are a promise to schedulers and dashboards (docs/operations.md): new ones may come, none may change its meaning.
"""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from pipeline.upkeep.backfills import last_backfill, waiting_late_events
from pipeline.upkeep.progress import ingest_batch_read, newest_event_times, query_progress
from pipeline.views.catalog import sql_of
from pipeline.warehouse.files import WarehouseFiles
from pipeline.warehouse.guard import newest_batches
from pipeline.warehouse.layout import QUERIES, Warehouse
from pipeline.warehouse.lock import Driver, is_gone, read_lock
from pipeline.warehouse.replays import replayed_lines
from pipeline.warehouse.table_facts import all_table_facts
from schemas.tables import JOB_TABLES
from schemas.tables.backfills import BACKFILLS
from schemas.tables.watch import QUERY_PROGRESS, RUN_LEDGER

Document = dict[str, Any]
#: How long ago, by the reader's clock, is never negative: clocks of two machines differ.
_NOW_S = 0.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OF_RUN = (
    "run_id", "mode", "started_at", "ended_at", "outcome", "error", "micro_batches", "unrecorded", "code_version", "code_fingerprint",
    "settings_fingerprint",
)  # fmt: skip
_OF_PROGRESS = ("batch_id", "ended_at", "trigger_execution_ms", "add_batch_ms", "rows_in", "rows_per_s", "event_lag_ms")


def status(
    spark: SparkSession, warehouse: Warehouse, now: datetime, host: str, is_alive: Callable[[Driver], bool], small_below: int
) -> Document:
    """Everything at `now` (with its zone), as JSON-ready values but for datetimes, which have a zone.

    `is_alive` is whether a driver on `host`, where we are, runs. Files below `small_below` bytes are small. The tables batch_manifest and
    lane_control must exist.
    """
    mine = spark.newSession()  # its temporary views are nobody else's
    facts = all_table_facts(mine, warehouse, small_below)
    there = {fact.name for fact in facts}
    missing = [table.name for table in JOB_TABLES if table.name not in there]
    document: Document = {
        "warehouse": warehouse.root,
        "at": now,
        "problems": [],
        "writer": writer(mine, warehouse, now, host, is_alive),
        "stop_requested": WarehouseFiles(mine).exists(warehouse.stop_file),
        "run": None if RUN_LEDGER.name not in there else _last_run(mine, warehouse),
        "queries": {
            query: {
                **query_progress(mine, warehouse, query),
                "last_progress": None if QUERY_PROGRESS.name not in there else _last_progress(mine, warehouse, query),
            }
            for query in QUERIES
        },
        "events": _events(mine, warehouse),
        "event_time": _event_time(mine, warehouse, now),
        "gaps": {} if "log_gaps" in missing else _gaps(mine, warehouse),
        "late": {} if "late_events" in missing else _by_reason(mine, warehouse, "late_events"),
        "backfill": {
            "last": None if BACKFILLS.name not in there else last_backfill(mine, warehouse),
            "waiting": {} if "late_events" in missing else waiting_late_events(mine, warehouse),
        },
        "quarantine": {} if "quarantine" in missing else _by_reason(mine, warehouse, "quarantine"),
        "tables": {fact.name: {key: value for key, value in asdict(fact).items() if key != "name"} for fact in facts},
        "missing_tables": missing,
    }
    document["problems"] = problems(document)
    return document


def writer(spark: SparkSession, warehouse: Warehouse, now: datetime, host: str, is_alive: Callable[[Driver], bool]) -> Document:
    """Who holds the warehouse's lock: state `nobody`, `running`, `gone` (left behind by a driver that died) or `unreadable`."""
    files = WarehouseFiles(spark)
    if not files.exists(warehouse.lock_file):
        return {"state": "nobody"}
    holder = read_lock(files, warehouse.lock_file)
    if holder is None:
        return {"state": "unreadable" if files.exists(warehouse.lock_file) else "nobody"}
    gone = is_gone(holder, now, host, is_alive)
    driver = {"run_id": holder.driver.run_id, "host": holder.driver.host, "pid": holder.driver.pid}
    return {"state": "gone" if gone else "running", **driver, "started_at": holder.started_at, "heartbeat_at": holder.heartbeat_at}


def problems(document: Document) -> list[str]:
    """What somebody must do something about, the worst first; empty if nothing."""
    found = [words["refused"] for words in document["queries"].values() if words["refused"]]
    events, holder = document["events"], document["writer"]
    if document["missing_tables"]:
        found.append(f"tables are missing: {', '.join(document['missing_tables'])}; the next `stream` makes new ones, or refuses")
    if not (events["ingest_balanced"] and events["lanes_balanced"]):
        found.append("the books do not balance: see SELECT * FROM log_balance; this is a fault of this program, please report it")
    if holder["state"] == "gone":
        found.append(f"the driver died (host {holder['host']}, pid {holder['pid']}): start the same `stream` command again")
    if holder["state"] == "unreadable":
        found.append("the lock file cannot be read: if no `stream` runs, start it again, it takes the warehouse over")
    if holder["state"] == "nobody" and events["lanes_behind"]:
        found.append(f"nobody writes, and lanes have {events['lanes_behind']:,} rows still to read: start `stream` again")
    return found


def _last_run(spark: SparkSession, warehouse: Warehouse) -> Document | None:
    """The run that was started last, as far as run_ledger has it. Without an end it runs, or was killed: the writer's state shows which."""
    ledger = spark.read.format("delta").load(warehouse.table(RUN_LEDGER.name))
    # Of the two rows of a run the one with its end, if it is there.
    rows = ledger.orderBy(F.desc("started_at"), F.desc_nulls_last("ended_at")).select(*_OF_RUN).limit(1).collect()
    return _in_utc(rows[0].asDict()) if rows else None


def _last_progress(spark: SparkSession, warehouse: Warehouse, query: str) -> Document | None:
    """The newest micro-batch of the query that query_progress has: a minute may pass until it is there."""
    of_query = spark.read.format("delta").load(warehouse.table(QUERY_PROGRESS.name)).where(F.col("query") == query)
    rows = of_query.orderBy(F.desc("ended_at")).select(*_OF_PROGRESS).limit(1).collect()
    return _in_utc(rows[0].asDict()) if rows else None


def _in_utc(row: Document) -> Document:
    """collect() gives naive times of this process's local zone."""
    return {key: value.astimezone(UTC) if isinstance(value, datetime) else value for key, value in row.items()}


def _events(spark: SparkSession, warehouse: Warehouse) -> Document:
    """The row of the view log_balance. Lanes may be quicker than ingest's books: then they are not behind."""
    for table in ("batch_manifest", "lane_control"):
        spark.read.format("delta").load(warehouse.table(table)).createOrReplaceTempView(table)
    replayed_lines(spark, warehouse).createOrReplaceTempView("quarantine_replays")
    row = spark.sql(sql_of("log_balance")).drop("last_written_at").collect()[0].asDict()
    return {**row, "lanes_behind": max(0, row["lanes_behind"])}


def _event_time(spark: SparkSession, warehouse: Warehouse, now: datetime) -> Document:
    batches = newest_batches(spark, warehouse, "lanes")
    read_batch = ingest_batch_read(spark, warehouse, batches[0].source_offsets) if batches else None
    newest, read = newest_event_times(spark, warehouse, read_batch)
    return {
        "newest": _instant(newest),
        "newest_age_s": None if newest is None else max(_NOW_S, (now - _EPOCH).total_seconds() - newest / 1e6),
        "newest_read": _instant(read),
        "lanes_behind_s": None if newest is None or read is None else (newest - read) / 1e6,
    }


def _instant(us: int | None) -> datetime | None:
    return None if us is None else _EPOCH + timedelta(microseconds=us)


def _gaps(spark: SparkSession, warehouse: Warehouse) -> Document:
    gaps = spark.read.format("delta").load(warehouse.table("log_gaps"))
    row: Row = gaps.agg(
        F.count_if(F.col("kind") == "lost").alias("lost_ranges"),
        F.coalesce(F.sum("events"), F.lit(0)).alias("lost_events"),
        F.count_if(F.col("kind") == "clock_step").alias("clock_steps"),
        F.unix_micros(F.max(F.when(F.col("kind") == "lost", F.coalesce("ts_after", "ts_before")))).alias("newest"),
    ).collect()[0]
    return {**row.asDict(), "newest": _instant(row["newest"])}


def _by_reason(spark: SparkSession, warehouse: Warehouse, table: str) -> dict[str, int]:
    rows = spark.read.format("delta").load(warehouse.table(table)).groupBy("reason").count().orderBy(F.desc("count"), "reason").collect()
    return {row["reason"]: row["count"] for row in rows}
