"""How near what-if is to the truth: `python -m bench.what_if_pairs [--pairs N] [--seed N] [--kinds PART …] [--store]`.

Each pair: a random life is simulated, and the same demand under one other setting. The first is loaded and asked what the second would be.
Printed: a line for each pair that is beyond its bound or not answered, then the table. --store writes it into docs/guide/what-if.md.
"""

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path

from bench.what_if_pairs.kinds import KINDS
from bench.what_if_pairs.run import Outcome, outcome_of
from bench.what_if_pairs.table import markdown
from sim.confusion import written_into

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "what-if.md"


def main() -> None:
    """Plays, prints, stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200, metavar="N", help="how many, the kinds in turn (default: 200)")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="of the first pair; the next has the next one (default: 7)")
    parser.add_argument("--kinds", nargs="+", default=[""], metavar="PART", help="parts of names of kinds (default: all)")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="pairs at once")
    parser.add_argument("--all", action="store_true", help="a line for each pair, also for those within their bounds")
    parser.add_argument("--store", action="store_true", help="write the table into docs/guide/what-if.md")
    args = parser.parse_args()
    kinds = list(islice(cycle([kind for kind in KINDS if any(part in kind for part in args.kinds)]), args.pairs))
    seeds = range(args.seed, args.seed + args.pairs)
    outcomes = []
    with ProcessPoolExecutor(args.processes, multiprocessing.get_context("spawn")) as workers:
        for outcome in workers.map(outcome_of, kinds, seeds):
            outcomes.append(outcome)
            if args.all or outcome.verdict is None or outcome.verdict.faults or not outcome.verdict.is_in_band:
                print(_line(outcome), flush=True)
    table = markdown(outcomes)
    print(f"\n{table}")
    if args.store:
        PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8"), "what_if_pairs", table), encoding="utf-8")


def _line(outcome: Outcome) -> str:
    begin = f"{outcome.kind}, seed {outcome.seed}, {' '.join(outcome.texts)}: "
    if outcome.verdict is None:
        return begin + f"no answer: {'; '.join(outcome.refused)}"
    verdict = outcome.verdict
    area = "next to none" if verdict.area is None else f"{verdict.area:.1%}"
    return begin + f"{'; '.join(verdict.faults) or 'as bound'}; backlog {area}, in band {verdict.inside:.0%}"


if __name__ == "__main__":
    main()
