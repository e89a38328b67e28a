"""Verdicts to the table quality_results."""

from collections.abc import Sequence
from datetime import datetime

from pipeline.upkeep.quality.result import Verdict
from pipeline.warehouse.append import app_id_of, append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables.quality import QUALITY_RESULTS


def append_verdicts(warehouse: Warehouse, verdicts: Sequence[Verdict], *, run_id: str, run_at: datetime, code_version: str) -> None:
    """Append the verdicts of a run in one commit. `run_at` needs a zone."""
    of_run = {"run_id": run_id, "run_at": run_at, "code_version": code_version}
    append_rows(
        warehouse, QUALITY_RESULTS, [{**vars(verdict), **of_run} for verdict in verdicts], (app_id_of(run_id, QUALITY_RESULTS.name), 0)
    )
