"""Correctness before speed: all sides over one log or more, and every row compared with ours.

    python -m bench.peers.prove FOLDER [--events GLOB…] [--random N]

Each GLOB is one log: its files through `stream --once --drain` into a warehouse, then through the other sides. `--random N` makes one
more log of N random brokers, which keep the contract and spare nothing: overflows, clock steps, things met without their beginning,
two epochs (tests/bookkeeper/random_log.py). Ends with 1 if a row differs.
"""

import argparse
import json
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.check import check, described
from bench.peers.flink_source import make_plain_copy
from bench.peers.sides import FLINK, LOAD, SPARK, check_built, run_side
from driver.session import build_session
from driver.streaming import run_stream
from pipeline.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]


def random_log(folder: Path, brokers: int) -> Path:
    """Write a log of random brokers, one file each; returns the glob of its files."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support")]  # where the generator finds its own modules
    random_logs = import_module("bookkeeper.random_log")
    from hypothesis import HealthCheck, Phase, given, settings

    folder.mkdir(parents=True)
    made: list[list[dict[str, Any]]] = []

    @settings(
        max_examples=brokers,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(random_logs.logs())
    def gather(events: list[dict[str, Any]]) -> None:
        made.append(events)

    with warnings.catch_warnings(action="ignore"):
        gather()
    for number, events in enumerate(made):
        lines = (json.dumps({**event, "broker": f"broker-{number}:8080"}, ensure_ascii=False) for event in events)
        (folder / f"events-{number:04}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "*.jsonl"


def prove(spark: Any, events: str, folder: Path) -> bool:
    """Whether all sides make of the log what our streaming job makes of it."""
    source = folder / "ours"
    if run_stream(spark, events, str(source), load_settings(None, [], {}), once=True, drain=True) != 0:
        raise SystemExit(f"{events}: our job did not come to its end")
    make_plain_copy(source)
    equal = True
    for side in (LOAD, SPARK, FLINK):
        run_side(side, source, folder / side.name)
        for comparison in check(source, folder / side.name):
            print(f"{events}: {side.name}: {described(comparison)}", flush=True)
            equal &= comparison.equal
    return equal


def main() -> int:
    """Read arguments, prove each log, print; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="bench.peers.prove", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder to be made, for warehouses and the peers' tables")
    parser.add_argument("--events", nargs="*", default=[], metavar="GLOB")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    args = parser.parse_args()
    check_built()
    args.folder.mkdir(parents=True)
    logs = [*args.events, *([str(random_log(args.folder.resolve() / "random", args.random))] if args.random else [])]
    spark = build_session("peers-prove", {"spark.master": "local[2]"})
    found = [prove(spark, events, args.folder.resolve() / str(number)) for number, events in enumerate(logs)]
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
