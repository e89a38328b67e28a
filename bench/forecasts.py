"""Do forecasts come true? `python -m bench.forecasts`, with tests, tests/support and tests/sim in PYTHONPATH (docs/guide/simulator.md).

Simulates the shipped scenarios of a day, each with several seeds, folds the logs as lanes do, without Spark, asks the reading room for the
scores of their forecasts, and prints them as Markdown. --into-… writes a table between the lines <!-- begin forecasts --> and
<!-- end forecasts --> of a page.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from captured_warehouse import warehouse_of_logs
from simulated import run_into, shipped

from pipeline.query.room import ReadingRoom
from sim.confusion import written_into
from sim.scenario import Scenario

#: Scenario → how its day is called.
DAYS = {"quota_steady": "steady", "quota_wave": "daily wave", "quota_burst": "bursts", "quota_dying_consumer": "a consumer that dies"}
SEEDS = (1, 2)
WORDS = ("hit", "early", "late", "false")
#: What is forecast → its scores, counted.
SCORES = {
    "quotas": "SELECT quota_type AS what, score, in_band, count(*) AS forecasts FROM quota_forecast_scores GROUP BY ALL",
    "catch_up": "SELECT 'waiting' AS what, score, in_band, count(*) AS forecasts FROM catch_up_scores GROUP BY ALL",
}


def scores_of(scenario: Scenario, seed: int, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Counted scores of the forecasts of one simulated log, by what was forecast."""
    run = run_into(scenario, folder / "log", seed)
    logs = (run.events(life) for life in run.facts["lives"])
    room = ReadingRoom(warehouse_of_logs(logs, folder / "warehouse"))
    return {name: room.rows(query) for name, query in SCORES.items()}


def table(scores: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Markdown: a row per day and what was forecast, and one of all. Forecasts that nothing decided are left out."""
    words: dict[tuple[str, str], Counter[str]] = {}
    banded: dict[tuple[str, str], Counter[bool]] = {}
    for day, row in scores:
        for key in ((day, row["what"]), ("all", row["what"])):
            words.setdefault(key, Counter())[row["score"]] += row["forecasts"]
            if row["in_band"] is not None:
                banded.setdefault(key, Counter())[row["in_band"]] += row["forecasts"]
    lines = ["| day | of | " + " | ".join(WORDS) + " | in the band |", "|---|---|" + "--:|" * (len(WORDS) + 1)]
    for key in sorted(words, key=lambda key: (key[1], key[0] == "all", key[0])):
        judged = banded.get(key, Counter())
        share = f"{100 * judged[True] / judged.total():.0f} % of {judged.total():,}" if judged else ""
        lines.append("| " + " | ".join([*key, *(f"{words[key][word]:,}" for word in WORDS), share]) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints both tables, or writes them into their pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into-quotas", type=Path, metavar="PAGE", help="write the scores of quota forecasts into this page")
    parser.add_argument("--into-catch-up", type=Path, metavar="PAGE", help="write the scores of catching up into this page")
    args = parser.parse_args()
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {name: [] for name in SCORES}
    for scenario, day in DAYS.items():
        for seed in SEEDS:
            with tempfile.TemporaryDirectory(prefix="dispatch-forecasts-") as folder:
                for name, rows in scores_of(shipped(scenario), seed, Path(folder)).items():
                    found[name] += [(day, row) for row in rows]
            print(f"{day}, seed {seed}", flush=True)
    for name, page in (("quotas", args.into_quotas), ("catch_up", args.into_catch_up)):
        if page is None:
            print(table(found[name]))
        else:
            page.write_text(written_into(page.read_text(encoding="utf-8"), "forecasts", table(found[name])), encoding="utf-8")


if __name__ == "__main__":
    main()
