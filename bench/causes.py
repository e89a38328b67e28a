"""How often charged causes are the true ones: `python -m bench.causes [--into docs/design/causes.md]`.

With tests, tests/support and tests/sim in PYTHONPATH.

Simulates the shipped scenarios of minutes, folds each log as lanes do, without Spark, and prints the confusion matrix of whole logs and
that of a log with 5 % of its events lost, as Markdown. --into writes them between the lines <!-- begin confusion --> and
<!-- end confusion --> of a page.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from folded import confusion_of_scenario

from sim.confusion import Confusion, markdown, written_into
from sim.scenario import SHIPPED

#: Scenarios of days.
LONG = ("large", "quota_")
LOSSES = "losses"


def together(scenarios: Iterable[str]) -> Confusion:
    """All of them as one."""
    whole = Confusion()
    for name in scenarios:
        whole.add(confusion_of_scenario(name))
        print(f"{name}: {100 * whole.main_right / whole.backlog:.2f} % right until now", flush=True)
    return whole


def main() -> None:
    """Prints both matrices, or writes them into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, metavar="PAGE", help="write the matrices into this page")
    args = parser.parse_args()
    short = sorted(path.stem for path in SHIPPED.glob("*.toml") if not path.stem.startswith(LONG))
    whole = together(name for name in short if name != LOSSES)
    lossy = together([LOSSES])
    text = (
        f"Whole logs ({len(short) - 1} scenarios), in seconds of backlog:\n\n{markdown(whole)}\n"
        f"The log of `losses`: 5 % of its events are lost, others damaged, repeated and late:\n\n{markdown(lossy)}"
    )
    if args.into is None:
        print(text)
    else:
        args.into.write_text(written_into(args.into.read_text(encoding="utf-8"), "confusion", text), encoding="utf-8")


if __name__ == "__main__":
    main()
