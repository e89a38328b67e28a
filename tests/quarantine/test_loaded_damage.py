"""A damaged log through `load`: the tables of the streaming job."""

from pathlib import Path

from job_run import run_job
from loaded import contents, load_into, tables_unlike
from pyspark.sql import SparkSession
from quarantined_log import STRICT, Damaged

from pipeline.warehouse.layout import Warehouse


def test_a_damaged_log_gives_the_same_tables(spark: SparkSession, made: Damaged, warehouse: Warehouse, tmp_path: Path) -> None:
    settings = {**STRICT, "ingest__max_files_per_batch": "10"}  # in one micro-batch, as a load takes all
    run_job(made.place, warehouse, **settings)
    loaded = load_into(made.place, tmp_path / "loaded", **settings)
    assert tables_unlike(warehouse, loaded) == []
    assert contents(loaded, "quarantine").num_rows == contents(made.warehouse, "quarantine").num_rows > 0
