"""Findings to the table quality_results."""

from collections.abc import Sequence
from datetime import datetime

from pipeline.upkeep.quality.finding import Finding
from pipeline.warehouse.append import app_id_of, append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables.quality import QUALITY_RESULTS


def append_findings(warehouse: Warehouse, findings: Sequence[Finding], *, run_id: str, run_at: datetime, code_version: str) -> None:
    """Append the findings of a run in one commit. `run_at` needs a zone."""
    of_run = {"run_id": run_id, "run_at": run_at, "code_version": code_version}
    append_rows(
        warehouse, QUALITY_RESULTS, [{**vars(finding), **of_run} for finding in findings], (app_id_of(run_id, QUALITY_RESULTS.name), 0)
    )
