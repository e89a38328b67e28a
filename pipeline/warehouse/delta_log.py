"""What a Delta table's log holds, asked of Delta itself: Delta reads on from what it knows, a listing would begin anew each time."""

from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.store.hadoop_files import files_with_hadoop


def version(spark: SparkSession, path: str) -> int:
    """Version of the table in the folder `path` now; −1 if there is none."""
    return int(_snapshot(spark, path).version())


def last_transaction(spark: SparkSession, path: str, app_id: str) -> int | None:
    """The greatest txnVersion that was committed under the txnAppId `app_id`, or None."""
    found = _snapshot(spark, path).transactions().get(app_id)
    return int(found.get()) if found.isDefined() else None


def live_files(spark: SparkSession, path: str) -> tuple[int, DataFrame]:
    """The newest version of an existing table and its data files.

    Their columns are Delta's: `path`, `size` (bytes), `partitionValues`, `stats` (JSON text), and others.
    """
    snapshot = _snapshot(spark, path)
    return int(snapshot.version()), DataFrame(snapshot.allFiles().toDF(), spark)


def committed_at(spark: SparkSession, path: str, version: int) -> datetime | None:
    """When the version was committed, by the file system's clock, as Delta takes it; None if its log entry is not there (any more)."""
    return files_with_hadoop(path, spark).modified_at(f"{path}/_delta_log/{version:020}.json")


def removed_files_kept(spark: SparkSession, path: str) -> timedelta:
    """How long files that were taken out of the table are kept: its property delta.deletedFileRetentionDuration, a week by default."""
    jvm: Any = spark._jvm
    milliseconds = jvm.org.apache.spark.sql.delta.DeltaLog.tombstoneRetentionMillis(_snapshot(spark, path).metadata())
    return timedelta(milliseconds=int(milliseconds))


def _snapshot(spark: SparkSession, path: str) -> Any:
    """The newest snapshot; Delta caches the log of a table per driver."""
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    return log.update(False, jvm.scala.Option.empty(), jvm.scala.Option.empty())
