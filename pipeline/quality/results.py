"""Verdicts to the table quality_results."""

from collections.abc import Sequence
from datetime import datetime

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from pipeline.quality.verdict import Verdict
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table
from schemas.render.ddl import create_table
from schemas.render.spark import struct
from schemas.tables.quality import QUALITY_RESULTS


def make_results_table(spark: SparkSession, warehouse: Warehouse) -> None:
    """Create quality_results in a warehouse that lacks it: one that a version before this table made. Raises BadWarehouse if it is another.

    Needs no lock: the job that holds it never writes this table, and Delta makes a table once, whoever asks.
    """
    path = warehouse.table(QUALITY_RESULTS.name)
    if DeltaTable.isDeltaTable(spark, path):
        check_table(spark, warehouse, QUALITY_RESULTS)
    else:
        spark.sql(create_table(QUALITY_RESULTS, path))


def append_verdicts(
    spark: SparkSession, warehouse: Warehouse, verdicts: Sequence[Verdict], *, run_id: str, run_at: datetime, code_version: str
) -> None:
    """Append the verdicts of a run in one commit. `run_at` needs a zone."""
    of_run = {"run_id": run_id, "run_at": run_at, "code_version": code_version}
    rows = [tuple({**vars(verdict), **of_run}[name] for name in QUALITY_RESULTS.names) for verdict in verdicts]
    frame = spark.createDataFrame(rows, struct(QUALITY_RESULTS.fields)).coalesce(1)
    frame.write.format("delta").mode("append").save(warehouse.table(QUALITY_RESULTS.name))
