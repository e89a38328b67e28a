"""The command `load`: what it prints, what it refuses, and what is left when it is ended."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from capture_events import write_events
from loaded import contents, load_into, tables_unlike
from upkeep_log import capture

from console.command_line import main
from driver import loading
from pipeline.ingest import bronze_files
from pipeline.load import ingest
from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parents[2]


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A small log."""
    write_events(capture("p1_batches"), tmp_path / "events" / "a.jsonl.gz")
    return tmp_path / "events"


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The only line that a refused command prints."""
    assert main(["load", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_it_prints_what_became_of_the_lines(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "--events", str(events), "--warehouse", str(tmp_path / "w"), "--processes", "1"]) == 0
    lines = len(capture("p1_batches"))
    said = capsys.readouterr().out
    assert f"ingest: {lines:,} lines = {lines:,} events + 0 quarantined" in said
    assert f"{lines:,} in = {lines:,} applied" in said
    assert main(["status", "--warehouse", str(tmp_path / "w")]) == 0
    assert "PROBLEM" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("events_at", "warehouse", "words"),
    [
        ("events", "events", "there is something already"),
        ("nowhere", "w", "there is no such file or folder"),
        ("events/*.parquet", "w", "there is no file to load"),
        ("kafka://host:9092/topic", "w", "only files can be loaded"),
        ("delta", "w", "only files can be loaded"),
        ("events", "wasb://host/w", "wasb: is none of them"),
        ("events", "a%20b", "one of the characters"),
    ],
)
def test_what_cannot_be_loaded_is_refused_before_anything_is_made(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], events_at: str, warehouse: str, words: str
) -> None:
    (tmp_path / "delta" / "_delta_log").mkdir(parents=True)
    before = sorted(tmp_path.iterdir())
    places = [text if "://" in text else f"{tmp_path}/{text}" for text in (events_at, warehouse)]
    assert words in refused(["--events", places[0], "--warehouse", places[1]], capsys)
    assert sorted(tmp_path.iterdir()) == before


def test_a_wrong_setting_is_refused(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["--events", str(events), "--warehouse", str(tmp_path / "w"), "--set", "lanes.window=1"], capsys)
    assert "lanes.window" in said


def test_a_file_that_is_no_parquet_is_named_and_nothing_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "a.parquet").write_text("no parquet")
    assert "a.parquet cannot be read as Parquet" in refused(
        ["--events", str(tmp_path / "events"), "--warehouse", str(tmp_path / "w")], capsys
    )
    assert [path.name for path in tmp_path.iterdir()] == ["events"]


def test_a_file_that_grows_meanwhile_is_read_as_it_was_listed_and_reported(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = events / "b.jsonl"
    write_events(capture("f_limit_above_need"), log)
    text = log.read_text()
    begin = ingest.begin_parsing

    def grow_and_begin(*args: object) -> object:
        log.write_text(text + "{}\n")
        return begin(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("pipeline.load.load.begin_parsing", grow_and_begin)
    assert main(["load", "--events", str(events), "--warehouse", str(tmp_path / "grown")]) == 0
    assert "WARNING: 1 files grew after they were read" in capsys.readouterr().out
    grown = Warehouse(f"file:{tmp_path / 'grown'}")
    monkeypatch.undo()
    log.write_text(text)
    assert tables_unlike(grown, load_into(events, tmp_path / "whole")) == ["ingest_files"]
    faults = [(Path(row["source_file"]).name, row["fault"], row["lines"]) for row in contents(grown, "ingest_files").to_pylist()]
    assert ("b.jsonl", "grew", 0) in faults
    assert len(faults) == 3


def test_a_process_that_is_killed_ends_the_load_in_one_line(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bronze_files.BronzeFiles, "close", lambda self: os.kill(os.getpid(), signal.SIGKILL))
    assert main(["load", "--events", str(events), "--warehouse", str(tmp_path / "w")]) == 1
    assert capsys.readouterr().err.startswith("error: a process of the load was killed")
    assert [path.name for path in tmp_path.iterdir()] == ["events"]


def test_a_disk_that_refuses_is_one_line(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(bronze_files.BronzeFiles, "close", full)
    assert main(["load", "--events", str(events), "--warehouse", str(tmp_path / "w")]) == 1
    said = capsys.readouterr().err
    assert f"error: {tmp_path / 'w'}: the disk is full" in said
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["events"]


def test_a_link_to_an_empty_folder_is_that_folder(events: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    assert main(["load", "--events", str(events), "--warehouse", str(tmp_path / "link")]) == 0
    assert (tmp_path / "there" / "batch_manifest").is_dir()
    assert main(["status", "--warehouse", str(tmp_path / "link")]) == 0


def test_a_mount_point_is_refused_at_once(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a file system is mounted there" in refused(["--events", str(events), "--warehouse", "/proc"], capsys)


#: Loads, but a process that parses waits. A shell without a terminal gives what it starts in the background a SIGINT that is ignored.
WAITING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from pipeline.ingest import bronze_files
bronze_files.BronzeFiles.close = lambda self: (print("waits", flush=True), time.sleep(100))
from console.command_line import main
sys.exit(main(["load", "--events", sys.argv[1], "--warehouse", sys.argv[2]]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_whoever_ends_it_ends_its_processes_and_no_warehouse_appears(events: Path, tmp_path: Path, number: int) -> None:
    place = tmp_path / "w"
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(events), str(place)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as job:
        assert job.stdout is not None
        assert any("waits" in line for line in iter(job.stdout.readline, ""))
        job.send_signal(number)
        # The pipe ends with the last process that has it: long before that one has waited enough.
        job.communicate(timeout=60)
        assert job.returncode != 0
    left = [path.name for path in tmp_path.iterdir() if path.name != "events"]
    assert len(left) == (1 if number == signal.SIGKILL else 0)
    load_into(events, place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events", "w"]


def test_it_begins_without_pandas_and_so_does_a_command_that_reads(events: Path, tmp_path: Path) -> None:
    for words in (["load", "--events", str(events)], ["why", "--all"]):
        command = [sys.executable, "-X", "importtime", "-m", "jobs", *words, "--warehouse", str(tmp_path / "w")]
        imported = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stderr
        assert "console.command_line" in imported
        assert "pandas.core" not in imported


def test_every_run_is_in_the_ledger_with_its_settings(events: Path, tmp_path: Path) -> None:
    warehouse = load_into(events, tmp_path / "w", lanes__lateness_ms="5000")
    rows = contents(warehouse, "run_ledger").to_pylist()
    ended, started = sorted(rows, key=lambda row: str(row["event"]))
    assert (started["event"], ended["event"], ended["outcome"]) == ("started", "ended", "done")
    assert dict(ended["settings"])["lanes.lateness_ms"] == "5000"
    assert ended["spark_version"] == loading.NO_VERSION
