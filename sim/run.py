"""A scenario and a seed to a log with its truth: OUT/events/*.jsonl.zst, OUT/truth.jsonl.zst, OUT/facts.json."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sim.broker import run_broker
from sim.files import LineFiles
from sim.process import Host
from sim.scenario import Scenario

EVENTS, TRUTH, FACTS = "events", "truth", "facts.json"


def simulate(scenario: Scenario, seed: int, out: Path, report: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Write everything into `out`, which must be new or empty; the facts. The same scenario and seed give the same bytes."""
    (out / EVENTS).mkdir(parents=True)
    lives: list[dict[str, Any]] = []
    with LineFiles(out, TRUTH, numbered=False) as truth:
        for number in range(scenario.brokers.count):
            lives += run_broker(Host(scenario, seed, number), out / EVENTS, truth)
            report(f"broker {number + 1} of {scenario.brokers.count}: {sum(life['events'] for life in lives):,} events so far")
        intervals = truth
    facts = {"title": scenario.title, "seed": seed, "intervals": intervals.lines, "lives": lives}
    (out / FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return facts
