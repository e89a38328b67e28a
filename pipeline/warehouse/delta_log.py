"""What a Delta table's log says, asked of Delta itself: it reads on from what it knows, a listing would begin anew each time."""

from typing import Any

from pyspark.sql import SparkSession


def version(spark: SparkSession, path: str) -> int:
    """Version of the table in the folder `path` now; −1 if there is none."""
    return int(_snapshot(spark, path).version())


def last_transaction(spark: SparkSession, path: str, app_id: str) -> int | None:
    """The greatest txnVersion that was committed under the txnAppId `app_id`, or None."""
    found = _snapshot(spark, path).transactions().get(app_id)
    return int(found.get()) if found.isDefined() else None


def _snapshot(spark: SparkSession, path: str) -> Any:
    """The newest snapshot; Delta caches the log of a table per driver."""
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    return log.update(False, jvm.scala.Option.empty(), jvm.scala.Option.empty())
