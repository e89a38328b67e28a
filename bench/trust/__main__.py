"""How often is a verdict right? `python -m bench.trust`, with tests and tests/sim in PYTHONPATH (docs/causes.md).

Every log of a known truth is loaded, without Spark, and asked as `explain` would be, at many instants and of stretches of several lengths.
Printed: per cause that was said and per level of confidence, how many answers were right, wrong, unknown; then every answer that is not.
--store keeps the counts (bench/trust/baseline.json) and writes the table of docs/causes.md.
"""

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.trust.corpus import cases
from bench.trust.run import tally_of
from bench.trust.tally import broken_promises, cases_of, markdown, stored, together
from sim.confusion import written_into

HERE = Path(__file__).resolve().parent
BASELINE, PAGE = HERE / "baseline.json", HERE.parents[1] / "docs" / "causes.md"


def main() -> None:
    """Asks, prints, stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="parts of names of logs (default: all)")
    parser.add_argument("--store", action="store_true", help="keep the counts, and write the table into docs/causes.md; of all logs only")
    parser.add_argument("--all-cases", action="store_true", help="print every case that is not right, not three of each kind and log")
    args = parser.parse_args()
    if args.store and args.logs:
        parser.error("--store is for all logs")
    names = [name for name in cases() if not args.logs or any(part in name for part in args.logs)]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")) as workers:
        tallies = {}
        for name, tally in zip(names, workers.map(tally_of, names), strict=True):
            tallies[name] = tally
            print(f"{name}: {tally.asked} answers; {'; '.join(broken_promises(tally)) or 'as promised'}", flush=True)
    whole = together(tallies.values())
    text = stored(tallies)
    table = markdown(whole, len(tallies))
    print(f"\n{table}")
    print("\n".join(cases_of(whole)))
    if args.store:
        BASELINE.write_text(text, encoding="utf-8")
        PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8"), "trust", table), encoding="utf-8")


if __name__ == "__main__":
    main()
