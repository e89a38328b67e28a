"""One SQL text for both engines: every view, and every query of the cookbook, has the same rows from Spark and from the reading room."""

import pytest
from both_engines import ViewByView, difference
from pyspark.sql import SparkSession
from test_cookbook import QUERIES
from test_watch_views import PAGES
from views_from_memory import register_tables_from_memory

from pipeline.query.room import ReadingRoom
from pipeline.query.views.catalog import VIEWS
from pipeline.warehouse.layout import Warehouse


@pytest.fixture(scope="module")
def room(filled_warehouse: Warehouse) -> ReadingRoom:
    """The small warehouse without Spark."""
    return ReadingRoom(filled_warehouse)


@pytest.fixture(scope="module")
def mixed(mixed_warehouse: Warehouse) -> ReadingRoom:
    """The small warehouse and some captures without Spark."""
    return ReadingRoom(mixed_warehouse)


@pytest.fixture(scope="module")
def rows_of_spark(spark: SparkSession, mixed_warehouse: Warehouse) -> ViewByView:
    """The same with Spark."""
    session = spark.newSession()
    register_tables_from_memory(session, mixed_warehouse)
    return ViewByView(session)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_the_same_rows_from_both(rows_of_spark: ViewByView, mixed: ReadingRoom, view: str) -> None:
    assert difference(rows_of_spark.frame(view), mixed.ask(f"SELECT * FROM {view}")) == {}


@pytest.mark.slow(reason="Spark runs every view by default, and test_watch_views.py every query of these pages in the room")
@pytest.mark.usefixtures("views")
@pytest.mark.parametrize("sql", [sql for found in PAGES.values() for sql in found])
def test_a_query_of_a_page_for_operators_runs_in_spark(spark: SparkSession, sql: str) -> None:
    spark.sql(sql).collect()


@pytest.mark.slow(reason="Spark runs every view by default, and test_cookbook.py every query in the room; `all` compares every query")
@pytest.mark.usefixtures("views")
@pytest.mark.parametrize("number", QUERIES)
def test_a_query_of_the_cookbook_has_the_same_rows_from_both(spark: SparkSession, room: ReadingRoom, number: int) -> None:
    assert difference(spark.sql(QUERIES[number][0]), room.ask(QUERIES[number][0])) == {}
