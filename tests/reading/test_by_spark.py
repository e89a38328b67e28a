"""What Spark writes in its own ways is read without it; and what Spark may be asked is what the room may be asked."""

from pathlib import Path

import pytest
from pipeline.reading.spark_statement import refuse_what_is_no_query
from pyspark.sql import SparkSession
from reading.conftest import append, event
from reading.test_room import REFUSED, seqs

from pipeline.faults import BadConfig
from pipeline.reading.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

#: Texts that Spark takes for a name in quotes, a function that does not exist, or a plain relation of that name: they fail later, or
#: nothing is there; and what only Spark knows.
ONLY_IN_DUCKDB = {"SELECT * FROM sqlite_master"}
ONLY_IN_SPARK = [
    "SELECT reflect('java.lang.System', 'exit', 0)", "BEGIN SELECT 1; END", "SELECT * FROM table_changes_by_path('/tmp/x', 0)",
    "SELECT * FROM IDENTIFIER('delta.`/tmp/x`')", "FROM names INSERT INTO names SELECT *", "DESCRIBE HISTORY delta.`/tmp/x`",
    "SHOW CREATE TABLE names", "DESCRIBE QUERY SELECT * FROM csv.`/tmp/x`", "RESTORE TABLE names TO VERSION AS OF 0",
]  # fmt: skip
ANSWERED = [
    "SELECT * FROM names", "WITH a AS (SELECT id FROM names) SELECT * FROM a JOIN names USING (id) ORDER BY 1 LIMIT 3", "VALUES (1)",
    "SELECT level, count(*) FROM names GROUP BY ALL HAVING count(*) > 0", "SELECT explode(array(1, 2))", "SELECT * FROM range(3)",
    "SELECT id FROM names UNION ALL SELECT 1", "SHOW VIEWS", "SHOW COLUMNS IN names", "DESCRIBE names", "EXPLAIN SELECT * FROM names",
    "SELECT id FROM names WHERE id IN (SELECT max(id) FROM names)", "SELECT lag(id) OVER (ORDER BY id) FROM names",
]  # fmt: skip


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
    room.refuse_what_only_spark_reads()


@pytest.mark.parametrize("sql", [*(one for one in REFUSED if one not in ONLY_IN_DUCKDB), *ONLY_IN_SPARK])
def test_spark_refuses_what_is_no_query_of_the_warehouse(spark: SparkSession, sql: str) -> None:
    with pytest.raises(BadConfig, match="SQL: ") as refused:
        refuse_what_is_no_query(spark, sql)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("sql", ANSWERED)
def test_spark_and_the_room_answer_queries(spark: SparkSession, two_days: Warehouse, sql: str) -> None:
    refuse_what_is_no_query(spark, sql)
    ReadingRoom(two_days).ask(sql)
