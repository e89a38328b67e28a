"""What Spark writes in its own ways is read without it."""

from pathlib import Path

from pyspark.sql import SparkSession
from query.conftest import append, event
from query.test_room import seqs

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse


def test_a_table_with_deletion_vectors_and_a_checkpoint_of_version_2_is_read_without_spark(
    spark: SparkSession, two_days: Warehouse
) -> None:
    """As somebody may set it; no table of ours has them by itself."""
    path = two_days.table("dispatch_events").removeprefix("file:")
    append(two_days, "dispatch_events", [event(4, day=6), event(5, day=6)])
    properties = "'delta.enableDeletionVectors' = 'true', 'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '1'"
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ({properties})")
    spark.sql(f"DELETE FROM delta.`{path}` WHERE seq = 4")
    assert list(Path(path).glob("deletion_vector_*")), "rows were not deleted by a vector"
    assert list(Path(path, "_delta_log").glob("*.checkpoint.*")), "there is no checkpoint"
    room = ReadingRoom(two_days)
    assert seqs(room) == [1, 2, 3, 5]
    assert seqs(room, "event_date = DATE '2026-01-06'") == [3, 5]
