"""`python -m tools.environment.compiling [--keep-parts]`: compile the rules into numba's cache. Prints `K of N` after each."""

import multiprocessing
import os
import shutil
import signal
import sys
from functools import cache
from typing import Any

from pipeline.rules.replay.loop import run
from pipeline.rules.replay.rows import empty_replay
from pipeline.rules.warm_up import compile_ends, rules_of_the_fold, warm_up
from pipeline.rules_cache import parts_cache
from tools.environment.rules import KEEP_PARTS

#: A process that compiles takes 0.4 GB.
MOST_PROCESSES = 4
_ENDS, _REPLAY = -1, -2

_rules = cache(rules_of_the_fold)


def compile_one(number: int) -> None:
    """Compile one rule of the fold, or (_ENDS) what is called besides the fold, or (_REPLAY) the replays of what-if."""
    if number == _ENDS:
        compile_ends()
    elif number == _REPLAY:
        run(empty_replay())
    else:
        rule, types = _rules()[number]
        rule.compile(types)


def compile_all(*, keep_parts: bool = False) -> None:
    """Compile everything; then what only rules call is not needed any more, but by tests (KEEP_PARTS)."""
    numbers = [_ENDS, _REPLAY, *range(len(_rules()))]
    count = len(numbers) + 1
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MOST_PROCESSES)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for done, _ in enumerate(pool.imap_unordered(compile_one, numbers), 1):
            print(f"{done} of {count}", flush=True)
    warm_up()
    print(f"{count} of {count}", flush=True)
    if not keep_parts:
        shutil.rmtree(parts_cache(os.environ.get("NUMBA_CACHE_DIR", "")), ignore_errors=True)


def _end(_number: int, _frame: Any) -> None:
    """On SIGTERM the pool's processes end before us."""
    sys.exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    compile_all(keep_parts=KEEP_PARTS in sys.argv[1:])
