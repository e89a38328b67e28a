"""The rows that are measured: real captures multiplied, other broker and topic names and shifted times, so that shapes stay real.

Not measured itself.
"""

import gzip
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from driver.streaming import run_stream
from pipeline.ingest.bronze_files import BronzeFiles
from pipeline.session_settings import ARROW_BATCH_BYTES, UNCOUNTED, setting
from pipeline.settings import load_settings
from pipeline.sources.source import Batches
from pipeline.warehouse.append import append_files
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables.bronze import DISPATCH_EVENTS, LANE_LAYOUT, LANE_PACKET, PARSED_FIELDS

#: Copies lie this far apart in time, so that several dates and many windows are touched.
SHIFT_MS = 3_600_000


def ingested(spark: SparkSession, captures: str, folder: Path) -> Warehouse:
    """The captures (a glob of event files) through the real job, once."""
    warehouse = Warehouse(str(folder / "once"))
    run_stream(spark, captures, warehouse.root, load_settings(None, [], {}), once=True, drain=False)
    return warehouse


def multiplied(spark: SparkSession, once: Warehouse, folder: Path, copies: int) -> tuple[Warehouse, int]:
    """A warehouse with `copies` of every epoch of `once`, each under a broker and topics of its own; and its number of events."""
    warehouse = Warehouse(str(folder / "multiplied"))
    create_missing_tables(warehouse)
    bronze = spark.read.format("delta").load(once.table("dispatch_events")).select(*(f.name for f in PARSED_FIELDS))
    copy = spark.range(copies).withColumnRenamed("id", "copy")
    shifted = bronze.crossJoin(F.broadcast(copy)).withColumns(
        {
            "broker": F.expr("concat('broker-', epoch, '-', copy, ':8080')"),
            "topic": F.expr("replace(topic, 'persistent://real/', concat('persistent://copy', copy, '/', epoch, '-'))"),
            "epoch": F.expr(f"epoch + copy * {SHIFT_MS}"),
            "ts": F.expr(f"ts + copy * {SHIFT_MS} * 1000L"),
        }
    )
    return warehouse, stored(spark, shifted.drop("copy"), warehouse, 2 * copies)


def stored(spark: SparkSession, events: DataFrame, warehouse: Warehouse, partitions: int) -> int:
    """Write parsed events and their names into an empty warehouse, every broker in order; returns how many there are."""
    append_as_ingest(events, warehouse, 0, partitions)
    written = spark.read.format("delta").load(warehouse.table(DISPATCH_EVENTS.name))
    id_names(written).write.format("delta").mode("append").save(warehouse.table("names"))
    return written.count()


def append_as_ingest(events: DataFrame, warehouse: Warehouse, ingest_batch: int, partitions: int) -> None:
    """Append parsed events to bronze as a micro-batch of ingest does, in its files, every broker in order."""
    ordered = events.repartition(partitions, "broker").sortWithinPartitions("broker", "epoch", "seq")
    folder = warehouse.table(DISPATCH_EVENTS.name)
    with setting(events.sparkSession, ARROW_BATCH_BYTES, UNCOUNTED):
        rows = ordered.select(*(f.name for f in PARSED_FIELDS))
        added = rows.mapInArrow(partial(_written, folder, ingest_batch), "added string").collect()
    append_files(folder, DISPATCH_EVENTS, [NewFile.from_json(row.added) for row in added], ("bench", ingest_batch))


def _written(folder: str, ingest_batch: int, batches: Batches) -> Batches:
    """In a task: a file per date, of the rows in their order."""
    task = TaskContext.get()
    assert task is not None
    files = BronzeFiles(folder, ingest_batch, f"bench-{ingest_batch}-{task.partitionId()}-{task.taskAttemptId()}")
    for batch in batches:
        if batch.num_rows:
            files.add(batch)
    added = [file.to_json() for file in files.close()]
    yield pa.RecordBatch.from_arrays([pa.array(added, pa.string())], names=["added"])


def log_only(bronze: DataFrame) -> DataFrame:
    """Rows of bronze without the packets that our own lanes read: what a plain copy of the log copies."""
    return bronze.drop(LANE_LAYOUT, LANE_PACKET)


def id_names(bronze: DataFrame) -> DataFrame:
    """Rows of `names` for every id in bronze rows."""
    null = F.lit(None).cast("string")
    brokers = bronze.select(
        F.col("broker_id").alias("id"), F.lit("broker").alias("level"), "broker", null.alias("topic"), null.alias("subscription")
    )
    topics = bronze.where("topic_id <> 0").select("topic_id", F.lit("topic"), null, "topic", null)
    subs = bronze.where("sub_id <> 0").select("sub_id", F.lit("subscription"), null, "topic", "sub")
    return brokers.distinct().union(topics.distinct()).union(subs.distinct())


def json_files(capture_file: Path, folder: Path, files: int) -> int:
    """`files` plain .jsonl files, each the capture under another broker name; returns the number of lines in all."""
    folder.mkdir(parents=True)
    text = gzip.decompress(capture_file.read_bytes()).decode()
    for number in range(files):
        (folder / f"events-{number:03}.jsonl").write_text(text.replace("127.0.0.1:8080", f"broker-{number}:8080"))
    return text.count("\n") * files
