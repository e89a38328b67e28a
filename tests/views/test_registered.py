"""Tables and views that are registered in a session of Spark stay fresh."""

import shutil
from pathlib import Path

import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from pipeline.query.views.register import register
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import opened
from pipeline.warehouse.cut import Cut
from pipeline.warehouse.layout import Warehouse

QUERY = "SELECT COUNT(*) FROM limiter_use"


@pytest.fixture
def copied(filled_warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """The small warehouse, which this test may change."""
    return Warehouse("file:" + str(shutil.copytree(filled_warehouse.root.removeprefix("file:"), tmp_path / "copied")))


def rows_of(session: SparkSession) -> int:
    """How many rows the view has."""
    (found,) = session.sql(QUERY).collect()
    return int(found[0])


def test_a_query_reads_what_was_written_and_deleted_since(spark: SparkSession, copied: Warehouse) -> None:
    session = spark.newSession()
    register(session, copied, statement=QUERY)
    path = copied.table("limiter_windows")
    windows = arrow_rows(path)
    assert rows_of(session) == windows.num_rows > 0
    write_deltalake(opened(path), windows, mode="append")
    assert rows_of(session) == 2 * windows.num_rows
    opened(path).delete()
    assert rows_of(session) == 0


def test_with_a_cut_it_reads_what_was_there(spark: SparkSession, copied: Warehouse) -> None:
    session, path = spark.newSession(), copied.table("limiter_windows")
    there = opened(path).version()
    count = arrow_rows(path).num_rows
    write_deltalake(opened(path), arrow_rows(path), mode="append")
    register(session, copied, Cut({"limiter_windows": there}, None, None), QUERY)
    assert rows_of(session) == count
