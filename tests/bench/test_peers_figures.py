"""The figures of the comparison with peers: what a process took, medians, ratios, the cost of a row; and which logs are made."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.peers.run import names_of
from bench.peers.sides import Run
from bench.peers.summary import cost_by_rows, result_of, table_of
from bench.watched import Figures, run_watched

BURNS_HALF_A_SECOND = "import time\nwhile time.process_time() < 0.5: pass"


def log(rows: int, seconds: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    """The result of a log that took each side these seconds, round by round."""
    runs = {side: [Run(Figures(s + 1, 2 * s, 100), s) for s in each] for side, each in seconds.items()}
    return result_of({"log": f"rows-{rows}", "rows": rows}, runs, {"limiter_windows": 4, "subscription_throttle": 6})


def test_ratios_are_of_medians_and_above_one_where_the_peer_is_slower() -> None:
    found = log(10, {"ours": (1, 9, 2), "load": (1, 1, 1), "spark": (4, 5, 1), "flink": (1, 1, 1)})
    assert found["ratios"]["ours"]["spark"] == {"wall_s": 1.67, "cpu_s": 2.0, "job_s": 2.0, "peak_mb": 1.0}
    assert found["ratios"]["ours"]["flink"]["job_s"] == 0.5
    assert {name: ratio["job_s"] for name, ratio in found["ratios"]["load"].items()} == {"ours": 2.0, "spark": 4.0, "flink": 1.0}
    assert found["sides"]["ours"]["wall_s"] == [2, 10, 3]


def test_the_cost_of_a_row_is_apart_from_what_a_run_costs_anyway() -> None:
    few = log(1_000_000, {"ours": (3,), "load": (1,), "spark": (5,), "flink": (2,)})
    many = log(3_000_000, {"ours": (5,), "load": (1,), "spark": (11,), "flink": (2,)})
    costs = cost_by_rows([few, many])
    assert (costs["ours"]["job_us_per_row"], costs["ours"]["job_fixed_s"]) == (1.0, 2.0)
    assert (costs["spark"]["cpu_us_per_row"], costs["flink"]["wall_us_per_row"]) == (6.0, 0.0)
    assert cost_by_rows([few]) == {}


def test_the_table_has_a_line_for_every_log_and_side() -> None:
    one = log(2_000, {"ours": (3,), "load": (1,), "spark": (5,), "flink": (2,)})
    lines = table_of({"logs": [one], "by_rows": {}}).splitlines()
    assert lines[2:] == [
        "| rows-2000 | 2,000 | ours | 4.0 | 6.0 | 3.0 | 100 | 10 |",
        "| rows-2000 | 2,000 | load | 2.0 | 2.0 | 1.0 | 100 | 10 |",
        "| rows-2000 | 2,000 | spark | 6.0 | 10.0 | 5.0 | 100 | 10 |",
        "| rows-2000 | 2,000 | flink | 3.0 | 4.0 | 2.0 | 100 | 10 |",
    ]


def test_seconds_of_a_process_are_those_of_all_it_starts(tmp_path: Path) -> None:
    nested = f"import subprocess, sys; print('began', flush=True); subprocess.run([sys.executable, '-c', {BURNS_HALF_A_SECOND!r}])"
    found = run_watched([sys.executable, "-c", nested], os.environ, tmp_path / "out", cores=1)
    assert 0.3 < found.cpu_s < 5
    assert found.wall_s > 0.4
    assert found.peak_mb > 1
    assert (tmp_path / "out").read_text() == "began\n"


def test_a_process_that_fails_shows_the_end_of_its_output(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with 3:\nbegan\nno such log"):
        run_watched(["sh", "-c", "echo no such log >&2; echo began; exit 3"], os.environ, tmp_path / "out", cores=1)


def test_logs_are_named_by_what_makes_them() -> None:
    assert names_of([1, 8], [1_000], [2]) == ["rows-13", "rows-102", "topics-1000", "skew-26"]
    assert names_of([], [], [1]) == ["skew-12"], "half of the copies are one broker's"
