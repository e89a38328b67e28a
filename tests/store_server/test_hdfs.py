"""Log and warehouse in HDFS: every table as on this machine, row for row, and commands say the same."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from capture_events import write_events
from files_contract import FilesContract
from in_store import uploaded
from job_run import run_job
from killed_job import Run, differences, run_child, run_command, tables_of_warehouse
from pyspark.sql import SparkSession
from undisturbed import log_in_files, undisturbed
from upkeep_log import capture

from console.command_line import main
from pipeline.warehouse.layout import Warehouse

#: Commands without Spark.
QUESTIONS = (
    ["why", "--all"],
    ["sql", "SELECT count(*), sum(seq), min(ts) FROM dispatch_events WHERE seq BETWEEN 5 AND 900"],
    ["sql", "SELECT * FROM throttled_now ORDER BY ALL"],
    ["sql", "SHOW TABLES"],
    ["quality"],
)
#: Of the document of `status`: the rest is when things were, and where.
STATUS = ("problems", "quarantine", "backfill", "missing_tables", "foreign_versions")


class TestSmallFiles(FilesContract):
    """As on a disk and in an object store."""

    @pytest.fixture
    def place(self, hdfs_place: str) -> str:
        """A folder."""
        return hdfs_place


def written_log(folder: Path, kind: str) -> Path:
    """A real broker's log in two files of a folder with a blank in its name, and beside them files that are hidden or another's."""
    events = capture("p1_batches")
    for number, piece in enumerate((events[: len(events) // 2], events[len(events) // 2 :])):
        wanted = folder / "x y" / f"{'ab'[number]}.{kind}"
        if kind == "parquet":
            wanted.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table_of(piece), wanted, row_group_size=200)
        else:
            write_events(piece, wanted)
    for name in (".hidden/a", "x y/_a", "other/a"):
        path = folder / f"{name}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((folder / "x y" / f"a.{kind}").read_bytes())
    (folder / "x y" / "notes.txt").write_bytes(gzip.compress(b"no event"))
    return folder


def table_of(events: list[dict[str, Any]]) -> pa.Table:
    """Events as columns; `settings` is no column of a Parquet log."""
    names = {name: None for event in events for name in event if name != "settings"}
    return pa.table({name: [event.get(name) for event in events] for name in names})


@pytest.mark.parametrize("way", ["x y", "x */[ab].{}", "x y/b.{}"], ids=["folder", "glob", "file"])
@pytest.mark.parametrize("kind", ["jsonl.gz", "parquet"])
def test_a_log_there_is_loaded_as_one_of_this_machine(
    hdfs_place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, way: str
) -> None:
    log, here, there = written_log(tmp_path / "log", kind), Warehouse(f"file:{tmp_path}/wh"), Warehouse(f"{hdfs_place}/wh")
    for warehouse, folder in ((here, str(log)), (there, uploaded(log, f"{hdfs_place}/log"))):
        # In a process of its own, as a user's: those that read a log are forked, and delta-rs's threads, which this one has, are not.
        words = ("--events", f"{folder}/{way.format(kind)}", "--warehouse", warehouse.root, "--processes", "2")
        assert run_command("nowhere", warehouse, tmp_path / "said.txt", "load", *words).code == 0, (tmp_path / "said.txt").read_text()
    assert differences(tables_of_warehouse(there), tables_of_warehouse(here)) == {}, "(missing, too many)"
    assert answers(there, capsys) == answers(here, capsys)
    assert main(["load", "--events", str(log), "--warehouse", there.root]) == 2
    assert "there is something already" in capsys.readouterr().err


def answers(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """What commands say of a warehouse, but for where it is."""
    said: list[Any] = []
    for command in QUESTIONS:
        capsys.readouterr()
        assert main([*command, "--warehouse", warehouse.root]) == 0, command
        said.append(capsys.readouterr().out.replace(warehouse.root.removeprefix("file:"), "WAREHOUSE"))
    assert "" not in said
    assert main(["status", "--format", "json", "--warehouse", warehouse.root]) == 0
    status = json.loads(capsys.readouterr().out)
    return [*said, {name: status[name] for name in STATUS}]


@pytest.mark.captures
def test_a_log_there_is_streamed_as_one_of_this_machine(spark: SparkSession, captures: Path, hdfs_place: str, tmp_path: Path) -> None:
    here, there = Warehouse(f"file:{tmp_path}/wh"), Warehouse(f"{hdfs_place}/wh")
    log_in_files(captures / "i_age_quota_precise", tmp_path / "x y", 2)
    run_job(uploaded(tmp_path / "x y", f"{hdfs_place}/x y"), there, ingest__max_files_per_batch="1")
    run_job(tmp_path / "x y", here, ingest__max_files_per_batch="1")
    assert differences(tables_of_warehouse(there), tables_of_warehouse(here)) == {}, "(missing, too many)"


@pytest.mark.captures
def test_of_two_jobs_that_start_at_once_one_writes(spark: SparkSession, captures: Path, hdfs_place: str, tmp_path: Path) -> None:
    log_in_files(captures / "i_age_quota_precise", tmp_path / "events", 2)
    events, warehouse = uploaded(tmp_path / "events", f"{hdfs_place}/events"), Warehouse(f"{hdfs_place}/warehouse")
    logs = [tmp_path / name / "said.txt" for name in ("one", "other")]

    def job(log: Path) -> Run:
        log.parent.mkdir()
        return run_child("nowhere", events, warehouse, log, "--drain")

    with ThreadPoolExecutor() as threads:
        ended = dict(zip(logs, threads.map(job, logs), strict=True))
    assert sorted(run.code for run in ended.values()) == [0, 2]
    (said,) = (log.read_text(encoding="utf-8") for log, run in ended.items() if run.code == 2)
    (line,) = (line for line in said.splitlines() if line.startswith("error: "))
    assert "another driver (host " in line
    assert differences(tables_of_warehouse(warehouse), undisturbed(tmp_path / "events", tmp_path / "undisturbed")) == {}
