"""Verdicts to the table quality_results."""

from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import SparkSession

from pipeline.quality.verdict import Verdict
from pipeline.warehouse.layout import Warehouse
from schemas.render.spark import struct
from schemas.tables.quality import QUALITY_RESULTS


def append_verdicts(
    spark: SparkSession, warehouse: Warehouse, verdicts: Sequence[Verdict], *, run_id: str, run_at: datetime, code_version: str
) -> None:
    """Append the verdicts of a run in one commit. `run_at` needs a zone."""
    of_run = {"run_id": run_id, "run_at": run_at, "code_version": code_version}
    rows = [tuple({**vars(verdict), **of_run}[name] for name in QUALITY_RESULTS.names) for verdict in verdicts]
    frame = spark.createDataFrame(rows, struct(QUALITY_RESULTS.fields)).coalesce(1)
    frame.write.format("delta").mode("append").save(warehouse.table(QUALITY_RESULTS.name))
