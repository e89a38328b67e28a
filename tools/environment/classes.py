"""Spark's classes for Java to share: Spark starts once, and Java leaves the classes that it has loaded in a file.

They save time and nothing else: without them everything runs, so nothing here ends a set-up. tools/shared_classes.py has their use.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from tools.environment.board import Board
from tools.environment.place import Place, digest
from tools.environment.tool import Tools
from tools.shared_classes import archive_of

PART = "classes"
#: The files of so many other Javas stay, the newest ones.
_OTHERS = 2
#: Java says which classes it cannot keep, a line each; hundreds of them are none of ours.
_LEAVE = "-XX:ArchiveClassesAtExit={} -Xlog:disable -Xlog:all=error:stderr"
#: Of a caller's own Spark.
_NOT_OURS = ("SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")


def are_complete(place: Place) -> bool:
    """Whether there is the file for this Java, of these jars; or it was found that there can be none.

    Where nobody may write nothing is missing: the command runs without.
    """
    archive = _archive(place)
    return place.is_stamped(archive.stem, _content(place)) or not (os.access(place.venv, os.W_OK) and os.access(place.root, os.W_OK))


def note_complete(place: Place) -> None:
    """Note that it is, or that it cannot be made."""
    place.stamp(_archive(place).stem, _content(place))


def make_classes(place: Place, board: Board, tools: Tools) -> None:
    """Make the file; it appears whole or not at all. Needs the packages and Delta's jars."""
    board.at(PART, "a first start of Spark")
    archive, work, log = _archive(place), place.venv / f"{PART}.work", place.log(PART)
    # Java leaves no classes where it maps those that were left before (driver/session.py names the file to it).
    archive.unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    made = work / archive.name
    ended_well = tools.run([str(place.python), "-P", "-m", "driver.first_start"], log, _environ(place, made), lambda line: None)
    if ended_well and made.exists():
        made.replace(archive)
        _remove_old(archive)
    else:
        board.say(f"Java left no classes of Spark: each start of Spark takes longer; its output: {log}")
    shutil.rmtree(work)
    note_complete(place)
    board.done(PART)


def _archive(place: Place) -> Path:
    return archive_of(os.environ, place.venv)


def _content(place: Place) -> str:
    """The jars that the classes are of."""
    return digest(place.requirements("run.lock"), place.requirements("jars.lock"))


def _remove_old(archive: Path) -> None:
    """A system that is updated now and then would fill the disk."""
    others = [path for path in archive.parent.glob("spark-classes-*.jsa") if path != archive]
    for path in sorted(others, key=lambda path: path.stat().st_mtime_ns)[:-_OTHERS]:
        path.unlink(missing_ok=True)
        path.with_suffix(".stamp").unlink(missing_ok=True)


def _environ(place: Place, made: Path) -> Mapping[str, str]:
    """Of this machine, without the settings of a caller for a Spark of his own."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
    return {**kept, "PYTHONPATH": str(place.root), "SPARK_SUBMIT_OPTS": _LEAVE.format(quote(str(made)))}
