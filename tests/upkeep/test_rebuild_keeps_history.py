"""A rebuild forgets what was computed from the log; what runs told of themselves cannot be computed again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.rebuild import forget_all
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.table_facts import existing_tables
from schemas.tables import WATCH_TABLES

pytestmark = pytest.mark.spark


def test_rebuild_all_leaves_the_runs_and_their_micro_batches(spark: SparkSession, copied: Callable[[], Warehouse]) -> None:
    warehouse = copied()
    names = [table.name for table in WATCH_TABLES]
    before = {name: spark.read.format("delta").load(warehouse.table(name)).count() for name in names}
    said: list[str] = []
    forget_all(spark, warehouse, said.append)
    assert existing_tables(spark, warehouse) == names
    assert not Path(warehouse.checkpoint("lanes").removeprefix("file:")).exists()
    assert {name: spark.read.format("delta").load(warehouse.table(name)).count() for name in names} == before
    assert before["query_progress"] >= 5, "four micro-batches of ingest, and those of lanes"
    assert not [line for line in said if any(name in line for name in names)]
