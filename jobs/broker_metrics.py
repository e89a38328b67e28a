"""The six throttle counters of every subscription as a Pulsar broker publishes them on /metrics/."""

import re
from dataclasses import dataclass

LEVELS = ("broker", "topic", "subscription")
DIMENSIONS = ("msg", "bytes")
#: (dimension, level) in the order in which both sides are shown.
COUNTERS = tuple((dimension, level) for dimension in DIMENSIONS for level in LEVELS)

_LINE = re.compile(r"^pulsar_subscription_dispatch_throttled_(msg|bytes)_events\{([^}]*)\}\s+(\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, order=True)
class SubscriptionName:
    """Full topic name and subscription."""

    topic: str
    subscription: str


def throttle_counters(metrics: str) -> dict[SubscriptionName, dict[tuple[str, str], int]]:
    """Subscription → (dimension, level) → count, of every subscription in the text; a counter without a line is 0."""
    counters: dict[SubscriptionName, dict[tuple[str, str], int]] = {}
    for line in metrics.splitlines():
        found = _LINE.match(line)
        if found:
            labels = dict(_LABEL.findall(found.group(2)))
            name = SubscriptionName(labels["topic"], labels["subscription"])
            counters.setdefault(name, dict.fromkeys(COUNTERS, 0))[(found.group(1), labels["reason"])] = int(float(found.group(3)))
    return counters
