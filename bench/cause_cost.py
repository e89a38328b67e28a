"""What the package of causes costs the fold: all logs of `bench.fold`, without the package (the reference) and with it (ours).

numba compiles the fold for the packages that there are. So each side runs in processes of its own, in turn. The same program is up to a
fifth slower in one process than in another; so there are several, and each gives the median of a few rounds.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.measure import Pair, alternate

PACKAGE = "cause"
ROUNDS_OF_A_PROCESS = 3
#: Of each log: seconds of the processor, and rows.
Taken = dict[str, tuple[float, int]]


def bench_cause_cost(folder: Path, rounds: int) -> dict[str, Any]:
    """ns an event of both sides of every log, and the ratios; `ratio` is that of all logs together."""
    without: dict[int, Taken] = {}
    complete: dict[int, Taken] = {}
    # What is compiled without the package stays in the bench's folder.
    apart = {"NUMBA_CACHE_DIR": str(folder / "numba-cache")}
    alternate(
        lambda number: without.update({number: _of_a_process([PACKAGE, str(folder)], apart)}),
        lambda number: complete.update({number: _of_a_process([], {})}),
        rounds,
    )
    return {**{log: _result(without, complete, [log]) for log in complete[0]}, **_result(without, complete, [*complete[0]])}


def _result(without: dict[int, Taken], complete: dict[int, Taken], logs: list[str]) -> dict[str, Any]:
    """Of these logs together, by round; round 0 warms up."""

    def seconds(side: dict[int, Taken]) -> list[float]:
        return [sum(taken[log][0] for log in logs) for number, taken in side.items() if number > 0]

    pair, rows = Pair(seconds(without), seconds(complete)), sum(complete[0][log][1] for log in logs)
    return {
        "rows": rows,
        "without_ns": round(statistics.median(pair.reference_s) / rows * 1e9, 1),
        "with_ns": round(statistics.median(pair.ours_s) / rows * 1e9, 1),
        **pair.spread,
    }


def _of_a_process(arguments: list[str], environ: dict[str, str]) -> Taken:
    """What one process of a side measures."""
    command = [sys.executable, "-m", "bench.fold_without", str(ROUNDS_OF_A_PROCESS), *arguments]
    printed = subprocess.run(command, env={**os.environ, **environ}, stdout=subprocess.PIPE, text=True, check=True).stdout
    taken: Taken = json.loads(printed.splitlines()[-1])
    return taken
