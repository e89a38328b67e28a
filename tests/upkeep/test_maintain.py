"""`maintain` changes files, never rows, and never takes away what somebody still has to read."""

import json
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from capture_events import write_events
from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from job_run import run_job
from pyspark.sql import SparkSession
from upkeep_log import capture, first_epoch, second_epoch
from whose_versions import operations_without_our_mark

from console.chosen_tables import chosen_tables
from console.command_line import main
from pipeline.faults import BadConfig
from pipeline.settings import load_settings
from pipeline.upkeep import vacuum
from pipeline.upkeep.compact import merge, planned_merge
from pipeline.upkeep.maintain import maintain
from pipeline.upkeep.retention import oldest_kept, rows_before
from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import delta_path
from schemas.tables import TABLES, TABLES_BY_NAME

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
FIRST_DATE, SECOND_DATE = date(2026, 11, 18), date(2026, 11, 21)


class LanesDied(Exception):
    """Stands for whatever ends a job between ingest and lanes."""


class RoundDied(Exception):
    """Stands for whatever ends a round of upkeep."""


def folder(warehouse: Warehouse, table: str = "") -> Path:
    return Path(warehouse.table(table).removeprefix("file:"))


def data_files(warehouse: Warehouse, table: str) -> set[str]:
    root = folder(warehouse, table)
    return {str(path.relative_to(root)) for path in root.rglob("*.parquet") if "_delta_log" not in path.parts}


def every_file(warehouse: Warehouse) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in folder(warehouse).rglob("*") if path.is_file()}


def rows(warehouse: Warehouse) -> dict[str, Counter[str]]:
    """Every table as a multiset, read without Spark."""
    return {table.name: Counter(json.dumps(row, default=str, sort_keys=True) for row in listed(warehouse, table.name)) for table in TABLES}


def listed(warehouse: Warehouse, table: str) -> list[dict[str, Any]]:
    return DeltaTable(str(folder(warehouse, table))).to_pyarrow_table().to_pylist()


def differing(before: dict[str, Counter[str]], after: dict[str, Counter[str]]) -> set[str]:
    return {table for table in before if before[table] != after[table]}


def lanes_read(warehouse: Warehouse) -> int:
    return sum(row["rows_in"] for row in listed(warehouse, "batch_manifest") if row["query"] == "lanes")


def looked_after(spark: SparkSession, warehouse: Warehouse, *tables: str, changes: bool = True, **settings: str) -> dict[str, Any]:
    overrides = ["maintain.merge_from_files=2", *(f"maintain.{key}={value}" for key, value in settings.items())]
    chosen = load_settings(None, overrides, {}).maintain
    for commit in Path(warehouse.root.removeprefix("file:")).glob("*/_delta_log/*.json"):
        os.utime(commit, 2 * (NOON.timestamp() - 3600,))  # NOON stands still, the clock that stamped the commit goes on
    return maintain(warehouse, chosen, tables, NOON, changes=changes, before_each=lambda _: None)


@pytest.fixture
def keeps_nothing(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Callable[[Warehouse, str], None]:
    """Lets a VACUUM of a table remove at once what is out of it: a test cannot wait for a week."""
    monkeypatch.setattr(vacuum, "SHORTEST", timedelta(0))
    monkeypatch.setattr(vacuum, "MARGIN", timedelta(0))

    def shorten(warehouse: Warehouse, table: str) -> None:
        at_once = "'delta.deletedFileRetentionDuration' = 'interval 0 hours'"
        spark.sql(f"ALTER TABLE {delta_path(warehouse.table(table))} SET TBLPROPERTIES ({at_once})")

    return shorten


def test_a_dry_run_changes_nothing_and_a_round_changes_files_only(
    spark: SparkSession, copied: Callable[[], Warehouse], capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = copied()
    before, disk, data = rows(warehouse), every_file(warehouse), data_files(warehouse, "dispatch_events")
    dry = looked_after(spark, warehouse, "dispatch_events", "ingest_files", "quarantine", changes=False)
    assert every_file(warehouse) == disk
    assert (dry["first_open_date"], dry["dry_run"], dry["leftovers"]) == (SECOND_DATE, True, 1)
    assert (dry["tables"]["dispatch_events"]["merged_files"], dry["tables"]["dispatch_events"]["merged_dates"]) == (2, [FIRST_DATE])
    bronze = looked_after(spark, warehouse, "dispatch_events")["tables"]["dispatch_events"]
    capsys.readouterr()
    words = ["--set", "maintain.merge_from_files=2", "--tables", "ingest_files,quarantine", "--format", "json"]
    assert main(["maintain", "--warehouse", warehouse.root, *words]) == 0
    done = json.loads(capsys.readouterr().out)["tables"]
    assert list(done) == ["quarantine", "ingest_files"]
    merged = {name: (table["merged_files"], table["into_files"]) for name, table in {"dispatch_events": bronze, **done}.items()}
    assert merged == {"dispatch_events": (2, 1), "quarantine": (0, 0), "ingest_files": (4, 1)}
    live = DeltaTable(str(folder(warehouse, "dispatch_events"))).file_uris()
    assert Counter(Path(uri).parent.name for uri in live) == {f"event_date={FIRST_DATE}": 1, f"event_date={SECOND_DATE}": 2}
    assert differing(before, rows(warehouse)) == set()
    assert operations_without_our_mark(warehouse) == []
    assert data < data_files(warehouse, "dispatch_events"), "what was merged stays on disk for a week"
    assert not list((folder(warehouse) / "_checkpoints" / "ingest" / "listed").glob("[0-9]*"))
    assert not Path(warehouse.upkeep_lock_file.removeprefix("file:")).exists()


def test_what_lanes_have_not_read_stays_and_they_go_on_with_exactly_that(
    spark: SparkSession,
    copied: Callable[[], Warehouse],
    made: Warehouse,
    monkeypatch: pytest.MonkeyPatch,
    keeps_nothing: Callable[[Warehouse, str], None],
) -> None:
    warehouse, events = copied(), Path(made.root.removeprefix("file:")).parent / "events"
    third, already = capture("p1_batches", -1), lanes_read(warehouse)
    size = -(-len(third) // 4)
    pieces = [third[start : start + size] for start in range(0, len(third), size)]
    with monkeypatch.context() as broken:
        broken.setattr("driver.streaming.start_lanes", _die)
        for number in (0, 1):
            write_events(pieces[number], events / f"{5 + number}.jsonl")
        with pytest.raises(LanesDied):
            run_job(events, warehouse, drain=False, ingest__max_files_per_batch="1")
    unread = data_files(warehouse, "dispatch_events") - data_files(made, "dispatch_events")
    assert len(unread) == 2
    keeps_nothing(warehouse, "dispatch_events")
    # Somebody merges everything, the unread files, too: they are out of the table now.
    SparkTable.forPath(spark, warehouse.table("dispatch_events")).optimize().executeCompaction()
    done = looked_after(spark, warehouse, "dispatch_events")["tables"]["dispatch_events"]
    assert "may still be read (by lanes" in done["not_removed_because"]
    assert data_files(warehouse, "dispatch_events") > unread

    write_events(pieces[2], events / "7.jsonl")
    run_job(events, warehouse, drain=False)
    assert lanes_read(warehouse) == already + sum(map(len, pieces[:3])), "neither less, nor what was merged a second time"
    before = rows(warehouse)
    done = looked_after(spark, warehouse, "dispatch_events")["tables"]["dispatch_events"]
    assert (done["not_removed_because"], done["merged_files"]) == (None, 0)
    assert done["removed_files"] > 0
    assert not data_files(warehouse, "dispatch_events") & unread, "read, merged, removed"
    assert differing(before, rows(warehouse)) == set()

    done = looked_after(spark, warehouse, "dispatch_events", keep_days="dispatch_events:1,quarantine:1")["tables"]["dispatch_events"]
    assert (done["first_kept"], done["deleted_rows"]) == (date(2026, 11, 22), len(first_epoch()) + len(second_epoch()))
    after = rows(warehouse)
    assert differing(before, after) == {"dispatch_events"}
    assert (before["dispatch_events"] - after["dispatch_events"]).total() == done["deleted_rows"]
    assert (after["dispatch_events"] - before["dispatch_events"]).total() == 0
    kept, done = data_files(warehouse, "dispatch_events"), looked_after(spark, warehouse, "dispatch_events")["tables"]["dispatch_events"]
    assert "or a consistent cut" in done["not_removed_because"], "the newest cut still has the deleted rows"
    assert data_files(warehouse, "dispatch_events") == kept

    write_events(pieces[3], events / "8.jsonl")
    run_job(events, warehouse)
    assert lanes_read(warehouse) == already + len(third)
    assert sum(row["applied"] for row in listed(warehouse, "batch_manifest")) == already + len(third), (
        "nothing twice, nothing late, nothing lost"
    )


def _die(*_: object) -> None:
    raise LanesDied


def test_a_round_that_dies_amid_a_merge_or_after_it_loses_and_doubles_nothing(
    spark: SparkSession, copied: Callable[[], Warehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Amid it a merged file lies there that no commit tells of. Really killed, beside a log that goes on: test_killed_maintain."""
    warehouse = copied()
    before, bronze = rows(warehouse), folder(warehouse, "dispatch_events")
    one = next(bronze.rglob("*.parquet"))
    one.with_name("merged-by-nobody.parquet").write_bytes(one.read_bytes())
    with monkeypatch.context() as dying:

        def merge_and_die(*arguments: Any) -> None:
            merge(*arguments)
            raise RoundDied

        dying.setattr("pipeline.upkeep.maintain.merge", merge_and_die)
        with pytest.raises(RoundDied):
            looked_after(spark, warehouse, "dispatch_events")
    assert len(DeltaTable(str(bronze)).file_uris()) == 3, "it was merged, then the round died"
    assert differing(before, rows(warehouse)) == set()
    assert looked_after(spark, warehouse, "dispatch_events")["tables"]["dispatch_events"]["merged_files"] == 0
    assert differing(before, rows(warehouse)) == set()


def test_bronze_is_not_merged_before_lanes_have_begun(spark: SparkSession, made: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would meet its files in no order and take disorder for loss."""
    settings = load_settings(None, [], {}).maintain
    assert planned_merge(made, "dispatch_events", settings, SECOND_DATE) is not None
    monkeypatch.setattr(Warehouse, "checkpoint", lambda self, query: f"{self.root}/_none/{query}")
    assert planned_merge(made, "dispatch_events", settings, SECOND_DATE) is None


def test_rows_that_lanes_may_read_again_are_not_old(spark: SparkSession, made: Warehouse) -> None:
    half = len(first_epoch()) // 2
    assert [rows_before(made, "dispatch_events", SECOND_DATE, batch) for batch in (None, 0, 1)] == [0, half, len(first_epoch())]


@pytest.mark.parametrize(
    ("days", "open_date", "first_kept"),
    [(1, None, None), (1, SECOND_DATE, SECOND_DATE), (3, date(2026, 11, 23), date(2026, 11, 20)), (9, SECOND_DATE, date(2026, 11, 14))],
)
def test_only_closed_dates_are_deleted(days: int, open_date: date | None, first_kept: date | None) -> None:
    assert oldest_kept(days, NOON.date(), open_date) == first_kept


def test_an_unknown_table_is_named_before_spark_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen_tables("names, quarantine", list(TABLES_BY_NAME)) == ["quarantine", "names"]
    with pytest.raises(BadConfig, match="--tables nams: there is no such table; did you mean names"):
        chosen_tables("names,nams", list(TABLES_BY_NAME))
    assert main(["maintain", "--warehouse", "nowhere", "--tables", "x"]) == 2
    assert "Spark" not in capsys.readouterr().out
