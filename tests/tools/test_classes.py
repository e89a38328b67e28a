"""The file of Spark's classes that set-up makes, without Spark: a program in its place writes the file, or does not."""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.environment import classes
from tools.environment.board import Board
from tools.environment.place import ROOT, Place
from tools.shared_classes import archive_of


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project with its locks; nothing is made."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "requirements").symlink_to(ROOT / "requirements")
    return Place(tmp_path)


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Java that Spark takes."""
    program = tmp_path / "java-99" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("99.0")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java-99"))
    return program


def archive(place: Place) -> Path:
    return archive_of(os.environ, place.venv)


def first_start(text: str | None, *, ends_well: bool = True) -> Any:
    """Tools whose program leaves `text` where Java was told to leave the classes."""

    def run(_command: list[str], log: Path, environ: Mapping[str, str], _on_line: Any) -> bool:
        log.write_text("the last line\n")
        (option,) = (word for word in environ["SPARK_SUBMIT_OPTS"].split() if word.startswith("-XX:"))
        if text is not None:
            Path(option.removeprefix("-XX:ArchiveClassesAtExit=")).write_text(text)
        return ends_well

    return SimpleNamespace(run=run)


def test_the_file_appears_whole_and_nothing_else_stays(place: Place) -> None:
    assert not classes.are_complete(place)
    classes.make_classes(place, Board(io.StringIO()), first_start("classes"))
    assert archive(place).read_text() == "classes"
    assert classes.are_complete(place)
    assert {path.suffix for path in place.venv.iterdir()} == {".jsa", ".stamp", ".log"}


@pytest.mark.parametrize("start", [first_start(None), first_start("half of the classes", ends_well=False)])
def test_a_java_that_leaves_none_ends_nothing_and_is_not_asked_again(place: Place, start: Any) -> None:
    out = io.StringIO()
    classes.make_classes(place, Board(out), start)
    assert not archive(place).exists()
    assert classes.are_complete(place)
    assert out.getvalue().startswith("Java left no classes of Spark")


def test_a_file_of_other_jars_is_gone_before_java_starts(place: Place) -> None:
    """A Java that maps classes leaves none."""
    archive(place).write_text("of other jars")
    seen: list[bool] = []

    def run(*_: Any) -> bool:
        seen.append(archive(place).exists())
        return True

    tools: Any = SimpleNamespace(run=run)
    place.log(classes.PART).touch()
    classes.make_classes(place, Board(io.StringIO()), tools)
    assert seen == [False]


def test_each_java_has_its_own(place: Place, java: Path) -> None:
    classes.make_classes(place, Board(io.StringIO()), first_start("of 99.0"))
    first = archive(place)
    java.write_text("99.0.1")
    assert not classes.are_complete(place)
    classes.make_classes(place, Board(io.StringIO()), first_start("of 99.0.1"))
    assert (first.read_text(), archive(place).read_text()) == ("of 99.0", "of 99.0.1")


def test_files_of_javas_that_went_out_of_use_are_removed(place: Place, java: Path) -> None:
    made = []
    for number in range(5):
        java.write_text("9" * number)
        classes.make_classes(place, Board(io.StringIO()), first_start("classes"))
        made.append(archive(place))
        os.utime(made[-1], ns=(number * 10**9, number * 10**9))
    assert [path.exists() for path in made] == [False, False, True, True, True]
    assert len([*place.venv.glob("*.stamp")]) == 3


def test_where_writing_is_refused_nothing_is_missing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """For somebody who uses another's environment. Root may write everywhere: so nobody is asked for real."""
    monkeypatch.setattr(os, "access", lambda path, _mode: path != place.root)
    assert classes.are_complete(place)


def test_nothing_of_a_spark_of_the_callers_reaches_the_first_start(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a folder of settings, or another Spark, the file would be of a class path that no start has."""
    for name in ("SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.setenv(name, "of the caller")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/large/disk")
    environ: dict[str, str] = {}

    def run(_command: list[str], _log: Path, given: Mapping[str, str], _on_line: Any) -> bool:
        environ.update(given)
        return True

    tools: Any = SimpleNamespace(run=run)
    classes.make_classes(place, Board(io.StringIO()), tools)
    assert "of the caller" not in environ.values()
    assert environ["SPARK_LOCAL_DIRS"] == "/large/disk"
    assert environ["SPARK_SUBMIT_OPTS"].startswith("-XX:ArchiveClassesAtExit=")
