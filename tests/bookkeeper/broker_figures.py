"""A real broker's own throttle counters: from its `/metrics/` text and from its admin stats."""

import json
import re
from pathlib import Path

from bookkeeper.dispatchers import SIX, throttled

#: (topic, subscription) → table column → value.
ThrottleCounters = dict[tuple[str, str], dict[str, int]]

_SAMPLE = re.compile(r"^pulsar_subscription_dispatch_throttled_(msg|bytes)_events\{(.*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def throttle_counters_from_metrics(path: Path) -> ThrottleCounters:
    """The six counters of every subscription in a `metrics.txt`."""
    counters: ThrottleCounters = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        sample = _SAMPLE.match(line)
        if sample:
            dimension, labels, value = sample[1], dict(_LABEL.findall(sample[2])), float(sample[3])
            key = (labels["topic"], labels["subscription"])
            counters.setdefault(key, {})[throttled(labels["reason"], dimension)] = int(value)
    return counters


def throttle_counters_from_stats(path: Path) -> ThrottleCounters:
    """The same from a `stats.json` (admin stats per topic); system topics are not in it."""
    return {
        (topic, sub): {throttled(level, dimension): figures[_getter(level, dimension)] for level, dimension in SIX}
        for topic, stats in json.loads(path.read_text(encoding="utf-8")).items()
        for sub, figures in stats["subscriptions"].items()
    }


def _getter(level: str, dimension: str) -> str:
    return f"dispatchThrottled{dimension.capitalize()}EventsBy{level.capitalize()}Limit"
