"""Backfills of a warehouse that the real job made: what came late counts, what was damaged is put right, what is right stays."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from backfill_run import computed, run_backfill_command, unsound, without_states
from capture_events import capture_events, write_events
from day_logs import DAY_US, around_midnight, moved
from delta.tables import DeltaTable
from job_run import run_job, tables_in
from lane_tables import tables_of
from loaded import load_into
from pyspark.sql import SparkSession
from whose_versions import operations_without_our_mark

import pipeline.repair.backfill.slices
import pipeline.repair.backfill.staging
from console.command_line import main
from pipeline.repair.backfill import backfill as backfill_module
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures

#: Lost from the first file, brought by the second.
LATE = range(400, 430)


def date_text(ts_us: int) -> str:
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ts_us)).date())


@pytest.fixture(scope="module")
def log(captures: Path) -> list[dict]:
    """Four days: a broker over midnight, and, after a restart two days later, over midnight again. Sorted as a log is."""
    first = around_midnight(capture_events(captures / "l_holes_redelivery_seek"))
    second = moved(around_midnight(capture_events(captures / "h_size_quota_eviction")), 2 * DAY_US)
    assert first[0]["broker"] == second[0]["broker"]
    return [*first, *second]


@pytest.fixture(scope="module")
def days(log: list[dict]) -> list[str]:
    """The UTC dates of the log."""
    return sorted({date_text(event["ts"]) for event in log})


@pytest.fixture(scope="module")
def whole(log: list[dict], tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """What comes of the whole log; loaded, which is quicker than the job (test_loaded_by_spark.py). Nobody may change it: copy it."""
    folder = tmp_path_factory.mktemp("whole")
    write_events(log, folder / "events" / "1.jsonl")
    return load_into(folder / "events", folder / "warehouse")


@pytest.fixture(scope="module")
def late(spark: SparkSession, log: list[dict], tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """What it makes of a log with a gap on the first day, whose events came when it was drained."""
    folder = tmp_path_factory.mktemp("late")
    epoch = log[0]["epoch"]
    missing = [event for event in log if event["epoch"] == epoch and event["seq"] in LATE]
    write_events([event for event in log if event not in missing], folder / "events" / "1.jsonl")
    warehouse = Warehouse(f"file:{folder / 'warehouse'}")
    run_job(folder / "events", warehouse)
    write_events(missing, folder / "events" / "2.jsonl")
    run_job(folder / "events", warehouse, drain=False)
    return warehouse


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Warehouse], Warehouse]:
    """Copies a warehouse that others need, too."""

    def copy(warehouse: Warehouse) -> Warehouse:
        return Warehouse("file:" + str(shutil.copytree(warehouse.root.removeprefix("file:"), tmp_path / "copy")))

    return copy


@pytest.mark.slow(reason="a round by Spark's own jobs: half a minute; the driver's way runs by default, test_compare compares both")
def test_a_day_of_many_rows_and_large_states_gives_what_the_stream_gave(
    spark: SparkSession, whole: Warehouse, days: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline.repair.backfill.staging, "FEW_BYTES", -1)  # as where states are large
    monkeypatch.setattr(pipeline.repair.backfill.slices, "HELD_ROWS", -1)  # as where rows are many
    (one,) = run_backfill_command(spark, whole, "--from", days[1], "--dry-run")["done"]
    assert sum(table["computed"] for table in one["tables"].values()) > 0
    assert not any(table["dates"] for table in one["tables"].values()), "a date in the middle, from the snapshot before it"


def test_late_events_count_after_a_backfill_and_one_of_every_day_gives_what_is_there(
    spark: SparkSession, whole: Warehouse, late: Warehouse, days: list[str], copy_of: Callable[[Warehouse], Warehouse]
) -> None:
    warehouse = copy_of(late)
    sound = computed(tables_in(spark, whole))
    assert computed(tables_in(spark, warehouse)) != sound
    document = run_backfill_command(spark, warehouse, "--pending")
    assert [(one["reason"], str(one["first_date"])) for one in document["done"]][:2] == [("late", days[0]), ("carried", days[1])]
    tables = tables_in(spark, warehouse)
    assert computed(tables) == sound
    assert {row["backfilled_by"] for row in tables["late_events"]} == {document["run_id"]}
    assert operations_without_our_mark(warehouse) == []
    assert len(tables["late_events"]) == len(LATE)
    assert run_backfill_command(spark, warehouse, "--pending")["done"] == []
    assert unsound(warehouse) == {}
    told = spark.read.format("delta").load(warehouse.table("backfills")).where("swapped").collect()
    assert {row.run_id for row in told} == {document["run_id"]}
    (again,) = run_backfill_command(spark, warehouse, "--from", days[0], "--to", days[-1], "--dry-run")["done"]
    assert {name: table["dates"] for name, table in again["tables"].items() if table["dates"]} == {}, "of two days the stream's rows"
    assert sum(table["computed"] for table in again["tables"].values()) == sum(map(len, computed(tables).values()))


@pytest.mark.slow(reason="four runs and seven rounds: two minutes; test_refold and the backfill of late events run by default")
def test_a_backfill_that_is_interrupted_again_and_again_ends_as_any_other(
    spark: SparkSession, whole: Warehouse, late: Warehouse, copy_of: Callable[[Warehouse], Warehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Amid the tables of a round; before its late events are marked; after the first round, when the next day still begins elsewhere."""
    warehouse = copy_of(late)

    def interrupt(name: str, after: int) -> None:
        real, calls = getattr(backfill_module, name), iter(range(after))

        def dies(*arguments: Any) -> Any:
            if next(calls, None) is None:
                raise KeyboardInterrupt
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(backfill_module, name, dies)
            with pytest.raises(KeyboardInterrupt):
                run_backfill_command(spark, warehouse, "--pending")

    interrupt("swap", 2)
    interrupt("mark_late_events", 0)
    interrupt("plan", 1)
    assert run_backfill_command(spark, warehouse, "--pending")["done"]
    assert computed(tables_in(spark, warehouse)) == computed(tables_in(spark, whole))
    assert run_backfill_command(spark, warehouse, "--pending")["done"] == []


def test_a_dry_run_tells_the_difference_and_changes_nothing(spark: SparkSession, late: Warehouse, days: list[str]) -> None:
    before = tables_in(spark, late)
    document = run_backfill_command(spark, late, "--pending", "--dry-run")
    (one,) = document["done"]
    gaps = one["tables"]["log_gaps"]
    assert (gaps["found"], gaps["computed"], gaps["removed"]) == (1, 0, 1)
    assert gaps["examples"][0]["there"]["events"] == len(LATE)
    assert tables_in(spark, late) == before
    assert not Path(late.staging.removeprefix("file:"), document["run_id"]).exists()


@pytest.mark.slow(reason="two backfills of four days; late events are put right by default, test_refold computes each date again")
def test_what_was_damaged_is_put_right(
    spark: SparkSession, whole: Warehouse, days: list[str], copy_of: Callable[[Warehouse], Warehouse]
) -> None:
    warehouse = copy_of(whole)
    sound = tables_in(spark, warehouse)
    windows = DeltaTable.forPath(spark, warehouse.table("limiter_windows"))
    windows.delete(f"CAST(window_start AS DATE) = '{days[1]}'")
    checks = DeltaTable.forPath(spark, warehouse.table("topic_backlog"))
    checks.update(f"CAST(check_time AS DATE) = '{days[2]}'", {"backlog_size": "backlog_size + 1"})
    document = run_backfill_command(spark, warehouse, "--from", days[1], "--to", days[2], "--tables", "topic_backlog")
    assert tables_in(spark, warehouse)["topic_backlog"] == sound["topic_backlog"]
    assert tables_in(spark, warehouse)["limiter_windows"] != sound["limiter_windows"]
    (one,) = document["done"]
    damaged = [row for row in sound["topic_backlog"] if row["backlog_size"] is not None and date_text(row["check_time"]) == days[2]]
    assert one["tables"]["topic_backlog"]["changed"] == len(damaged) > 0
    (one,) = run_backfill_command(spark, warehouse, "--from", days[0], "--to", days[3])["done"]
    assert {name for name, table in one["tables"].items() if table["dates"]} == {"limiter_windows"}
    assert tables_in(spark, warehouse) == sound


@pytest.mark.slow(reason="two runs of the job; test_due has which dates wait after an epoch's end, test_order what comes late for it")
def test_events_after_an_epochs_end_move_it(spark: SparkSession, log: list[dict], tmp_path: Path, warehouse: Warehouse) -> None:
    """The log was drained at the end of its first day; what came then is all of the next day, and moves the end that was told."""
    epoch = log[0]["epoch"]
    own = [event for event in log if event["epoch"] == epoch]
    first_day = [event for event in own if event["ts"] // DAY_US == own[0]["ts"] // DAY_US]
    write_events(first_day, tmp_path / "events" / "1.jsonl")
    run_job(tmp_path / "events", warehouse)
    write_events(own[len(first_day) :], tmp_path / "events" / "2.jsonl")
    run_job(tmp_path / "events", warehouse, drain=False)
    assert len(tables_in(spark, warehouse)["late_events"]) == len(own) - len(first_day)
    run_backfill_command(spark, warehouse, "--pending")
    assert without_states(computed(tables_in(spark, warehouse))) == without_states(computed(tables_of(own)))


@pytest.mark.slow(reason="a run of the job; test_refold refuses a date that lanes have not passed by default")
def test_a_date_that_is_not_over_waits(spark: SparkSession, log: list[dict], days: list[str], tmp_path: Path, warehouse: Warehouse) -> None:
    write_events([event for event in log if event["epoch"] == log[0]["epoch"]], tmp_path / "events" / "1.jsonl")
    run_job(tmp_path / "events", warehouse, drain=False)
    document = run_backfill_command(spark, warehouse, "--from", days[0], "--to", days[1], "--dry-run")
    assert document["done"] == []
    assert f"has not settled {days[1]}" in document["not_closed"][0]["why"]
    assert run_backfill_command(spark, warehouse, "--from", days[0], "--dry-run")["done"]


def uncommit(warehouse: Warehouse, first: int) -> None:
    """As if lanes had been killed between the tables and Spark's commit of micro-batch `first`."""
    for path in (Path(warehouse.checkpoint("lanes").removeprefix("file:")) / "commits").glob("[0-9]*"):
        if int(path.name) >= first:
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@pytest.mark.slow(reason="three runs of the job, three backfills; test_uncounted has the rule for marks by default")
def test_a_date_that_lanes_passed_with_events_that_do_not_count_waits(
    spark: SparkSession, log: list[dict], days: list[str], tmp_path: Path, warehouse: Warehouse
) -> None:
    """An epoch's end is in the tables already, its last events came after what is read for good: rows would lack them."""
    end = sum(event["epoch"] == log[0]["epoch"] for event in log)
    for number, part in enumerate((log[: end - 20], log[end - 20 :])):
        write_events(part, tmp_path / "events" / f"{number}.jsonl")
        run_job(tmp_path / "events", warehouse, drain=number == 1)
    before = tables_in(spark, warehouse)
    uncommit(warehouse, 1)
    for arguments in (["--pending"], ["--from", days[1]]):
        document = run_backfill_command(spark, warehouse, *arguments)
        assert document["done"] == []
        assert tables_in(spark, warehouse) == before
    assert f"has not settled {days[1]}" in document["not_closed"][0]["why"]
    run_job(tmp_path / "events", warehouse)
    (one,) = run_backfill_command(spark, warehouse, "--from", days[1])["done"]
    assert not any(table["dates"] for table in one["tables"].values())
    assert tables_in(spark, warehouse) == before


def test_a_closed_date_does_not_wait_for_late_events_that_do_not_count_yet(
    spark: SparkSession, late: Warehouse, days: list[str], copy_of: Callable[[Warehouse], Warehouse]
) -> None:
    warehouse = copy_of(late)
    commits = Path(warehouse.checkpoint("lanes").removeprefix("file:")) / "commits"
    uncommit(warehouse, max(int(path.name) for path in commits.glob("[0-9]*")))
    document = run_backfill_command(spark, warehouse, "--from", days[0], "--dry-run")
    assert (document["ingest_batch"], document["not_closed"]) == (0, [])
    assert not any(table["dates"] for table in document["done"][0]["tables"].values()), "what came late is left out"


def test_the_command_and_its_refusals(late: Warehouse, days: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", "--warehouse", late.root, "--from", days[0], "--dry-run", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert document["done"][0]["tables"]["log_gaps"]["removed"] == 1
    for arguments, words in (
        ([], "name the dates"),
        (["--pending", "--from", days[0]], "name the dates"),
        (["--pending", "--broker", "b"], "go with --from"),
        (["--from", days[1], "--to", days[0]], "is before --from"),
        (["--from", days[0], "--tables", "late_events"], "there is no such table"),
    ):
        assert main(["backfill", "--warehouse", late.root, *arguments]) == 2
        assert words in capsys.readouterr().err
    assert main(["backfill", "--warehouse", str(tmp_path), "--pending"]) == 2
    assert "no warehouse" in capsys.readouterr().err
