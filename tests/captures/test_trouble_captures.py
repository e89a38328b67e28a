"""Logs of real brokers in trouble, and what was so from when to when, by their manifests: charged second by second.

tests/fixtures/captures has of each log what causes need. Its `seq` is counted anew.
"""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from capture_events import capture_events
from lane_tables import SETTINGS, tables_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures"
SECOND_US = 1_000_000
#: (capture, number of its truth) → causes, and the least share of entries × time that they have.
TRUTHS: dict[tuple[str, int], tuple[set[str], float]] = {
    # "one slow consumer of a Key_Shared subscription blocks its keys, and the look-ahead"
    ("ac_key_shared_blocked", 0): ({"keys_blocked"}, 0.9),
    # "a transaction is open (to commit)", "(to abort)"
    ("ai_transactions", 0): ({"transaction"}, 0.95),
    ("ai_transactions", 1): ({"transaction"}, 0.95),
}


@cache
def charges(capture: str) -> list[dict[str, Any]]:
    """Rows of `subscription_causes` with windows of a second."""
    events = capture_events(FIXTURES / capture, until_as_of=False)
    return tables_of(events, settings=replace(SETTINGS, window_ms=1_000))["subscription_causes"]


def shares(capture: str, topic: str, subscription: str, from_us: int, to_us: int) -> dict[str, float]:
    """Causes of the whole seconds between, by entries × time."""
    weights: Counter[str] = Counter()
    for row in charges(capture):
        is_within = from_us <= row["window_start"] and row["window_start"] + SECOND_US <= to_us
        if is_within and (row["topic"], row["subscription"]) == (topic, subscription):
            weights[row["cause"]] += row["entry_us"]
    return {cause: weight / weights.total() for cause, weight in weights.items()}


@pytest.mark.parametrize(("capture", "number"), TRUTHS)
def test_what_the_manifest_says_is_the_cause_while_it_says_so(capture: str, number: int) -> None:
    truth = json.loads((FIXTURES / capture / "manifest.json").read_text())["truth"][number]
    causes, least = TRUTHS[capture, number]
    found = shares(capture, truth["topic"], truth["subscription"], truth["from_us"], truth["to_us"])
    assert sum(found.get(cause, 0) for cause in causes) >= least, found


def test_every_truth_of_the_manifests_is_looked_at() -> None:
    captures = {capture for capture, _ in TRUTHS}
    told = {
        (capture, n) for capture in captures for n in range(len(json.loads((FIXTURES / capture / "manifest.json").read_text())["truth"]))
    }
    assert told == set(TRUTHS)


def test_a_broker_in_trouble_is_not_said_to_have_slow_storage_nor_a_fault() -> None:
    for capture in {capture for capture, _ in TRUTHS}:
        weights: Counter[str] = Counter()
        for row in charges(capture):
            weights[row["cause"]] += row["entry_us"]
        assert weights["stuck"] == weights["unknown"] == 0
        assert weights["reading"] < 0.05 * weights.total(), weights
