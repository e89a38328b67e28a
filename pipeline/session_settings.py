"""Settings of Spark that hold for one query, not for the session."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from pyspark.sql import SparkSession

#: Before each row that goes to Python, Spark adds up the bytes of all columns of the batch so far. With this value it does not.
#: A batch then ends by its number of rows alone, so its rows must be narrow: Arrow takes 2 GiB a column.
ARROW_BATCH_BYTES, UNCOUNTED = "spark.sql.execution.arrow.maxBytesPerBatch", 2**31 - 1
#: For queries of which Java sees few rows: packets, names of files. Classes that Spark would write for each of their jobs, and Java would
#: load and compile, cost more than they gain; and texts of plans have no reader.
FEW_ROWS_IN_JAVA = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "1000",
}


@contextmanager
def settings_of_query(spark: SparkSession, settings: Mapping[str, str | int]) -> Iterator[None]:
    """Queries that start in this block keep the settings."""
    with ExitStack() as held:
        for name, value in settings.items():
            held.enter_context(setting(spark, name, value))
        yield


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
