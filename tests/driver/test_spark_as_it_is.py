"""Spark as set-up leaves it (requirements/never-used.txt): paths through it that only a long or large run takes."""

from pyspark import StorageLevel
from pyspark.sql import SparkSession


def test_a_block_of_bytes_can_leave_memory(spark: SparkSession) -> None:
    """Spark does this with the code of its tasks when memory is short. It writes bytes by Kryo, others by Java.

    Its Kryo first tries many classes by name. One that is missing is passed over; one that needs a missing one ends the task.
    """
    held = spark.sparkContext.parallelize([b"a", b"b"]).persist(StorageLevel.DISK_ONLY)
    try:
        assert held.collect() == [b"a", b"b"]
    finally:
        held.unpersist(blocking=True)
