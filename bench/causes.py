"""How often charged causes are the true ones: `python -m bench.causes RUN=WAREHOUSE … [--into docs/causes.md]`.

RUN is a folder of `./spark-submit.sh simulate`, WAREHOUSE what `stream --once --drain` made of its events. Prints the confusion matrix
of all pairs as Markdown; --into writes it between the lines <!-- begin confusion --> and <!-- end confusion --> of a page.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pipeline.reading.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse
from sim.confusion import Confusion, clocks, compared, markdown, written_into
from sim.files import read_lines
from sim.run import FACTS, TRUTH

ROWS = """SELECT broker, epoch, topic, subscription, unix_micros(window_start) AS window_start, unix_micros(window_end) AS window_end,
  cause, level, dimension, ns FROM subscription_causes"""


def confusion_of(run: Path, rows: Iterable[Mapping[str, Any]]) -> Confusion:
    """The truth of a simulated run against rows of `subscription_causes` (windows in µs)."""
    facts = json.loads((run / FACTS).read_text(encoding="utf-8"))
    truth = (json.loads(line) for line in read_lines(run / f"{TRUTH}.jsonl.zst"))
    return compared(truth, rows, clocks(facts))


def main() -> None:
    """Prints the matrix, or writes it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="RUN=WAREHOUSE", help="a simulated run, and the warehouse of its events")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="write the matrix into this page")
    args = parser.parse_args()
    whole = Confusion()
    for pair in args.pairs:
        run, equals, warehouse = pair.partition("=")
        if not equals:
            parser.error(f"{pair}: expected RUN=WAREHOUSE")
        whole.add(confusion_of(Path(run), ReadingRoom(Warehouse(warehouse)).rows(ROWS)))
    table = markdown(whole)
    if args.into is None:
        print(table)
    else:
        args.into.write_text(written_into(args.into.read_text(encoding="utf-8"), "confusion", table), encoding="utf-8")


if __name__ == "__main__":
    main()
