"""What lanes charge to simulated logs, without Spark, and how well that agrees with the truth."""

from typing import Any

from lane_tables import Table, tables_of
from simulated import Run, shipped_run

from sim.confusion import Confusion, clocks, compared


def tables_of_lives(run: Run) -> list[tuple[dict[str, Any], dict[str, Table]]]:
    """(facts, outcome tables) of each process of a broker."""
    return [(life, tables_of(run.events(life))) for life in run.facts["lives"]]


def confusion_of_tables(run: Run, lives: list[tuple[dict[str, Any], dict[str, Table]]]) -> Confusion:
    """Truth against the rows of `subscription_causes`."""
    return compared(run.truth, (row for _, tables in lives for row in tables["subscription_causes"]), clocks(run.facts))


def confusion_of_scenario(name: str) -> Confusion:
    """The same of a shipped scenario, with seed 1."""
    run = shipped_run(name)
    return confusion_of_tables(run, tables_of_lives(run))
