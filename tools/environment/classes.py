"""Spark's classes for Java to share: Spark starts once, and Java leaves the classes that it has loaded in a file.

tools/shared_classes.py has its use.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from tools.environment.board import Board
from tools.environment.place import Place, SetUpFailed, digest
from tools.environment.tool import Tools, last_line
from tools.shared_classes import ARCHIVE

PART = "classes"
#: Java says which classes it cannot keep, a line each; hundreds of them are none of ours.
_LEAVE = "-XX:ArchiveClassesAtExit={} -Xlog:disable -Xlog:all=error:stderr"


def content(place: Place) -> str:
    """What the file was made by and of: a Java, Spark's jars, Delta's."""
    return f"{_java()} {digest(place.requirements('run.lock'), place.requirements('jars.lock'))}"


def make_classes(place: Place, board: Board, tools: Tools) -> None:
    """Make the file; it appears whole or not at all. Needs the packages and Delta's jars. Raises SetUpFailed."""
    board.at(PART, "a first start of Spark")
    archive, work = place.venv / ARCHIVE.name, place.venv / f"{PART}.work"
    archive.unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    made, log = work / archive.name, place.log(PART)
    if not tools.run([str(place.python), "-P", "-m", "driver.first_start"], log, _environ(place, made), lambda line: None):
        raise SetUpFailed(f"Spark does not start: {last_line(log)}; all of it: {log}")
    if made.exists():
        made.rename(archive)
    else:
        board.say(f"this Java leaves no classes for the next start of Spark, which takes longer so; its output: {log}")
    shutil.rmtree(work)
    place.stamp(PART, content(place))
    board.done(PART)


def _environ(place: Place, made: Path) -> Mapping[str, str]:
    """Of this machine, without the settings of a caller for a Spark of his own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {**kept, "PYTHONPATH": str(place.root), "SPARK_SUBMIT_OPTS": _LEAVE.format(quote(str(made)))}


def _java() -> str:
    """The Java that Spark takes: its place, size, and time. An update of the system puts another there."""
    home = os.environ.get("JAVA_HOME")
    found = f"{home}/bin/java" if home else shutil.which("java")
    if found is None or not os.path.exists(found):
        return "none"
    place = os.path.realpath(found)
    return f"{place} {os.stat(place).st_size} {os.stat(place).st_mtime_ns}"
