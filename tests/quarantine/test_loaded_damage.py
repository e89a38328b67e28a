"""A damaged log through `load`: the tables of the streaming job."""

from pathlib import Path

from job_run import run_job
from loaded import contents, load_into, tables_unlike
from pyspark.sql import SparkSession
from quarantined_log import CUT_SHORT, STRICT, WRONG_TYPE, written_log


def test_a_damaged_log_gives_the_same_tables(spark: SparkSession, tmp_path: Path) -> None:
    settings = {**STRICT, "ingest__max_files_per_batch": "10"}  # in one micro-batch, as a load takes all
    log = written_log(tmp_path)
    run_job(log.place, log.warehouse, **settings)
    loaded = load_into(log.place, tmp_path / "loaded", **settings)
    assert tables_unlike(log.warehouse, loaded) == []
    assert contents(loaded, "quarantine").num_rows > len(WRONG_TYPE) + len(CUT_SHORT)
    assert contents(loaded, "log_gaps").num_rows > 0
