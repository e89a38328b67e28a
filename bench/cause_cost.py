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

from bench.measure import Pair

PACKAGE = "cause"
ROUNDS_OF_A_PROCESS = 3


def bench_cause_cost(folder: Path, rounds: int) -> dict[str, Any]:
    """ns an event of both sides of every log, and the ratios; `ratio` is that of all logs together."""
    pairs: dict[str, Pair] = {}
    rows: dict[str, int] = {}
    for number in range(rounds + 1):
        for side in ("reference_s", "ours_s") if number % 2 == 0 else ("ours_s", "reference_s"):
            for log, (seconds, count) in _measured(side == "ours_s", folder).items():
                print(
                    f"  round {number}{' (warm-up)' if number == 0 else ''}: {side[:-2]} {log} {seconds / count * 1e9:.0f} ns", flush=True
                )
                rows[log] = count
                if number:
                    getattr(pairs.setdefault(log, Pair()), side).append(seconds)
    return {
        **{log: _result(pair, rows[log]) for log, pair in pairs.items()},
        **_result(_together([*pairs.values()]), sum(rows.values())),
    }


def _together(pairs: list[Pair]) -> Pair:
    """Of all logs, round by round."""
    references, ours = (pair.reference_s for pair in pairs), (pair.ours_s for pair in pairs)
    return Pair([sum(taken) for taken in zip(*references, strict=True)], [sum(taken) for taken in zip(*ours, strict=True)])


def _result(pair: Pair, rows: int) -> dict[str, Any]:
    return {
        "rows": rows,
        "without_ns": round(statistics.median(pair.reference_s) / rows * 1e9, 1),
        "with_ns": round(statistics.median(pair.ours_s) / rows * 1e9, 1),
        "ratio": round(statistics.median(pair.ratios), 3),
        "ratio_least": round(min(pair.ratios), 3),
        "ratio_most": round(max(pair.ratios), 3),
    }


def _measured(with_package: bool, folder: Path) -> dict[str, tuple[float, int]]:
    """One process of a side. What it compiles without the package stays in the bench's folder."""
    command, environ = [sys.executable, "-m", "bench.fold_without", str(ROUNDS_OF_A_PROCESS)], dict(os.environ)
    if not with_package:
        command += [PACKAGE, str(folder)]
        environ["NUMBA_CACHE_DIR"] = str(folder / "numba-cache")
    printed = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, tuple[float, int]] = json.loads(printed.splitlines()[-1])
    return found
