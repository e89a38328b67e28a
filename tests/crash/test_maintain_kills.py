"""`maintain` beside a live job killed with -9 while it rewrites or removes files: no row is touched, and the next one goes on."""

import json
import signal
from datetime import timedelta
from pathlib import Path

import pytest
from child import MAINTAIN_POINTS
from job_run import run_job
from killed_job import differences, run_maintain, tables_of_warehouse
from live_job import LiveJob
from pyspark.sql import SparkSession
from undisturbed import log_in_files, undisturbed

from jobs.cli import main
from pipeline.upkeep import vacuum
from pipeline.warehouse.layout import Warehouse
from schemas.render.ddl import delta_path

pytestmark = [pytest.mark.spark, pytest.mark.captures, pytest.mark.slow]
#: Written with every micro-batch of ingest and read by none: files may be removed at once, without waiting a week for readers.
TABLE = "ingest_files"
FILES = 5
#: How many small files are merged: at the first point those of two files of the log; at the second none, else there is nothing to remove.
MERGE_FROM = {"maintain amid OPTIMIZE": 2, "maintain amid VACUUM": 99}


def test_a_killed_maintain_changes_no_row_and_stops_nobody(
    spark: SparkSession, captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MERGE_FROM.keys() == MAINTAIN_POINTS.keys()
    files = log_in_files(captures / "i_age_quota_precise", tmp_path / "log", FILES)
    arriving, warehouse = tmp_path / "events", Warehouse(str(tmp_path / "warehouse"))
    arriving.mkdir()
    _arrive(files[:2], arriving)
    run_job(arriving, warehouse, drain=False, ingest__max_files_per_batch="1")
    at_once = "'delta.deletedFileRetentionDuration' = 'interval 0 hours'"
    spark.sql(f"ALTER TABLE {delta_path(warehouse.table(TABLE))} SET TBLPROPERTIES ({at_once})")
    monkeypatch.setattr(vacuum, "SHORTEST", timedelta(0))
    monkeypatch.setattr(vacuum, "MARGIN", timedelta(0))
    with LiveJob(arriving, warehouse, tmp_path / "job.txt", ingest__max_files_per_batch="1") as job:
        for number, point in enumerate(MERGE_FROM, start=3):
            _arrive(files[number - 1 : number], arriving)
            _wait_for(job, files[:number])
            log = tmp_path / "maintain.txt"
            ended = run_maintain(point, warehouse, log, *_words(MERGE_FROM[point]))
            assert ended.code == -signal.SIGKILL, f"'{point}' was not met\n{log.read_text(encoding='utf-8')}"
            done = _maintained(warehouse, capsys, MERGE_FROM[point])
            if point == "maintain amid OPTIMIZE":
                assert done["merged_files"] == number, "the killed one had committed nothing"
            else:
                assert done["not_removed_because"] is None
        _arrive(files[-1:], arriving)
        _wait_for(job, files)
        job.signal_group(signal.SIGTERM)
        assert job.exit_code() == 0, job.said()
    assert _maintained(warehouse, capsys, 2)["merged_files"] > 0
    run_job(arriving, warehouse, ingest__max_files_per_batch="1")
    assert differences(tables_of_warehouse(warehouse), undisturbed(arriving, tmp_path / "undisturbed")) == {}, "(missing, too many)"


def _arrive(files: list[Path], folder: Path) -> None:
    for file in files:
        aside = folder.parent / file.name
        aside.write_bytes(file.read_bytes())
        aside.rename(folder / file.name)


def _wait_for(job: LiveJob, files: list[Path]) -> None:
    """Until ingest has taken the files."""
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    job.wait_until(lambda: job.written("ingest", "rows_in") == lines, f"{len(files)} files were read")


def _words(merge_from: int) -> list[str]:
    return ["--tables", TABLE, "--set", f"maintain.merge_from_files={merge_from}"]


def _maintained(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], merge_from: int) -> dict[str, object]:
    """What a `maintain` that is left alone did to TABLE."""
    capsys.readouterr()
    assert main(["maintain", "--warehouse", warehouse.root, *_words(merge_from), "--format", "json"]) == 0
    document: dict[str, dict[str, dict[str, object]]] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return document["tables"][TABLE]
