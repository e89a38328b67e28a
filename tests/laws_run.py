"""Laws of the quality job asked of a warehouse: of its newest consistent cut, by the reading room where it has Spark's words."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession

from pipeline.quality.laws import NAMES, Law
from pipeline.reading.newest import NewestRoom
from pipeline.reading.room import ReadingRoom
from pipeline.views.register import register
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.newest_cut import newest_cut

#: Laws in words of Spark's that DuckDB has not. It takes a tenth of the time for the others.
ONLY_SPARK = {
    "check_histograms_add_up",
    "days_end_in_order",
    "lanes_read_every_event_once",
    "packets_hold_their_events",
    "windows_sum_to_counters",
}
assert set(NAMES) >= ONLY_SPARK


def broken_laws(spark: SparkSession, warehouse: Warehouse, names: Iterable[str] = NAMES) -> dict[str, Any]:
    """Law → a row that breaks it."""
    room, session = ReadingRoom(warehouse, consistent=True), spark.newSession()
    by_spark = [Law(name) for name in names if name in ONLY_SPARK]
    register(session, warehouse, newest_cut(NewestRoom(warehouse)), " ".join(law.sql for law in by_spark))
    rows = {law.name: session.sql(law.sql).limit(1).collect() for law in by_spark}
    rows |= {name: room.rows(Law(name).sql) for name in names if name not in ONLY_SPARK}
    return {name: broken[0] for name, broken in rows.items() if broken}
