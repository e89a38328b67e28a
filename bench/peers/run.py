"""Run the comparison: `python -m bench.peers.run [--rows M…] [--topics N…] [--skew M…] [--rounds N] [--capture FILE] [--store]`.

Each log goes through ours by Spark, ours as `load` does it, a Spark job on the JVM and a Flink job, each a process of its own on two
cores, in turn. Before a log's figures count, the tables of all are compared with ours, row for row: any difference ends the run.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.check import check, described
from bench.peers.flink_source import make_plain_copy
from bench.peers.logs import FACTS
from bench.peers.sides import CORES, OURS, ROOT, SIDES, Run, check_built, run_side
from bench.peers.summary import cost_by_rows, result_of, table_of

RESULTS = Path(__file__).parent / "results.json"
CAPTURE = ROOT / "demo" / "y_incident" / "events.jsonl.gz"
#: Copies of the capture (78,969 events) that come nearest to a million rows.
COPIES_OF_A_MILLION = 12.75


def names_of(rows: Sequence[float], topics: Sequence[int], skew: Sequence[float]) -> list[str]:
    """The logs (bench/peers/logs.py) of so many million rows, idle topics, and million rows of which one broker has half."""

    def copies(millions: float) -> int:
        return max(2, round(millions * COPIES_OF_A_MILLION))

    even = (2 * round(copies(m) / 2) for m in skew)
    return [*(f"rows-{copies(m)}" for m in rows), *(f"topics-{n}" for n in topics), *(f"skew-{n}" for n in even)]


def made(folder: Path, capture: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Make the logs, in a process that is gone when the first side starts; returns their facts."""
    command = [sys.executable, "-m", "bench.peers.logs", str(folder), *names, "--capture", str(capture)]
    subprocess.run(command, check=True, cwd=ROOT, env=dict(OURS.environment))
    facts: list[dict[str, Any]] = json.loads((folder / FACTS).read_text())
    return facts


def measured(log: dict[str, Any], folder: Path, rounds: int) -> dict[str, Any]:
    """All sides over one log: one round in which they are compared and which is counted as well, then the others, the order turned."""
    source = Path(log.pop("warehouse").removeprefix("file:"))
    make_plain_copy(source)
    runs: dict[str, list[Run]] = {side.name: [] for side in SIDES}
    checked: dict[str, int] = {}
    for number in range(rounds):
        first = number % len(SIDES)
        targets = {}
        for side in (*SIDES[first:], *SIDES[:first]):
            targets[side.name] = folder / f"{log['log']}-{number}" / side.name
            runs[side.name].append(run_side(side, source, targets[side.name]))
            print(f"  {log['log']} round {number}: {side.name} {runs[side.name][-1]}", flush=True)
        if number == 0:
            checked = compared_rows(targets)
        shutil.rmtree(folder / f"{log['log']}-{number}")
    return result_of(log, runs, checked)


def compared_rows(targets: dict[str, Path]) -> dict[str, int]:
    """Rows of each table in which all sides agree. Raises SystemExit if one does not."""
    rows: dict[str, int] = {}
    for name in sorted(targets.keys() - {OURS.name}):
        for comparison in check(targets[OURS.name], targets[name]):
            print(f"  {name}: {described(comparison)}", flush=True)
            if not comparison.equal:
                raise SystemExit(f"{name} differs from ours: nothing is counted")
            rows[comparison.table] = comparison.rows
    return rows


def main() -> None:
    """Read arguments, run, print, store."""
    parser = argparse.ArgumentParser(prog="bench.peers.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="*", default=[1, 2, 4, 8], metavar="M", help="million rows")
    parser.add_argument(
        "--topics", type=int, nargs="*", default=[1_000, 10_000, 100_000], metavar="N", help="idle topics beside 2 million rows"
    )
    parser.add_argument("--skew", type=float, nargs="*", default=[2, 8], metavar="M", help="million rows, of which one broker has half")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--capture", type=Path, default=CAPTURE, help="events of one broker and epoch; the demo's, if not given")
    parser.add_argument("--store", action="store_true", help=f"keep the result in {RESULTS.relative_to(ROOT)}")
    args = parser.parse_args()
    check_built()
    folder = Path(tempfile.mkdtemp(prefix="dispatch-peers-"))
    try:
        logs = made(folder, args.capture.resolve(), names_of(args.rows, args.topics, args.skew))
        found = [measured(log, folder, args.rounds) for log in logs]
    finally:
        shutil.rmtree(folder)
    result = {"cores": CORES, "rounds": args.rounds, "logs": found, "by_rows": cost_by_rows(found)}
    print(table_of(result))
    if args.store:
        RESULTS.write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
