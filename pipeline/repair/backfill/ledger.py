"""What a backfill did, to the table backfills."""

from collections.abc import Iterable

from pipeline.repair.backfill.run import Done, Run
from pipeline.rules_cache import sources_fingerprint
from pipeline.settings import Settings
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables.backfills import BACKFILLS


def append_entries(warehouse: Warehouse, run: Run, settings: Settings, finished: Iterable[Done]) -> None:
    """Append a row per broker and table of a round, in one commit."""
    of_run = {
        "run_id": run.run_id,
        "began_at": run.began_at,
        "finished_at": run.now(),
        "ingest_batch": run.ingest_batch,
        "dry_run": run.dry_run,
        "code_version": run.code_version,
        "rules": sources_fingerprint(),
        "settings": {key: str(value) for key, value in settings.items() if key.startswith("lanes.")},
    }
    rows = []
    for one in finished:
        dates = {
            "broker": one.due.dates.broker,
            "first_date": one.due.dates.first,
            "last_date": one.due.dates.last,
            "reason": one.due.reason,
        }
        for name, difference in one.differences.items():
            counts = {
                "table_name": name,
                "rows_found": difference.found,
                "rows_computed": difference.computed,
                "added": difference.added,
                "removed": difference.removed,
                "changed": difference.changed,
                "based_on": one.based_on[name],
                "swapped": bool(difference.dates) and not run.dry_run,
            }
            rows.append(of_run | dates | counts)
    append_rows(warehouse, BACKFILLS, rows)
