"""The truth of a simulated life: backlogs by the second, reads that limiters lowered, entries that quotas took. No rule made it."""

import json
from dataclasses import dataclass
from pathlib import Path

from bench.trust.backlogs import Named, backlogs
from sim.files import read_lines
from sim.run import EVENTS, simulate
from sim.scenario import Scenario


@dataclass(frozen=True)
class Lived:
    """By subscription: `backlog` of each second since 1970; `throttled` and `evicted` as the simulated broker counted them.

    `published`: entries, of all topics.
    """

    backlog: dict[Named, dict[int, int]]
    throttled: dict[Named, int]
    evicted: dict[Named, int]
    published: int


def live(scenario: Scenario, seed: int, folder: Path) -> Lived:
    """Simulate into `folder`, and read its truth."""
    facts = simulate(scenario, seed, folder)
    (life,) = facts["lives"]
    events = [json.loads(line) for path in sorted((folder / EVENTS).iterdir()) for line in read_lines(path)]
    named = {(one["topic"], one["subscription"]): one for one in life["subscriptions"]}
    return Lived(
        {key: {second: sample.backlog for second, sample in samples.items()} for key, samples in backlogs(events).items()},
        {key: sum((one["counters"] or {}).values()) for key, one in named.items()},
        {key: one["evicted_entries"] for key, one in named.items()},
        sum(event["type"] == "publish" for event in events),
    )
