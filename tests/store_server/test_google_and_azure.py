"""A warehouse and its log in Google's and Azure's stores: as on this machine, row for row, with Spark and without it."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from capture_events import write_events
from files_contract import FilesContract, TakeOverContract
from in_store import uploaded
from killed_job import differences, run_command, tables_of_warehouse
from upkeep_log import capture

from console.command_line import main
from pipeline.query.room import ReadingRoom
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock_file import Driver, LockEntry

QUESTIONS = (
    ["why", "--all"],
    ["sql", "SELECT count(*), sum(seq), min(ts) FROM dispatch_events WHERE seq BETWEEN 5 AND 90"],
    ["sql", "SHOW TABLES"],
    ["quality"],
)


class TestSmallFiles(FilesContract, TakeOverContract):
    """As on a disk, in S3 and in HDFS."""

    @pytest.fixture
    def place(self, other_place: str) -> str:
        """A folder."""
        return other_place


def asked(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says, but for where it was asked."""
    capsys.readouterr()
    code = main([*words, "--warehouse", warehouse.root])
    said = capsys.readouterr()
    assert code in (0, 1), (words, said.err)
    return said.out.replace(warehouse.root.removeprefix("file:"), "WAREHOUSE") + str(code)


@pytest.fixture
def two(other_place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Warehouse, Warehouse]:
    """The same log, loaded here from here, and there from there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    events = capture("p1_batches")
    write_events(events[: len(events) // 2], tmp_path / "events" / "a b.jsonl.gz")
    write_events(events[len(events) // 2 :], tmp_path / "events" / "c.jsonl.gz")
    here, there = Warehouse(f"file:{tmp_path}/wh"), Warehouse(f"{other_place}/wh")
    for warehouse, log in ((here, str(tmp_path / "events")), (there, uploaded(tmp_path / "events", f"{other_place}/log"))):
        words = ("--events", log, "--warehouse", warehouse.root, "--processes", "2")
        done = run_command("nowhere", warehouse, tmp_path / "said.txt", "load", *words)
        assert done.code == 0, (tmp_path / "said.txt").read_text()
    return here, there


def test_a_log_there_is_loaded_and_commands_answer(
    two: tuple[Warehouse, Warehouse], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = two
    assert differences(tables_of_warehouse(there), tables_of_warehouse(here)) == {}, "(missing, too many)"
    (first, *_) = ReadingRoom(here).rows("SELECT DISTINCT topic, subscription FROM subscription_causes ORDER BY ALL")
    for words in (*QUESTIONS, ["explain", first["topic"], first["subscription"]]):
        assert asked(there, capsys, *words) == asked(here, capsys, *words), words
    assert "PROBLEM" not in asked(there, capsys, "status")
    assert asked(there, capsys, "report", "--out", str(tmp_path / "report.html")).endswith("0")
    assert first["topic"] in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert asked(there, capsys, "maintain", "--set", "maintain.merge_from_files=2").endswith("0")
    # Its rows say when the quality job ran.
    unlike = differences(tables_of_warehouse(there), tables_of_warehouse(here)).keys() - {"quality_results"}
    assert unlike == set(), "after upkeep"
    assert not {"_driver_lock", "_loading"} & {*files_at(there.root).names(there.root)}
    refuses(["load", "--events", str(tmp_path / "events"), "--warehouse", there.root], "there is something already", capsys)
    # Another driver is at work there.
    entry = LockEntry(Driver("run", "another-host", 1, ""), datetime.now(UTC), datetime.now(UTC)).to_json()
    assert files_at(there.root).create(there.upkeep_lock_file, entry)
    refuses(["maintain", "--warehouse", there.root], "(host another-host, pid 1, since ", capsys)
    assert files_at(there.root).read(there.upkeep_lock_file) == entry


def refuses(line: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A command ends with 2 and the reason."""
    capsys.readouterr()
    assert main(line) == 2, line
    assert reason in capsys.readouterr().err


def test_a_wrong_key_is_one_line_without_the_key(azure: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = base64.b64encode(b"a key that is not the account's").decode()
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", wrong)
    assert main(["why", "--all", "--warehouse", f"{azure}/wh"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "see the key, its rights, and whether it expired" in said
    assert wrong not in said


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("STORAGE_EMULATOR_HOST", "127.0.0.1:9", "gs://lake/wh"),
        ("AZURE_STORAGE_ENDPOINT", "http://127.0.0.1:9/devstoreaccount1", "abfss://lake@devstoreaccount1.dfs.core.windows.net/wh"),
    ],
)
def test_a_store_that_is_not_there_is_one_line(
    name: str, value: str, place: str, azure: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert main(["why", "--all", "--warehouse", place]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("error: the object store failed: ")
    assert "see the address" in said
