"""Compiled rules: compiling them while a first micro-batch waits would look like a hang."""

import os
from pathlib import Path

from jobs.environment.board import Board
from jobs.environment.packages import is_for_rules, pins_of
from jobs.environment.place import Place, SetUpFailed
from jobs.environment.tool import Tools, last_line
from pipeline.rules_cache import rules_cache

PART = "rules"


def cache_parent(place: Place) -> str:
    """NUMBA_CACHE_DIR, as spark-submit.sh exports it."""
    return os.environ.get("NUMBA_CACHE_DIR") or str(place.venv / "numba-cache")


def content(place: Place) -> str:
    """What complete rules were made of and for: numba finds them again by the sources, their place, and its own version."""
    pins = [pin for pin in pins_of(place.requirements("run.lock")) if is_for_rules(pin)]
    folder = rules_cache(cache_parent(place))
    return f"{folder}{'' if Path(folder).is_dir() else ' (gone)'} of {place.root} with {' '.join(pins)}"


def make_rules(place: Place, board: Board, tools: Tools) -> None:
    """Compile what is not compiled yet. Raises SetUpFailed."""
    board.at(PART, "are compiled")
    environ = {**os.environ, "PYTHONPATH": str(place.root), "NUMBA_CACHE_DIR": cache_parent(place), "NUMBA_DISABLE_JIT": "0"}
    log = place.log(PART)
    command = [str(place.python), "-P", "-m", "jobs.environment.compiling"]
    if not tools.run(command, log, environ, lambda line: board.at(PART, f"compiled: {line}")):
        raise SetUpFailed(f"the rules do not compile: {last_line(log)}; all of it: {log}")
    place.stamp(PART, content(place))
    board.done(PART)
