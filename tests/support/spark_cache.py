"""What Delta remembers of tables by their path, in the session that tests share."""

from pyspark.sql import SparkSession


def forget_cached_tables(spark: SparkSession) -> None:
    """Tables were deleted, or put back, behind Delta's back: no process of ours that has Spark goes on then."""
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]  # _jvm is None only without a session
