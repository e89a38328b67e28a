"""The first micro-batch after a rebuild takes everything at once; a later one never does."""

from pathlib import Path

from pyspark.sql import SparkSession

from pipeline.lanes.query import begins_after_rebuild
from pipeline.warehouse.layout import Warehouse


def test_only_a_query_that_planned_nothing_begins(spark: SparkSession, warehouse: Warehouse) -> None:
    assert not begins_after_rebuild(warehouse), "nobody rebuilt"
    marker, offsets = Path(warehouse.rebuild_marker), Path(warehouse.checkpoint("lanes")) / "offsets"
    offsets.mkdir(parents=True)
    marker.touch()
    assert begins_after_rebuild(warehouse)
    (offsets / "57").touch()  # of long ago Spark keeps nothing, least of all 0
    assert not begins_after_rebuild(warehouse)
