"""Python packages: a virtual environment, and in it one set for what runs; later ones when they are asked for."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tools.environment.board import Board
from tools.environment.place import Place, SetUpFailed, digest
from tools.environment.tool import Tools, last_line

#: Each has its lock in requirements/. A later one is `run` and more; but the shipper, the generator of dashboards, and the driver of a
#: browser need no other set.
RUN, QUALITY, TESTS, BROKER, SERVE = "run", "quality", "tests", "broker", "serve"
DASHBOARDS, BROWSER, SHIP = "dashboards", "browser", "ship"
#: What the rules import: installed first, so that they compile while the rest is installed.
RULES_NEED = ("llvmlite", "numba", "numpy")
_PACKAGE = re.compile(r"([A-Za-z0-9._-]+)==\S+")


def content(place: Place, name: str) -> str:
    """What a complete set was made of."""
    return digest(place.requirements(f"{name}.lock"))


def has_python(place: Place) -> bool:
    """Whether there is an interpreter that runs; an update of the system may have taken it away."""
    try:
        return subprocess.run([str(place.python), "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make_venv(place: Place, board: Board) -> None:
    """Make the virtual environment with the Python that runs this, in place of one that does not work. Raises SetUpFailed."""
    board.at("Python environment", "is made")
    done = subprocess.run([sys.executable, "-m", "venv", "--clear", place.venv], capture_output=True, check=False)
    board.done("Python environment")
    if done.returncode:
        raise SetUpFailed(f"cannot make a Python environment in {place.venv} (disk full, or no permission?)")


def pins_of(lock: Path) -> list[str]:
    """The lines of a lock: NAME==VERSION."""
    return [line for line in lock.read_text(encoding="utf-8").splitlines() if _PACKAGE.fullmatch(line)]


def is_for_rules(pin: str) -> bool:
    """Whether the rules import the package."""
    return pin.partition("==")[0] in RULES_NEED


def install(place: Place, part: str, pins: list[str], board: Board, tools: Tools) -> None:
    """Install exactly these; what is there in the right version stays. Raises SetUpFailed."""
    log, asked = place.log(part.replace(" ", "-")), place.venv / f"{part.replace(' ', '-')}.txt"
    asked.write_text("\n".join(pins) + "\n", encoding="utf-8")
    # A lock names all that is needed. Python compiles what it imports when it does; of most files it never will.
    command = [str(place.python), "-m", "pip", "install", "--no-deps", "--no-compile", "--progress-bar", "off", "-r", str(asked)]
    environ = {"PIP_RETRIES": "2", **os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ.setdefault("DIST_EXTRA_CONFIG", str(place.requirements("build.cfg")))
    board.at(part, f"0 of {len(pins)}")
    if not tools.run(command, log, environ, _follow_pip(part, len(pins), board)):
        error = next((line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("ERROR")), "")
        raise SetUpFailed(f"cannot install the Python packages (no network?): {error[:300]}; all of it: {log}")
    asked.unlink()
    board.done(part)


def _follow_pip(part: str, count: int, board: Board) -> Callable[[str], None]:
    """Turns pip's lines into progress."""
    met: set[str] = set()

    def follow(line: str) -> None:
        words = line.split()
        if line.startswith(("Collecting ", "Requirement already satisfied: ")):
            met.add(line)
            name = re.split("[= ]", line.removeprefix("Requirement already satisfied: ").removeprefix("Collecting "))[0]
            board.at(part, f"{len(met)} of {count}: {name}")
        elif line.startswith("  Building wheel for ") and line.endswith("started"):
            board.at(part, f"building {words[3]}")
        elif line.startswith("Installing collected packages"):
            board.at(part, f"installing {len(words) - 3}")

    return follow


def import_all(place: Place, board: Board, tools: Tools) -> None:
    """Import what the commands import: it works, and Python has compiled it before somebody waits. Raises SetUpFailed."""
    board.at("imports", "are tried")
    log = place.log("imports")
    environ = {**os.environ, "PYTHONPATH": str(place.root)}
    if not tools.run([str(place.python), "-P", "-m", "tools.environment.imports"], log, environ, lambda line: None):
        raise SetUpFailed(f"the installed packages do not work together: {last_line(log)}; all of it: {log}")
    board.done("imports")
