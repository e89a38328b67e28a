"""The job as it runs in production: live, both queries at once, files renamed in while it runs, stopped from outside."""

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events, write_events
from job_run import run_job, tables_in
from lane_rows import lane_rows
from lane_tables import OUTCOME_TABLES, SETTINGS, Table, as_tables, run_lane, tables_of
from live_job import LiveJob
from pyspark.sql import SparkSession

from pipeline.warehouse.layout import Warehouse

FIXTURES = Path(__file__).parent.parent / "fixtures" / "captures"
#: Short windows: several end while the log still grows.
WINDOW_MS = 5_000
LANE = replace(SETTINGS, window_ms=WINDOW_MS)
LIVE = {"lanes__window_ms": str(WINDOW_MS)}


def thirds(capture: str) -> list[list[dict[str, Any]]]:
    """The events of a small capture in three pieces; `broker_stop` is the last event of the last one."""
    events = capture_events(FIXTURES / capture, until_as_of=False)
    size = -(-len(events) // 3)
    return [events[start : start + size] for start in range(0, len(events), size)]


def tables_so_far(events: list[dict[str, Any]]) -> dict[str, Table]:
    """What the lane says of a log that goes on: its closed windows."""
    return as_tables(run_lane([[lane_rows(events)]], settings=LANE)[0], events)


@pytest.mark.slow(reason="a live job; the test below has one by default, test_stream_driver stops one by the file in process")
def test_a_live_job_takes_files_as_they_come_and_a_stop_file_ends_it(spark: SparkSession, tmp_path: Path, warehouse: Warehouse) -> None:
    first, second, _ = thirds("f_limit_above_need")
    folder = tmp_path / "events"
    write_events(first, folder / "a.jsonl")
    with LiveJob(folder, warehouse, tmp_path / "said.txt", **LIVE) as job:
        job.wait_until(lambda: job.written("lanes", "applied") == len(first), "the first file is applied")
        write_events(second, folder / "later" / "b.jsonl.gz")
        job.wait_until(lambda: job.written("lanes", "applied") == len(first + second), "the file that was renamed in is applied")
        Path(warehouse.stop_file).touch()
        assert job.exit_code() == 0, job.said()
        assert "stop file found: stopping after the running micro-batch\n" in job.said()
        assert "\nstopped\n" in job.said()
    assert not Path(warehouse.lock_file).exists()
    so_far = tables_so_far(first + second)
    assert all(so_far[name] for name in OUTCOME_TABLES[:2]), "the test needs windows that closed while the job was live"
    assert tables_in(spark, warehouse) == so_far


def test_a_sigterm_amid_a_micro_batch_lets_it_finish_and_a_drain_goes_on_from_there(
    spark: SparkSession, tmp_path: Path, warehouse: Warehouse
) -> None:
    first, second, third = thirds("p1_batches")
    folder = tmp_path / "events"
    write_events(first, folder / "a.jsonl.gz")
    with LiveJob(folder, warehouse, tmp_path / "said.txt", **LIVE) as job:
        job.wait_until(lambda: job.written("ingest", "bronze") == len(first), "the first file is read")
        before = job.commits("dispatch_events")
        write_events(second, folder / "b.jsonl")
        # Events come first, batch_manifest last: between the two the micro-batch runs.
        job.wait_until(lambda: job.commits("dispatch_events") > before, "the second file's events are written")
        job.signal_group(signal.SIGTERM)
        assert job.exit_code() == 0, job.said()
        assert [noise for noise in ("BrokenPipe", "leaked") if noise in job.said()] == []
        assert "SIGTERM: stopping after the running micro-batch\n" in job.said()
        assert "\nstopped\n" in job.said()
        assert job.written("ingest", "bronze") == len(first + second), "the running micro-batch was finished"
    assert not Path(warehouse.lock_file).exists()

    write_events(third, folder / "c.jsonl")
    run_job(folder, warehouse, **LIVE)
    whole = tables_of(first + second + third, settings=LANE)
    assert all(whole[name] for name in OUTCOME_TABLES[:2])
    assert tables_in(spark, warehouse) == whole
