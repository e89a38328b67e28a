"""What is kept and shown of the runs: medians by side, ratios, and what one more row costs."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bench.peers.sides import LOAD, OURS, SIDES, Run

#: What is measured of a run → where a run has it.
MEASURES: dict[str, Callable[[Run], float]] = {
    "wall_s": lambda run: run.figures.wall_s,
    "cpu_s": lambda run: run.figures.cpu_s,
    "job_s": lambda run: run.job_s,
    "peak_mb": lambda run: run.figures.peak_mb,
}
#: Logs between which only the number of rows differs.
BY_ROWS = "rows-"


def result_of(log: Mapping[str, Any], runs: Mapping[str, Sequence[Run]], checked: Mapping[str, int]) -> dict[str, Any]:
    """One log: its facts, rows compared, every round's figures by side.

    `ratios` are of medians, by each of OURS and LOAD against every other side: above 1 where the other took more.
    """
    sides = {name: {measure: [of(run) for run in rounds] for measure, of in MEASURES.items()} for name, rounds in runs.items()}
    ratios = {
        mine: {
            name: {measure: round(statistics.median(side[measure]) / statistics.median(sides[mine][measure]), 2) for measure in MEASURES}
            for name, side in sides.items()
            if name != mine
        }
        for mine in (OURS.name, LOAD.name)
    }
    return {**log, "rows_compared": dict(checked), "sides": sides, "ratios": ratios}


def cost_by_rows(found: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """By side: µs of a row more and seconds without rows, a line through the medians over logs of different size; empty below two sizes."""
    logs = [one for one in found if one["log"].startswith(BY_ROWS)]
    if len({one["rows"] for one in logs}) < 2:
        return {}
    costs: dict[str, dict[str, float]] = {}
    for side in SIDES:
        costs[side.name] = {}
        for measure in ("wall_s", "cpu_s", "job_s"):
            seconds = [statistics.median(one["sides"][side.name][measure]) for one in logs]
            per_row_s, fixed_s = np.polyfit([one["rows"] for one in logs], seconds, 1)
            costs[side.name][f"{measure.removesuffix('_s')}_us_per_row"] = round(float(per_row_s) * 1e6, 2)
            costs[side.name][f"{measure.removesuffix('_s')}_fixed_s"] = round(float(fixed_s), 1)
    return costs


def table_of(result: Mapping[str, Any]) -> str:
    """The result as a Markdown table: medians of seconds and memory by log and side, and the cost by rows."""
    lines = ["| log | rows | side | wall s | cpu s | job s | MB | rows compared |", "|---|---|---|---|---|---|---|---|"]
    for one in result["logs"]:
        for name, side in one["sides"].items():
            wall, cpu, job, memory = (statistics.median(side[measure]) for measure in MEASURES)
            compared = sum(one["rows_compared"].values())
            lines.append(f"| {one['log']} | {one['rows']:,} | {name} | {wall:.1f} | {cpu:.1f} | {job:.1f} | {memory:,.0f} | {compared:,} |")
    for name, costs in result["by_rows"].items():
        lines.append(f"{name}: " + ", ".join(f"{what} {value}" for what, value in costs.items()))
    return "\n".join(lines)
