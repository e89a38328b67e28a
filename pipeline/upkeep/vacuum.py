"""Removes data files that no version needs any more, and never one that somebody still reads.

How long a removed file is kept is Delta's table property delta.deletedFileRetentionDuration, a week by default. Not VACUUM's RETAIN:
Delta 4.4 ignores it unless it is 0 (spark.databricks.delta.vacuum.retentionWindowIgnore.enabled), and a longer one would not help: the log
forgets after that property's time that a file was removed, and VACUUM then takes it for rubbish.
"""

from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from pipeline.store.address import delta_url
from pipeline.store.hadoop_files import files_with_hadoop
from pipeline.store.table_log import opened
from pipeline.warehouse import delta_log
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.writer_mark import marked
from schemas.render.ddl import delta_path

#: A reader may hold a version for so long: shorter properties are somebody's mistake.
SHORTEST = timedelta(hours=168)
#: Between our look and Delta's own, and between two machines' clocks.
MARGIN = timedelta(hours=1)


def why_not(spark: SparkSession, warehouse: Warehouse, table: str, needed: int | None, now: datetime) -> str | None:
    """Why a VACUUM of the table could remove files of version `needed` (None: nobody needs an old one); None if it cannot.

    Files of that version that are no longer in the table were removed by a later one. If the first later version is younger than what
    Delta keeps, all of them are kept.
    """
    path = warehouse.table(table)
    kept = delta_log.removed_files_kept(spark, path)
    if kept < SHORTEST:
        return f"its property delta.deletedFileRetentionDuration is {kept}, less than {SHORTEST}"
    if needed is None or needed >= delta_log.version(spark, path):
        return None
    changed = delta_log.committed_at(spark, path, needed + 1)
    if changed is not None and now - changed < kept - MARGIN:
        return None
    since = "longer ago than its log goes back" if changed is None else changed.isoformat(timespec="seconds")
    return f"version {needed} may still be read (by lanes, or a consistent cut) and was superseded {since}; let `stream` go on first"


def bytes_beside(spark: SparkSession, warehouse: Warehouse, table: str, live_bytes: int) -> int:
    """Length of the data files on disk that are not in the newest version, whose files have `live_bytes`."""
    files, path = files_with_hadoop(warehouse.root, spark), warehouse.table(table)
    return max(0, files.bytes_below(path) - files.bytes_below(f"{path}/_delta_log") - live_bytes)


def vacuum(spark: SparkSession, warehouse: Warehouse, table: str) -> None:
    """VACUUM the table. Ask `why_not` before."""
    uri = warehouse.table(table)
    if delta_url(uri) is None:
        spark.sql(f"VACUUM {delta_path(uri)}")
    else:
        opened(uri).vacuum(dry_run=False, full=True, commit_properties=marked())


def removable_files(spark: SparkSession, warehouse: Warehouse, table: str) -> int:
    """How many files a VACUUM would remove now; removes none. Of Spark's it is files and folders, 1000 at most."""
    uri = warehouse.table(table)
    if delta_url(uri) is None:
        return spark.sql(f"VACUUM {delta_path(uri)} DRY RUN").count()
    return len(opened(uri).vacuum(full=True))
