"""Write the event log of simulated brokers, and beside it the true cause of every standstill. Needs no Spark.

SCENARIO is a file (docs/guide/simulator.md), or the name of a shipped one. OUT gets events/*.jsonl.zst, truth.jsonl.zst and facts.json.
The same scenario and seed give the same bytes.
"""

import argparse
import time
from pathlib import Path

from pipeline.faults import BadConfig
from sim.scenario import SHIPPED, BadScenario, read_scenario

EXAMPLES = """examples:
  ./spark-submit.sh simulate mixed --out ./simulated/mixed
  ./spark-submit.sh simulate ./scenario.toml --seed 7 --out ./simulated/mine
  ./spark-submit.sh validate ./simulated/mixed/events
  ./spark-submit.sh stream --once --drain --events ./simulated/mixed/events --warehouse ./warehouse/mixed

shipped: """ + " ".join(sorted(path.stem for path in SHIPPED.glob("*.toml")))  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `simulate`."""
    parser.add_argument("scenario", metavar="SCENARIO", help="TOML file, or the name of a shipped scenario")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="where chance begins (default: 1)")
    parser.add_argument("--out", required=True, metavar="DIR", help="new or empty folder")


def run(args: argparse.Namespace) -> int:
    """Simulates, and prints how far it is; BadConfig for a scenario or a folder that cannot work."""
    out = Path(args.out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadConfig(f"--out {out}: must be a new or empty folder")
    try:
        scenario = read_scenario(scenario_file(args.scenario))
    except BadScenario as problem:
        raise BadConfig(f"scenario {args.scenario}: {problem}") from None
    from sim.run import simulate

    began_s = time.monotonic()
    facts = simulate(scenario, args.seed, out, lambda line: print(line, flush=True))
    took_s = time.monotonic() - began_s
    events = sum(life["events"] for life in facts["lives"])
    written = f"{events:,} events, {facts['intervals']:,} intervals of truth"
    print(f"{scenario.title}: {written} in {took_s:.1f} s ({events / took_s:,.0f} events/s)")
    return 0


def scenario_file(name: str) -> Path:
    """The file of a scenario: a path, or the name of a shipped one."""
    shipped = SHIPPED / f"{name}.toml"
    return shipped if shipped.exists() else Path(name)
