"""The real job tells of itself, row for row what it did; and goes on as if nothing were when telling fails."""

import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events, write_events
from job_run import run_job, tables_in
from lane_tables import tables_of
from pyspark.sql import Row, SparkSession

from driver import recorder, run_ledger
from driver.run_row import settings_fingerprint
from jobs.stream import check_log_file
from pipeline.faults import BadConfig
from pipeline.query.views.register import register
from pipeline.settings import load_settings
from pipeline.upkeep.run_records.outbox import Entry
from pipeline.warehouse.layout import Warehouse

CAPTURE = Path(__file__).parent.parent / "fixtures" / "captures" / "p1_batches"
TOLD_ALIKE = ("query_id", "rows_in", "quarantined", "late", "held", "lost")


def log() -> list[dict[str, Any]]:
    return capture_events(CAPTURE, until_as_of=False)


def in_two_files(folder: Path) -> list[list[dict[str, Any]]]:
    events = log()
    halves = [events[: len(events) // 2], events[len(events) // 2 :]]
    for number, half in enumerate(halves):
        write_events(half, folder / f"{number}.jsonl")
    return halves


def rows(spark: SparkSession, warehouse: Warehouse, table: str, order: str) -> list[Row]:
    return spark.read.format("delta").load(warehouse.table(table)).orderBy(*order.split()).collect()


def test_every_micro_batch_has_a_row_that_agrees_with_the_manifest_and_a_line(
    spark: SparkSession, tmp_path: Path, warehouse: Warehouse
) -> None:
    halves = in_two_files(tmp_path / "events")
    lines_file = tmp_path / "log.jsonl"
    settings = {"ingest__max_files_per_batch": "1", "watch__log_file": str(lines_file)}
    run_job(tmp_path / "events", warehouse, **settings)
    manifest = rows(spark, warehouse, "batch_manifest", "query batch_id")
    progress = rows(spark, warehouse, "query_progress", "query batch_id")
    assert [(row["query"], row["batch_id"]) for row in progress][:2] == [("ingest", 0), ("ingest", 1)]
    key = ("query", "batch_id", "run_id", *TOLD_ALIKE)
    assert [[row[name] for name in key] for row in progress] == [[row[name] for name in key] for row in manifest]
    assert [row["state_bytes"] or 0 for row in progress] == [row["state_bytes"] for row in manifest]

    newest = [max(event["ts"] for event in half) for half in halves]
    told = {(row["query"], row["batch_id"]): row["newest_event_at"] for row in progress}
    assert [told["ingest", number].astimezone(UTC) for number in (0, 1)] == [datetime.fromtimestamp(ts / 1e6, UTC) for ts in newest]
    lanes = [row for row in progress if row["query"] == "lanes" and row["rows_in"]]
    assert max(row["newest_event_at"] for row in lanes) == max(told["ingest", number] for number in (0, 1))
    assert all(row["add_batch_ms"] > 0 and row["trigger_execution_ms"] >= row["add_batch_ms"] for row in progress)
    assert all(row["state_commit_ms"] is not None and row["state_rows_updated"] == 1 for row in lanes)

    lines = [json.loads(line) for line in lines_file.read_text(encoding="utf-8").splitlines()]
    of_batches = [line for line in lines if line["event"] == "micro_batch"]
    assert sorted((line["query"], line["micro_batch"], line["rows_in"]) for line in of_batches) == [
        (row["query"], row["batch_id"], row["rows_in"]) for row in progress
    ]
    assert [line["event"] for line in (lines[0], lines[-1])] == ["run_started", "run_ended"]
    assert {line["run_id"] for line in lines} == {manifest[0]["run_id"]}

    ended, started = rows(spark, warehouse, "run_ledger", "event")
    assert (started["event"], started["outcome"], started["ended_at"]) == ("started", None, None)
    assert (ended["outcome"], ended["error"], ended["micro_batches"], ended["unrecorded"]) == ("done", None, len(progress), 0)
    assert (ended["mode"], ended["events"], ended["settings"]["ingest.max_files_per_batch"]) == ("drain", str(tmp_path / "events"), "1")
    assert started["started_at"] == ended["started_at"] < progress[0]["ended_at"] < ended["ended_at"]
    session = spark.newSession()
    register(session, warehouse, statement="micro_batches runs")
    assert session.table("micro_batches").where(f"code_fingerprint = '{ended.code_fingerprint}'").count() == len(progress)
    (run,) = session.table("runs").collect()
    assert (run["run_id"], run["outcome"], run["same_code"]) == (ended["run_id"], "done", None)


def raising(_entries: Sequence[Entry], _number: int) -> None:
    raise ValueError("the store says no")


def hanging(_entries: Sequence[Entry], _number: int) -> None:
    threading.Event().wait()


@pytest.mark.parametrize(
    ("write", "words"), [(raising, "could not be written: the store says no"), (hanging, "its writer hangs and is left behind")]
)
def test_telling_that_fails_changes_nothing_of_what_is_told(
    write: Callable[[Sequence[Entry], int], None],
    words: str,
    spark: SparkSession,
    tmp_path: Path,
    warehouse: Warehouse,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also while the disk of the log file is full. `run_job` fails unless the job ends with 0."""
    in_two_files(tmp_path / "events")
    monkeypatch.setattr(run_ledger, "rows_writer", lambda *_: write)
    monkeypatch.setattr(run_ledger, "LEDGER_INTERVAL_S", 0.1)
    monkeypatch.setattr(recorder, "CLOSE_WAIT_S", 1.0)
    run_job(tmp_path / "events", warehouse, watch__write_interval_ms="1000", watch__log_file="/dev/full")
    assert tables_in(spark, warehouse) == tables_of(log())
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("WARNING: ") and "The job is not affected" in line]
    assert sorted(line.split()[1].rstrip(":") for line in said) == ["query_progress", "run_ledger", "watch.log_file"], said
    assert [words in line or "No space left on device" in line for line in said] == [True] * 3, said
    assert rows(spark, warehouse, "query_progress", "batch_id") == []


def test_a_run_that_failed_says_why_and_a_table_of_another_form_does_not_stop_it(
    spark: SparkSession, tmp_path: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def not_today(*_: object) -> None:
        raise RuntimeError("not today")

    in_two_files(tmp_path / "events")
    spark.sql(f"CREATE TABLE delta.`{warehouse.table('query_progress')}` (run_id STRING) USING DELTA")
    with monkeypatch.context() as patch:
        patch.setattr("driver.streaming.start_lanes", not_today)
        with pytest.raises(RuntimeError, match="not today"):
            run_job(tmp_path / "events", warehouse)
    err = capsys.readouterr().err
    assert f"move {Warehouse(warehouse.root).table('query_progress')} away" in err.replace("file:", "")
    ended, started = rows(spark, warehouse, "run_ledger", "event")
    assert (ended["outcome"], ended["error"], ended["micro_batches"], ended["unrecorded"]) == ("failed", "not today", 1, 0)
    assert started["settings_fingerprint"] == settings_fingerprint(load_settings(None, [], {}))


def test_a_log_file_that_cannot_be_is_refused_before_spark_starts(tmp_path: Path) -> None:
    check_log_file(None)
    check_log_file(tmp_path / "log.jsonl")
    with pytest.raises(BadConfig, match=r"watch\.log_file = .*/none/log\.jsonl: No such file or directory"):
        check_log_file(tmp_path / "none" / "log.jsonl")
