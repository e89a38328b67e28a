"""How near what-if is to a real broker: `python -m bench.what_if_broker [--keep DIR] [--kinds PART …] [--store]`.

Each pair is one load on a real broker twice, with one setting changed. The first log is loaded, and predicts the second life. Lives that
are in the kept folder already are not recorded again. --store writes the table into docs/guide/what-if.md.
"""

import argparse
import tempfile
from pathlib import Path

from bench.what_if_broker.kinds import KINDS, lives
from bench.what_if_broker.predict import Records
from bench.what_if_broker.record import record_life
from bench.what_if_broker.table import markdown
from bench.what_if_pairs.__main__ import PAGE
from sim.confusion import written_into


def main() -> None:
    """Records, predicts, prints, stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep logs and figures there, and take those that are there")
    parser.add_argument("--kinds", nargs="+", default=[""], metavar="PART", help="parts of names of kinds (default: all)")
    parser.add_argument("--store", action="store_true", help="write the table into docs/guide/what-if.md")
    args = parser.parse_args()
    kinds = [kind for kind in KINDS if any(part in kind.name for part in args.kinds)]
    wanted = {(kind.side(side).broker, side) for kind in kinds for side in ("a", "b")}
    with tempfile.TemporaryDirectory(prefix="dispatch-pairs-") as name:
        folder = args.keep or Path(name)
        for broker, side in lives():
            if (broker, side) in wanted and not (folder / f"{broker}-{side}").exists():
                print(f"recording {broker}, side {side}", flush=True)
                record_life(broker, side, folder / f"{broker}-{side}")
        records = Records(folder)
        table = markdown([records.outcome_of(kind) for kind in kinds])
    print(f"\n{table}")
    if args.store:
        PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8"), "what_if_broker", table), encoding="utf-8")


if __name__ == "__main__":
    main()
