"""Verdicts to the table quality_results."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pipeline.quality.verdict import Verdict
from pipeline.sinks.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables.quality import QUALITY_RESULTS


def append_verdicts(
    spark: Any, warehouse: Warehouse, verdicts: Sequence[Verdict], *, run_id: str, run_at: datetime, code_version: str
) -> None:
    """Append the verdicts of a run in one commit. `run_at` needs a zone; `spark` is as writers of tables take it (without_spark.py)."""
    of_run = {"run_id": run_id, "run_at": run_at, "code_version": code_version}
    append_rows(spark, warehouse, QUALITY_RESULTS, [{**vars(verdict), **of_run} for verdict in verdicts])
