"""Simulations of what was done to real brokers, and how both logs go: what comes after what, and how often."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from capture_events import capture_events
from simulated import run_into

from sim.scenario import scenario_of

CAPTURED = Path(__file__).parents[1] / "fixtures" / "captures"
US_PER_S = 1_000_000
Events = list[dict[str, Any]]

#: `ac_key_shared_blocked`: 16 keys, 60 messages a second, a fast consumer and one of 300 ms a message; the look-ahead is 40.
KEY_SHARED = {
    "title": "as the capture",
    "duration_s": 30,
    "brokers": {"look_ahead_per_consumer": 40, "look_ahead_per_subscription": 40},
    "topics": [
        {
            "name": "persistent://real/ac/keys",
            "publish": {"entries_per_s": 60, "keys": 16},
            "subscriptions": [
                {
                    "name": "ks",
                    "type": "Key_Shared",
                    "consumers": [{"prefetch": 500}, {"prefetch": 5, "msgs_per_s": 3.3, "ack_every_ms": 10}],
                }
            ],
        }
    ],
}
#: `ai_transactions`: 20 messages a second, and a transaction that stays open for 12 s.
TRANSACTION = {
    "title": "as the capture",
    "duration_s": 30,
    "topics": [
        {
            "name": "persistent://real/ai/t",
            "publish": {"entries_per_s": 20},
            "transactions": [{"from_s": 10, "to_s": 22, "entries_per_s": 8}],
            "subscriptions": [{"name": "s", "consumers": [{}]}],
        }
    ],
}


def real(name: str) -> Events:
    """Events of a capture."""
    return capture_events(CAPTURED / name, until_as_of=False)


def simulated(table: dict[str, Any], folder: Path) -> Events:
    """Events of a simulation of one process."""
    run = run_into(scenario_of(table), folder)
    (life,) = run.facts["lives"]
    return run.events(life)


def between(events: Events, subscription: str, from_s: float, to_s: float) -> Events:
    """Those of a subscription in that time of the log."""
    first = events[0]["ts"]
    return [one for one in events if one.get("sub") == subscription and from_s <= (one["ts"] - first) / US_PER_S < to_s]


def named(event: dict[str, Any]) -> str:
    """Its type; of a read that came back also whether it was one of the replay queue, and whether it brought nothing."""
    words = (event["type"], "replay" if event.get("replay") else "", "nothing" if event.get("entries") == 0 else "")
    return " ".join(word for word in words if word)


def per_s(events: Events, seconds: float) -> dict[str, float]:
    """Events a second by name, and entries a second of those that have entries."""
    found: Counter[str] = Counter()
    for event in events:
        found[named(event)] += 1
        found[f"entries of {named(event)}"] += event.get("entries", 0)
    return {name: count / seconds for name, count in found.items()}


def steps(events: Events, of: Iterable[str] = ("read", "read_done", "dispatch")) -> set[tuple[str, str]]:
    """Which of these events comes next after which; what happens once in a hundred steps or less is left out."""
    names = [named(event) for event in events if event["type"] in of]
    pairs = Counter(pairwise(names))
    return {pair for pair, count in pairs.items() if count > len(names) / 100}
