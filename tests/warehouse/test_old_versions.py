"""A table that is seldom written is read as it stood until now, however long ago that was written."""

from pathlib import Path

from pyspark.sql import SparkSession

from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import create_table, delta_path
from schemas.tables.bookkeeping import NAMES


def test_a_version_that_was_replaced_only_now_is_readable_though_it_is_older_than_removed_files_are_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = Warehouse(str(tmp_path)).table(NAMES.name)
    spark.sql(create_table(NAMES, path))
    spark.sql(f"ALTER TABLE {delta_path(path)} SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 seconds')")
    spark.sql(f"INSERT INTO {delta_path(path)} VALUES (1, 'broker', 'b', NULL, NULL)")
    versions = [spark.sql(f"SELECT * FROM {delta_path(path)} VERSION AS OF {version}").count() for version in (1, 2)]
    assert versions == [0, 1]
