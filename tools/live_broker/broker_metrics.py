"""What a Pulsar broker publishes: throttle counters, evictions of topics, durations of quota checks, paused connections."""

import re
from dataclasses import dataclass

LEVELS = ("broker", "topic", "subscription")
DIMENSIONS = ("msg", "bytes")
#: (dimension, level) in the order in which both sides are shown.
COUNTERS = tuple((dimension, level) for dimension in DIMENSIONS for level in LEVELS)

_LINE = re.compile(r"^pulsar_subscription_dispatch_throttled_(msg|bytes)_events\{([^}]*)\}\s+(\S+)")
_EVICTIONS = re.compile(r"^pulsar_storage_backlog_quota_exceeded_evictions_total\{([^}]*)\}\s+(\S+)")
_CHECKS = re.compile(r"^pulsar_storage_backlog_quota_check_duration_seconds_bucket\{([^}]*)\}\s+(\S+)")
_CONNECTIONS = re.compile(r"^pulsar_broker_connection_rate_limit_count_total\{([^}]*)\}\s+(\S+)")
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


def eviction_counters(metrics: str) -> dict[tuple[str, str], int]:
    """(full topic name, `size` or `time`) → eviction rounds since the topic was loaded, of every topic in the text."""
    counters: dict[tuple[str, str], int] = {}
    for found in filter(None, map(_EVICTIONS.match, metrics.splitlines())):
        labels = dict(_LABEL.findall(found.group(1)))
        if "topic" in labels:
            counters[labels["topic"], labels["quota_type"]] = int(float(found.group(2)))
    return counters


def check_buckets(metrics: str) -> dict[str, int]:
    """Upper border in seconds as the broker writes it (`5.0` … `+Inf`) → quota checks that took at most that long."""
    found = filter(None, map(_CHECKS.match, metrics.splitlines()))
    return {dict(_LABEL.findall(match.group(1)))["le"]: int(float(match.group(2))) for match in found}


def connection_counters(otel: str) -> dict[str, int]:
    """`paused` and `resumed` → how often connections were, out of the broker's OpenTelemetry figures; one without a line is 0."""
    counters = {"paused": 0, "resumed": 0}
    for found in filter(None, map(_CONNECTIONS.match, otel.splitlines())):
        operation = dict(_LABEL.findall(found.group(1)))["pulsar_connection_rate_limit_operation_name"]
        if operation in counters:
            counters[operation] += int(float(found.group(2)))
    return counters
