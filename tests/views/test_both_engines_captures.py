"""Over what lanes make of real brokers' logs every view has the same rows from Spark and from the reading room."""

from collections.abc import Callable
from pathlib import Path

import pytest
from both_engines import difference
from captured_warehouse import warehouse_of
from pyspark.sql import SparkSession
from real_captures import NAMES
from views_from_memory import register_from_memory

from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS

pytestmark = pytest.mark.captures
#: Small ones that have something of each package between them: evictions, holes, connections that are not read from, limiters.
FEW = ("c_broker_limit", "h_size_quota_eviction", "l_holes_redelivery_seek")

Compare = Callable[[str], dict[str, object]]


def comparing(spark: SparkSession, captures: Path, names: tuple[str, ...], folder: Path) -> Compare:
    """Makes the warehouse; what is returned compares the rows of a view."""
    warehouse = warehouse_of([captures / name for name in names], folder)
    session, room = spark.newSession(), ReadingRoom(warehouse)
    register_from_memory(session, warehouse)
    return lambda view: difference(session, room, f"SELECT * FROM {view}")


@pytest.fixture(scope="module")
def few(spark: SparkSession, captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """Of FEW."""
    return comparing(spark, captures, FEW, tmp_path_factory.mktemp("few"))


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_the_same_rows_from_both_over_some_captures(few: Compare, view: str) -> None:
    assert few(view) == {}


@pytest.mark.slow(reason="folds all captures, and Spark computes every view of them; three captures and the small warehouse run by default")
def test_every_view_has_the_same_rows_from_both_over_all_captures(spark: SparkSession, captures: Path, tmp_path: Path) -> None:
    compare = comparing(spark, captures, tuple(NAMES), tmp_path)
    assert {view: found for view in VIEWS if (found := compare(view))} == {}
