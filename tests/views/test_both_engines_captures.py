"""Over what lanes make of all real brokers' logs, and of small ones, every view has the same rows from Spark and from the reading room."""

from collections.abc import Callable
from pathlib import Path

import channel_logs
import partition_logs
import pytest
from both_engines import difference
from captured_warehouse import warehouse_of, warehouse_of_logs
from pyspark.sql import SparkSession
from real_captures import NAMES
from views_from_memory import register_from_memory

from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
Compare = Callable[[str], dict[str, object]]


def comparing(spark: SparkSession, warehouse: Warehouse) -> Compare:
    """Compares the rows of a view."""
    session, room = spark.newSession(), ReadingRoom(warehouse)
    register_from_memory(session, warehouse)
    return lambda view: difference(session.table(view), room.ask(f"SELECT * FROM {view}"))


@pytest.mark.slow(reason="folds all captures, and Spark computes every view of them; some captures and the small warehouse run by default")
def test_every_view_has_the_same_rows_from_both_over_all_captures(spark: SparkSession, captures: Path, tmp_path: Path) -> None:
    compare = comparing(spark, warehouse_of([captures / name for name in NAMES], tmp_path))
    assert {view: found for view in VIEWS if (found := compare(view))} == {}


@pytest.mark.slow(reason="Spark computes every view once more; some captures and the small warehouse run by default")
def test_every_view_has_the_same_rows_from_both_over_the_small_logs_of_channels_and_partitions(spark: SparkSession, tmp_path: Path) -> None:
    compare = comparing(spark, warehouse_of_logs([*channel_logs.every_log(), *partition_logs.every_scenario()], tmp_path))
    assert {view: found for view in VIEWS if (found := compare(view))} == {}
