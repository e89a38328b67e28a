"""Compiled rules: compiling them while a first micro-batch waits would look like a hang.

They are known by what they were made of, and so is whether they are complete: several checkouts may share an environment.
"""

import os
import sys
from pathlib import Path

from pipeline.rules_cache import COMPLETE, rules_cache
from tools.environment.board import Board
from tools.environment.packages import is_for_rules, pins_of
from tools.environment.place import Place, SetUpFailed
from tools.environment.tool import Tools, last_line

PART = "rules"
#: Tests compile callers of their own, of rules that else only rules call. Kept, these take 150 MB, and are not compiled again.
KEEP_PARTS = "--keep-parts"


def cache_parent(place: Place) -> str:
    """NUMBA_CACHE_DIR, as spark-submit.sh exports it."""
    return os.environ.get("NUMBA_CACHE_DIR") or str(place.venv / "numba-cache")


def are_complete(place: Place) -> bool:
    """Whether all rules of these sources are there, compiled for what runs them here."""
    try:
        return _mark(place).read_text(encoding="utf-8") == _made_for(place)
    except FileNotFoundError:
        return False


def note_complete(place: Place) -> None:
    """Note that they are."""
    _mark(place).parent.mkdir(parents=True, exist_ok=True)
    _mark(place).write_text(_made_for(place), encoding="utf-8")


def _mark(place: Place) -> Path:
    return Path(rules_cache(cache_parent(place))) / COMPLETE


def _made_for(place: Place) -> str:
    """The folder is named after the sources; numba looks for its own version and Python's, too."""
    pins = [pin for pin in pins_of(place.requirements("run.lock")) if is_for_rules(pin)]
    return f"Python {sys.version_info.major}.{sys.version_info.minor} {' '.join(pins)}"


def make_rules(place: Place, board: Board, tools: Tools, *, for_tests: bool) -> None:
    """Compile what is not compiled yet. `for_tests`: keep also what only compiled rules need. Raises SetUpFailed."""
    board.at(PART, "are compiled")
    environ = {**os.environ, "PYTHONPATH": str(place.root), "NUMBA_CACHE_DIR": cache_parent(place), "NUMBA_DISABLE_JIT": "0"}
    log = place.log(PART)
    command = [str(place.python), "-P", "-m", "tools.environment.compiling", *([KEEP_PARTS] if for_tests else [])]
    if not tools.run(command, log, environ, lambda line: board.at(PART, f"compiled: {line}")):
        raise SetUpFailed(f"the rules do not compile: {last_line(log)}; all of it: {log}")
    note_complete(place)
    board.done(PART)
