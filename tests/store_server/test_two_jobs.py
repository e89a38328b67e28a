"""Two jobs want one warehouse in the store: one of them is refused in one line; the lock of a dead one is taken."""

from pathlib import Path

import pytest
from in_store import run_in_store, uploaded
from killed_job import differences, tables_of_warehouse
from live_job import LiveJob
from pyspark.sql import SparkSession
from quick_start import INTERPRETED
from undisturbed import log_in_files, undisturbed

from console.command_line import main
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures


def test_of_two_jobs_that_start_at_once_one_writes(
    spark: SparkSession, captures: Path, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_in_files(captures / "i_age_quota_precise", tmp_path / "events", 2)
    events, warehouse = uploaded(tmp_path / "events", f"{place}/events"), Warehouse(f"{place}/warehouse")
    jobs = [
        LiveJob(events, warehouse, tmp_path / f"{name}.txt", conf=INTERPRETED, ingest__max_files_per_batch="1") for name in ("one", "other")
    ]
    with jobs[0], jobs[1]:
        writes, refused = sorted(jobs, key=lambda job: _is_refused(job, jobs))
        assert refused.exit_code() == 2
        assert _error_lines(refused.said()) == [refused.said().strip().splitlines()[-1]]
        assert "another driver (host " in refused.said()
        writes.wait_until(lambda: writes.written("lanes", "applied") > 0, "the other one writes")
        capsys.readouterr()
        for command in (["stream", "--once", "--events", events], ["rebuild", "lanes", "--yes"], ["quarantine", "replay"]):
            assert main([*command, "--warehouse", warehouse.root]) == 2, command
            (line,) = _error_lines(capsys.readouterr().err)
            assert f"is writing {warehouse.root}" in line
    run_in_store(tmp_path / "events", warehouse, ingest__max_files_per_batch="1")
    assert "taking over the lock of a driver that is gone" in capsys.readouterr().out
    assert differences(tables_of_warehouse(warehouse), undisturbed(tmp_path / "events", tmp_path / "undisturbed")) == {}


def _is_refused(job: LiveJob, jobs: list[LiveJob]) -> bool:
    """Whether it ended, once one of them has."""
    jobs[0].wait_until(lambda: not all(one.is_running() for one in jobs), "one of the two is refused") if jobs[0].is_running() else None
    return not job.is_running()


def _error_lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("error: ")]
