"""Rows to a Delta table exactly once per micro-batch: a repeated micro-batch writes nothing twice."""

from pyspark.sql import DataFrame, SparkSession

from pipeline.warehouse import delta_log
from pipeline.warehouse.layout import Warehouse


def append_once(df: DataFrame, warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Append `df` to the table unless (`app_id`, `version`) was appended before, or it has no rows. Says whether it wrote.

    Asks the frame whether it has rows: persist what is expensive to compute, or call `append` where there surely are some.
    """
    if is_appended(df.sparkSession, warehouse, table, app_id, version) or df.isEmpty():
        return False
    append(df, warehouse, table, app_id, version)
    return True


def append(df: DataFrame, warehouse: Warehouse, table: str, app_id: str, version: int) -> None:
    """Append `df` to the table; Delta skips it, without computing it, if a version ≥ `version` of `app_id` was appended before."""
    writer = df.write.format("delta").mode("append").option("txnAppId", app_id).option("txnVersion", version)
    writer.save(warehouse.table(table))


def is_appended(spark: SparkSession, warehouse: Warehouse, table: str, app_id: str, version: int) -> bool:
    """Whether `append` with these would be skipped."""
    last = delta_log.last_transaction(spark, warehouse.table(table), app_id)
    return last is not None and last >= version


def app_id_of(query_id: str, table: str) -> str:
    """Delta's transaction id of what the query with this id writes into `table`: a new checkpoint has a new query id."""
    return f"{query_id}:{table}"
