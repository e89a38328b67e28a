"""Set-up, part by part, without network: what is missing, what is removed, what is shown, who waits, what a fault looks like."""

import io
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.environment import board as boards
from tools.environment import classes, jars, packages, rules
from tools.environment.__main__ import PARTS, alone, missing_parts
from tools.environment.board import Board
from tools.environment.place import ROOT, Place, SetUpFailed, digest
from tools.environment.tool import Tools, last_line

LOCKS = (
    "run.lock",
    "quality.lock",
    "tests.lock",
    "broker.lock",
    "serve.lock",
    "dashboards.lock",
    "browser.lock",
    "ship.lock",
    "jars.lock",
    "kafka-jars.lock",
    "s3-jars.lock",
    "google-jars.lock",
    "azure-jars.lock",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project with locks, and with an environment of which nothing is complete."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)  # compiled rules are in the environment
    place = Place(tmp_path)
    (tmp_path / "requirements").mkdir()
    for name in LOCKS:
        place.requirements(name).write_text((ROOT / "requirements" / name).read_text())
    place.python.parent.mkdir(parents=True)
    place.python.touch()
    return place


@pytest.fixture
def complete(place: Place) -> Place:
    """The same with every part in it."""
    for part, content in (
        ("packages", packages.content(place, "run")),
        ("quality", packages.content(place, "quality")),
        ("tests", packages.content(place, "tests")),
        ("broker", packages.content(place, "broker")),
        ("serve", packages.content(place, "serve")),
        ("dashboards", packages.content(place, "dashboards")),
        ("browser", packages.content(place, "browser")),
        ("jars", jars.content(place, jars.DELTA)),
        ("kafka", jars.content(place, jars.KAFKA)),
        ("s3", jars.content(place, jars.S3)),
        ("google", jars.content(place, jars.GOOGLE)),
        ("azure", jars.content(place, jars.AZURE)),
        ("ship", packages.content(place, "ship")),
    ):
        place.stamp(part, content)
    rules.note_complete(place)
    classes.note_complete(place)
    return place


def test_of_a_new_environment_everything_that_is_asked_for_is_missing(place: Place) -> None:
    assert missing_parts(place, ["rules", "packages", "jars"]) == ["packages", "jars", "rules"]
    assert missing_parts(place, ["packages"]) == ["packages"]


def test_of_a_complete_one_nothing_is(complete: Place) -> None:
    assert missing_parts(complete, PARTS) == []


def test_without_its_interpreter_everything_is_missing_again(complete: Place) -> None:
    complete.python.unlink()
    assert missing_parts(complete, PARTS) == list(PARTS)


@pytest.mark.parametrize(
    ("file", "parts"),
    [
        ("run.lock", ["packages", "classes", "rules"]),
        ("quality.lock", ["quality"]),
        ("tests.lock", ["tests"]),
        ("broker.lock", ["broker"]),
        ("serve.lock", ["serve"]),
        ("dashboards.lock", ["dashboards"]),
        ("browser.lock", ["browser"]),
        ("ship.lock", ["ship"]),
        ("jars.lock", ["jars", "classes"]),
        ("kafka-jars.lock", ["kafka"]),
        ("s3-jars.lock", ["s3"]),
        ("google-jars.lock", ["google"]),
        ("azure-jars.lock", ["azure"]),
    ],
)
def test_a_changed_lock_makes_its_part_anew(complete: Place, file: str, parts: list[str]) -> None:
    lock = complete.requirements(file)
    lock.write_text(lock.read_text().replace("numba==", "numba==9") + "# changed\n")
    assert missing_parts(complete, PARTS) == parts


def test_checkouts_that_share_an_environment_share_the_rules(complete: Place, tmp_path: Path) -> None:
    """The sources are the same: those of this process."""
    other = Place(tmp_path / "other")
    shutil.copytree(complete.root / "requirements", other.root / "requirements")
    other.venv.symlink_to(complete.venv)
    assert missing_parts(other, PARTS) == []
    shutil.rmtree(complete.venv / "numba-cache")
    assert missing_parts(complete, PARTS) == missing_parts(other, PARTS) == ["rules"]


def test_an_environment_of_the_version_with_one_lock_is_not_complete(place: Place) -> None:
    place.stamp("packages", "2715623512 1466\n")
    place.stamp("jars", "io.delta:delta-spark_4.2_2.13:4.4.0\n")
    assert missing_parts(place, ["packages", "jars"]) == ["packages", "jars"]


def test_the_jars_are_those_of_the_delta_that_is_installed() -> None:
    locked = jars.jars_of((ROOT / "requirements/jars.lock").read_text())
    pins = dict(pin.split("==") for pin in packages.pins_of(ROOT / "requirements/run.lock"))
    spark = pins["pyspark"].rpartition(".")[0]
    assert (f"delta-spark_{spark}_2.13", pins["delta-spark"]) in {(jar.artifact, jar.version) for jar in locked}
    assert [jar for jar in locked if len(jar.sha256) != 64] == []


def test_a_jar_that_is_not_the_one_that_is_meant_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g_a-1.jar").write_bytes(b"right")
    right = jars.Jar(digest(tmp_path / "g_a-1.jar"), "g", "a", "1")
    jars.check(jars.DELTA, [right], tmp_path)
    (tmp_path / "g_a-1.jar").write_bytes(b"wrong")
    with pytest.raises(SetUpFailed, match="is not the one of requirements"):
        jars.check(jars.DELTA, [right], tmp_path)
    (tmp_path / "g_a-1.jar").unlink()
    with pytest.raises(SetUpFailed, match="is missing"):
        jars.check(jars.DELTA, [right], tmp_path)


def test_the_lines_of_pip_become_progress() -> None:
    board = Board(io.StringIO())
    follow = packages._follow_pip("packages", 22, board)

    def shown(line: str) -> str:
        follow(line)
        return board.line().partition(" | packages ")[2]

    assert shown("Collecting numpy==2.4.6 (from -r run.txt (line 3))") == "1 of 22: numpy"
    assert shown("  Downloading numpy-2.4.6.whl (16 MB)") == "1 of 22: numpy"
    assert shown("Requirement already satisfied: numba==0.68.1 in x (from y)") == "2 of 22: numba"
    assert shown("  Building wheel for pyspark (pyproject.toml): started") == "building pyspark"
    assert shown("Installing collected packages: numpy, pyspark, pandas") == "installing 3"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("out", "renewed"), [(io.StringIO(), False), (Terminal(), True)], ids=["in a log", "on a terminal"])
def test_what_takes_long_is_shown(out: io.StringIO, renewed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "FIRST_AFTER_S", 0.01)
    monkeypatch.setattr(boards, "EVERY_S", {True: 0.01, False: 0.01})
    board = Board(out)
    with board.shown():
        board.at("rules", "compiled: 3 of 78")
        until(lambda: "rules compiled: 3 of 78" in out.getvalue())
    assert ("\r" in out.getvalue()) == renewed
    assert out.getvalue().endswith("\r" if renewed else "\n")  # the next line begins at the margin


def test_what_is_quick_is_not_shown() -> None:
    out = io.StringIO()
    with Board(out).shown() as board:
        board.at("rules", "compiled: 3 of 78")
    assert out.getvalue() == ""


def until(holds: Callable[[], bool]) -> None:
    """Wait until it does."""
    end_s = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.005)


def test_a_second_set_up_waits_for_the_first(place: Place) -> None:
    out, order = io.StringIO(), []

    def second() -> None:
        with alone(place, Board(out)):
            order.append("second")

    waiting = threading.Thread(target=second)
    with alone(place, Board(io.StringIO())):
        waiting.start()
        until(lambda: "waiting for another set-up (process" in out.getvalue())
        order.append("first")
    waiting.join(30)
    assert order == ["first", "second"]


def test_a_program_leaves_a_log_and_its_end_is_known(tmp_path: Path) -> None:
    lines: list[str] = []
    log = tmp_path / "log"
    program = "import sys; print('one'); print('two', file=sys.stderr); sys.exit({})"
    assert Tools().run([sys.executable, "-u", "-c", program.format(0)], log, {}, lines.append)
    assert lines == ["one", "two"]
    assert not Tools().run([sys.executable, "-u", "-c", program.format(1)], log, {}, lines.append)
    assert last_line(log) == "two"


def test_when_one_fails_the_others_end_and_none_begins(tmp_path: Path) -> None:
    tools, results, begun = Tools(), [], threading.Event()
    command = [sys.executable, "-u", "-c", "import time; print('begun'); time.sleep(600)"]
    running = threading.Thread(target=lambda: results.append(tools.run(command, tmp_path / "log", {}, lambda line: begun.set())))
    running.start()
    assert begun.wait(30)
    tools.stop()
    running.join(30)
    assert results == [False]
    assert not tools.run([sys.executable, "-c", ""], tmp_path / "log", {}, lambda line: None)


@pytest.mark.parametrize("for_tests", [False, True])
def test_parts_of_rules_are_kept_for_tests_alone(place: Place, for_tests: bool) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], *_: Any) -> bool:
        commands.append(command)
        return True

    tools: Any = SimpleNamespace(run=run)
    rules.make_rules(place, Board(io.StringIO()), tools, for_tests=for_tests)
    assert (rules.KEEP_PARTS in commands[0]) == for_tests
