"""Settings of Spark that hold for one query, not for the session."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

#: Before each row that goes to Python, Spark adds up the bytes of all columns of the batch so far. With this value it does not.
#: A batch then ends by its number of rows alone, so its rows must be narrow: Arrow takes 2 GiB a column.
ARROW_BATCH_BYTES, UNCOUNTED = "spark.sql.execution.arrow.maxBytesPerBatch", 2**31 - 1


@contextmanager
def setting(spark: SparkSession, name: str, value: str | int) -> Iterator[None]:
    """Queries that start, and jobs that run, in this block have the setting."""
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)
