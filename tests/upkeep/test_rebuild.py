"""A rebuild forgets what can be computed again; what cannot, it keeps, or asks about: what runs told of themselves, and history."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from job_run import run_job, tables_in
from pyspark.sql import SparkSession
from whose_versions import operations_without_our_mark

from console.command_line import main
from pipeline.faults import BadWarehouse
from pipeline.repair.rebuild import forget_all
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table, create_missing_tables, existing_tables
from schemas.render.ddl import delta_path
from schemas.tables import WATCH_TABLES
from schemas.tables.bookkeeping import LANE_CONTROL


def test_rebuild_all_leaves_the_runs_and_their_micro_batches(spark: SparkSession, copied: Callable[[], Warehouse]) -> None:
    warehouse = copied()
    names = [table.name for table in WATCH_TABLES]
    before = {name: spark.read.format("delta").load(warehouse.table(name)).count() for name in names}
    said: list[str] = []
    forget_all(warehouse, said.append)
    assert existing_tables(warehouse) == names
    assert not Path(warehouse.checkpoint("lanes").removeprefix("file:")).exists()
    assert {name: spark.read.format("delta").load(warehouse.table(name)).count() for name in names} == before
    assert before["query_progress"] >= 5, "four micro-batches of ingest, and those of lanes"
    assert not [line for line in said if any(name in line for name in names)]


def rebuilt(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """Exit code of `rebuild lanes`, and what it complained of."""
    capsys.readouterr()
    code = main(["rebuild", "lanes", "--warehouse", warehouse.root, "--yes", *more])
    return code, capsys.readouterr().err


def dates(spark: SparkSession, warehouse: Warehouse) -> Counter[str]:
    """Dates of the windows that lanes computed."""
    windows = spark.read.format("delta").load(warehouse.table("subscription_throttle"))
    return Counter(str(row.window_start.date()) for row in windows.select("window_start").collect())


def test_history_whose_events_are_gone_is_not_deleted_by_the_way(
    spark: SparkSession, copied: Callable[[], Warehouse], capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = copied()
    before = dates(spark, warehouse)
    bronze = delta_path(warehouse.table("dispatch_events"))
    (broker,) = (row.broker for row in spark.sql(f"SELECT DISTINCT broker FROM {bronze}").collect())
    spark.sql(f"DELETE FROM {bronze} WHERE event_date = '2026-11-18'")
    code, said = rebuilt(warehouse, capsys)
    assert (code, dates(spark, warehouse)) == (2, before)
    assert f"cannot be computed again: {broker} from 2026-11-18 before 2026-11-21. To delete it nevertheless" in said
    spark.sql(f"DELETE FROM {bronze}")
    code, said = rebuilt(warehouse, capsys)
    assert (code, dates(spark, warehouse)) == (2, before)
    assert f"{broker} from 2026-11-18 on; it has no events left" in said
    assert rebuilt(warehouse, capsys, "--lose-history") == (0, "")
    assert operations_without_our_mark(warehouse) == [("dispatch_events", "DELETE")] * 2, "those above"
    assert "subscription_throttle" not in existing_tables(warehouse)


def test_a_table_that_cannot_be_read_stops_a_rebuild_that_was_not_told_to_lose_history(
    spark: SparkSession, copied: Callable[[], Warehouse], capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = copied()
    for path in Path(warehouse.table("subscription_throttle").removeprefix("file:")).rglob("*.parquet"):
        path.unlink()
    code, said = rebuilt(warehouse, capsys)
    assert code == 2
    assert "nobody knows whether all can be computed again" in said
    assert said.count("\n") == 1
    assert rebuilt(warehouse, capsys, "--lose-history")[0] == 0


def test_a_rebuild_that_was_interrupted_is_run_again(
    spark: SparkSession, copied: Callable[[], Warehouse], capsys: pytest.CaptureFixture[str]
) -> None:
    """Some tables of lanes are gone already; those that are there are all that can be looked at."""
    warehouse = copied()
    shutil.rmtree(Path(warehouse.table("subscription_throttle").removeprefix("file:")))
    shutil.rmtree(Path(warehouse.checkpoint("lanes").removeprefix("file:")))
    assert rebuilt(warehouse, capsys) == (0, "")


def as_of_a_version_before(spark: SparkSession, warehouse: Warehouse) -> None:
    """A warehouse in which a backfill had put lanes on hold: other columns, kinds and rows of lane_control, and a table nobody declares."""
    control = delta_path(warehouse.table("lane_control"))
    spark.sql(f"ALTER TABLE {control} ADD COLUMNS (state BINARY)")
    spark.sql(f"ALTER TABLE {control} DROP CONSTRAINT kind")
    spark.sql(f"ALTER TABLE {control} ADD CONSTRAINT kind CHECK (kind IN ('drain', 'tombstone', 'hold', 'seed', 'release'))")
    for kind, state in (("hold", "NULL"), ("seed", "X'00'")):
        spark.sql(f"INSERT INTO {control} SELECT 1, '{kind}', 2, 77, 3, 0, -1, current_timestamp(), {state}")
    answers = delta_path(warehouse.table("lane_answers"))
    spark.sql(f"CREATE TABLE {answers} (broker STRING, answer STRING) USING DELTA")
    spark.sql(f"INSERT INTO {answers} VALUES ('b', 'held')")


@pytest.mark.slow(reason="a rebuild, a run of the job and four commands: half a minute; test_delta_tables has what a start refuses")
def test_a_warehouse_of_a_version_in_which_lanes_could_hold_is_rebuilt_from_its_events(
    spark: SparkSession, made: Warehouse, copied: Callable[[], Warehouse], capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = copied()
    sound = tables_in(spark, warehouse)
    place = f"SELECT broker_id, 'tombstone', epoch, seq, 0, 0, 0, current_timestamp() FROM {delta_path(warehouse.table('dispatch_events'))}"
    spark.sql(f"INSERT INTO {delta_path(warehouse.table('lane_control'))} {place} ORDER BY seq DESC LIMIT 1")
    tombstones = spark.read.format("delta").load(warehouse.table("lane_control")).where("kind = 'tombstone'").collect()
    as_of_a_version_before(spark, warehouse)
    with pytest.raises(BadWarehouse, match=r"table lane_control .*column state \(binary\) is not declared.*rebuild lanes --warehouse"):
        create_missing_tables(warehouse)
    of_before = operations_without_our_mark(warehouse)
    assert rebuilt(warehouse, capsys) == (0, "")
    check_table(warehouse, LANE_CONTROL)
    assert spark.read.format("delta").load(warehouse.table("lane_control")).collect() == tombstones != []
    assert operations_without_our_mark(warehouse) == of_before
    run_job(Path(made.root.removeprefix("file:")).parent / "events", warehouse)
    assert tables_in(spark, warehouse) == sound
    query = "SELECT count(*) FROM late_events"
    for command in (["status"], ["sql", query], ["maintain"], ["backfill", "--pending"]):
        assert main([*command, "--warehouse", warehouse.root]) == 0, command
