"""The file of Spark's classes that set-up makes, without Spark: a program in its place writes the file, or does not."""

import io
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.environment import classes
from tools.environment.board import Board
from tools.environment.place import ROOT, Place, SetUpFailed
from tools.shared_classes import ARCHIVE


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project with its locks, and with a file of another Java."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "requirements").symlink_to(ROOT / "requirements")
    place = Place(tmp_path)
    archive(place).write_text("of another Java")
    return place


def archive(place: Place) -> Path:
    return place.venv / ARCHIVE.name


def first_start(text: str | None, *, ends_well: bool = True) -> Any:
    """Tools whose program leaves `text` where Java was told to leave the classes."""

    def run(_command: list[str], log: Path, environ: Mapping[str, str], _on_line: Any) -> bool:
        log.write_text("the last line\n")
        (option,) = (word for word in environ["SPARK_SUBMIT_OPTS"].split() if word.startswith("-XX:"))
        if text is not None:
            Path(option.removeprefix("-XX:ArchiveClassesAtExit=")).write_text(text)
        return ends_well

    return SimpleNamespace(run=run)


def test_the_file_takes_the_place_of_the_old_one_and_nothing_else_stays(place: Place) -> None:
    assert not place.is_stamped(classes.PART, classes.content(place))
    classes.make_classes(place, Board(io.StringIO()), first_start("classes"))
    assert archive(place).read_text() == "classes"
    assert place.is_stamped(classes.PART, classes.content(place))
    assert {path.suffix for path in place.venv.iterdir()} == {".jsa", ".stamp", ".log"}


def test_a_java_that_leaves_none_is_not_asked_again(place: Place) -> None:
    out = io.StringIO()
    classes.make_classes(place, Board(out), first_start(None))
    assert not archive(place).exists()
    assert place.is_stamped(classes.PART, classes.content(place))
    assert out.getvalue().startswith("this Java leaves no classes")


def test_a_spark_that_does_not_start_ends_the_set_up(place: Place) -> None:
    with pytest.raises(SetUpFailed, match="Spark does not start: the last line; all of it: "):
        classes.make_classes(place, Board(io.StringIO()), first_start("half of the classes", ends_well=False))
    assert not archive(place).exists()
    assert not place.is_stamped(classes.PART, classes.content(place))


def test_another_java_makes_it_anew(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = classes.content(place)
    java = tmp_path / "java-99" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java-99"))
    with_home = classes.content(place)
    java.write_text("newer")
    assert len({before, with_home, classes.content(place)}) == 3


def test_nothing_that_a_caller_has_set_for_spark_reaches_the_first_start(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a folder of settings, or another Spark, the file would be of a class path that no start has."""
    for name in ("SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.setenv(name, "of the caller")
    environ: dict[str, str] = {}

    def run(_command: list[str], _log: Path, given: Mapping[str, str], _on_line: Any) -> bool:
        environ.update(given)
        return True

    tools: Any = SimpleNamespace(run=run)
    classes.make_classes(place, Board(io.StringIO()), tools)
    assert "of the caller" not in environ.values()
    assert environ["SPARK_SUBMIT_OPTS"].startswith("-XX:ArchiveClassesAtExit=")
