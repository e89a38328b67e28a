"""How often is a verdict right? `python -m bench.trust`, with tests, tests/support and tests/sim in PYTHONPATH (docs/design/causes.md).

Every log of a known truth is loaded, without Spark, and asked as `explain` would be, at many instants and of stretches of several lengths.
Printed: per cause that was said and per level of confidence, how many answers were right, wrong, unknown; then every answer that is not.
--store keeps the counts (bench/trust/baseline.json) and writes the table of docs/design/causes.md. Counts of logs that were not asked now
stay.
"""

import argparse
import multiprocessing
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.trust.corpus import cases
from bench.trust.run import tally_of
from bench.trust.tally import FEW, Tally, broken_promises, cases_of, markdown, restored, stored, together
from sim.confusion import written_into

HERE = Path(__file__).resolve().parent
BASELINE, PAGE = HERE / "baseline.json", HERE.parents[1] / "docs" / "design" / "causes.md"


def main() -> None:
    """Asks, prints, stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="parts of names of logs (default: all)")
    parser.add_argument("--store", action="store_true", help="keep the counts, and write the table into docs/design/causes.md")
    parser.add_argument("--all-cases", action="store_true", help="print every case that is not right, not three of each kind")
    args = parser.parse_args()
    names = [name for name in cases() if not args.logs or any(part in name for part in args.logs)]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")) as workers:
        tallies = {}
        for name, tally in zip(names, workers.map(tally_of, names), strict=True):
            tallies[name] = tally
            print(f"{name}: {tally.asked} answers; {'; '.join(broken_promises(tally)) or 'as promised'}", flush=True)
    whole = together(tallies.values())
    print(f"\n{markdown(whole, len(tallies))}")
    print("\n".join(cases_of(whole, None if args.all_cases else FEW)))
    if args.store:
        store(tallies)


def store(tallies: Mapping[str, Tally]) -> None:
    """Keep these logs' counts beside those of the others that there still are, and write the table of all into the page."""
    before = restored(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    kept = {name: tally for name, tally in {**before, **tallies}.items() if name in cases()}
    BASELINE.write_text(stored(kept), encoding="utf-8")
    table = markdown(together(kept.values()), len(kept))
    PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8"), "trust", table), encoding="utf-8")


if __name__ == "__main__":
    main()
