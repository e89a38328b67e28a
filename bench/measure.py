"""Rounds, ratios and memory: A and B in turn, because machines are noisy; the ratio of each pair is what counts."""

import json
import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

BASELINE = Path(__file__).parent / "baseline.json"


@dataclass
class Pair:
    """Seconds of both sides per round; the first round warms up and is not counted."""

    reference_s: list[float] = field(default_factory=list)
    ours_s: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Our throughput over the reference's, round by round."""
        return [reference / ours for reference, ours in zip(self.reference_s, self.ours_s, strict=True)]

    @property
    def spread(self) -> dict[str, float]:
        """What is stored of the ratios: median, least, most."""
        return {
            "ratio": round(statistics.median(self.ratios), 3),
            "ratio_least": round(min(self.ratios), 3),
            "ratio_most": round(max(self.ratios), 3),
        }


def alternate(
    reference: Callable[[int], None], ours: Callable[[int], None], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> Pair:
    """Run both `rounds` times in turn after one uncounted round, the order swapped every time. Each gets the round's number.

    `clock` gives seconds: time that passes, or of one core (`time.process_time`).
    """
    pair = Pair()
    for number in range(rounds + 1):
        sides = [("reference", reference), ("ours", ours)]
        for name, side in sides if number % 2 == 0 else reversed(sides):
            began = clock()
            side(number)
            seconds = clock() - began
            print(f"  round {number}{' (warm-up)' if number == 0 else ''}: {name} {seconds:.2f} s", flush=True)
            if number:
                (pair.reference_s if name == "reference" else pair.ours_s).append(seconds)
    return pair


def summary(pair: Pair, rows: int) -> dict[str, Any]:
    """What is stored and printed: thousand rows/s of both sides (medians) and the ratio (median, least, most).

    `ratio_to_best_reference` holds our median against the reference's quickest round: its JVM is sometimes twice as slow for a round.
    """
    return {
        "rows": rows,
        "reference_krows_s": round(rows / statistics.median(pair.reference_s) / 1000, 1),
        "ours_krows_s": round(rows / statistics.median(pair.ours_s) / 1000, 1),
        **pair.spread,
        "ratio_to_best_reference": round(min(pair.reference_s) / statistics.median(pair.ours_s), 3),
    }


def apart_from_fixed_costs(many: Pair, many_rows: int, few: Pair, few_rows: int) -> dict[str, Any]:
    """What a row more costs on both sides: the difference of two sizes over the difference of their rows; what remains is fixed.

    `ratio_per_row` is our throughput over the reference's for rows alone, `…_fixed_s` the seconds of a run without rows (medians).
    """
    found: dict[str, Any] = {}
    us_per_row = {}
    for side in ("reference", "ours"):
        long_s, short_s = (statistics.median(getattr(pair, f"{side}_s")) for pair in (many, few))
        per_row_s = (long_s - short_s) / (many_rows - few_rows)
        us_per_row[side] = per_row_s * 1e6
        found[f"{side}_us_per_row"] = round(us_per_row[side], 2)
        found[f"{side}_fixed_s"] = round(short_s - few_rows * per_row_s, 2)
    return found | {"ratio_per_row": round(us_per_row["reference"] / us_per_row["ours"], 3)}


def cost_of_state(few: dict[str, Any], many: dict[str, Any]) -> dict[str, float]:
    """Of two results with `ours_s`, `rows` and `state_bytes`: the cost is a · rows + c · state bytes, so two runs give both.

    µs per row and seconds per MB of compressed state; c holds what goes with that state, too: a round of checks over all of its topics.
    """
    a, c = np.linalg.solve([[one["rows"], one["state_bytes"]] for one in (few, many)], [few["ours_s"], many["ours_s"]])
    return {"us_per_row": round(a * 1e6, 2), "c_s_per_state_mb": round(c * 1e6, 3)}


def against_baseline(name: str, found: dict[str, Any], *, store: bool) -> str:
    """One line that compares the ratio with the stored one; with `store`, the new one is kept."""
    kept = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    before = kept.get(name, {}).get("ratio")
    if store:
        BASELINE.write_text(json.dumps({**kept, name: found}, indent=2, sort_keys=True) + "\n")
    if "ratio" not in found:
        return f"{name}: nothing to compare"
    return f"{name}: ratio {found['ratio']}" + ("" if before is None else f" (baseline {before})")


class PeakMemory:
    """Largest resident memory of this process's Java and Python children while the block runs, in MB."""

    def __init__(self) -> None:
        self.java_mb = 0
        self.python_worker_mb = 0
        self._done = threading.Event()

    def __enter__(self) -> "PeakMemory":
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            for pid, command, resident_mb in family(os.getpid()):
                if pid == os.getpid():
                    continue
                if command == "java":
                    self.java_mb = max(self.java_mb, resident_mb)
                elif command.startswith("python"):
                    self.python_worker_mb = max(self.python_worker_mb, resident_mb)


def family(root: int) -> list[tuple[int, str, int]]:
    """(process, command, resident MB) of the process `root` and every one below it."""
    parent_of: dict[int, int] = {}
    facts: dict[int, tuple[str, int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line)
        except OSError:  # it ended while we looked
            continue
        pid = int(folder.name)
        parent_of[pid] = int(status["PPid"])
        facts[pid] = (status["Name"], int(status.get("VmRSS", "0 kB").split()[0]) // 1024)
    below = {root}
    while True:
        more = {pid for pid, parent in parent_of.items() if parent in below} - below
        if not more:
            return [(pid, *facts[pid]) for pid in below if pid in facts]
        below |= more


def processor_s(session: int) -> float:
    """Seconds of one core that the processes of a session have used. Spark's daemon of Python workers has a group of its own."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        if int(fields[3]) == session:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
