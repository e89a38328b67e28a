"""One side of `bench.cause_cost`: `python -m bench.fold_without ROUNDS [PACKAGE FOLDER]` prints seconds of the processor by log, as JSON.

With a PACKAGE the fold has all packages of rules but that one. It is rendered into FOLDER, as fold.py is, before anything asks for it.
"""

import importlib.util
import json
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path

from pipeline.rules import packages

FOLD = "pipeline.rules.fold"


def take_out(package: str, folder: Path) -> None:
    """From now on there is no such package, and `pipeline.rules.fold` is the pass without it.

    Raises SystemExit if there is no such package, or if a fold with it is loaded already.
    """
    left = tuple(one for one in packages.PACKAGES if one.name != package)
    if len(left) == len(packages.PACKAGES):
        raise SystemExit(f"there is no package of rules {package}")
    if FOLD in sys.modules:
        raise SystemExit("the fold is loaded already")
    packages.PACKAGES = left
    file = folder / "fold.py"
    file.write_text(import_module("pipeline.rules.render").rendered(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(FOLD, file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[FOLD] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def seconds_by_log(rounds: int) -> dict[str, tuple[float, int]]:
    """(median seconds, rows) of each log of `bench.fold`, each round in a lane of its own after one that is not counted."""
    fold = import_module("bench.fold")
    found = {}
    for name, make in fold.logs():
        log, taken_s = make(), []
        for _ in range(rounds + 1):
            lane, began_s = fold.lane_before(log), time.process_time()
            fold.fold_into(lane, log.measured)
            taken_s.append(time.process_time() - began_s)
        found[name] = (statistics.median(taken_s[1:]), len(log.measured))
    return found


if __name__ == "__main__":
    if len(sys.argv) > 2:
        take_out(sys.argv[2], Path(sys.argv[3]))
    print(json.dumps(seconds_by_log(int(sys.argv[1]))))
