"""What a backfill did, to the table backfills."""

from collections.abc import Iterable

from pyspark.sql import SparkSession

from pipeline.backfill.run import Done, Run
from pipeline.rules_cache import sources_fingerprint
from pipeline.settings import Settings
from pipeline.warehouse.layout import Warehouse
from schemas.render.spark import struct
from schemas.tables.backfills import BACKFILLS


def append_rows(spark: SparkSession, warehouse: Warehouse, run: Run, settings: Settings, finished: Iterable[Done]) -> None:
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
            row = of_run | dates | counts
            rows.append(tuple(row[column] for column in BACKFILLS.names))
    if rows:
        frame = spark.createDataFrame(rows, struct(BACKFILLS.fields)).coalesce(1)
        frame.write.format("delta").mode("append").save(warehouse.table(BACKFILLS.name))
