"""Translations that one command made are there for the next one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.query import translations_file
from pipeline.query.translations_file import keep_on_disk, kept_on_disk

#: A process that asks one statement, and prints whether it had to translate it.
ASK = """
import sys
from pipeline.query import translated
asked = []
of_sqlglot = translated._translation
translated._translation = lambda sql: asked.append(sql) or of_sqlglot(sql)
print(translated.translated(sys.argv[1]).text, len(asked))
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def asked(sql: str) -> tuple[str, int]:
    """The translation by a process of its own, and how often it asked sqlglot."""
    done = subprocess.run([sys.executable, "-c", ASK, sql], capture_output=True, text=True, check=True, env=dict(os.environ))
    text, _, times = done.stdout.strip().rpartition(" ")
    return text, int(times)


def test_the_next_process_has_it_though_names_differ() -> None:
    first, times = asked("SELECT count(*) AS n FROM names WHERE level = 'broker'")
    assert times == 2, "itself, and its pattern"
    second, times = asked("SELECT count(*) AS n FROM names WHERE level = 'topic'")
    assert times == 0
    assert second == first.replace("'broker'", "'topic'")


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    keep_on_disk({"a": None}, 10)
    (file,) = tmp_path.rglob("*.json")
    for damaged in ('{"a": [[', "[]", "\udcff"):
        file.write_bytes(damaged.encode(errors="surrogateescape"))
        assert kept_on_disk() == {}
    keep_on_disk({"b": [["names"], [], "SELECT 1"]}, 10)
    assert kept_on_disk() == {"b": [["names"], [], "SELECT 1"]}


def test_no_more_are_kept_than_may_be_and_the_last_ones_are() -> None:
    keep_on_disk({"a": None, "b": None}, 3)
    keep_on_disk({"c": None, "d": None}, 3)
    assert [*kept_on_disk()] == ["b", "c", "d"]


def test_each_state_of_the_sources_has_its_own_and_the_last_ones_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for number in range(6):
        monkeypatch.setattr(translations_file, "_fingerprint", lambda number=number: f"state{number}")
        assert kept_on_disk() == {}
        keep_on_disk({"a": None}, 10)
        for file in tmp_path.rglob(f"state{number}.json"):
            os.utime(file, (number, number))
    assert sorted(file.stem for file in tmp_path.rglob("*.json")) == ["state2", "state3", "state4", "state5"]


def test_where_nobody_can_write_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    keep_on_disk({"a": None}, 10)
    assert kept_on_disk() == {}
