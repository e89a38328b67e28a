"""The families that the tables know, in the order in which Pulsar 4.0.8 prints them."""

from pipeline.serving.metrics import broker_queries, queries
from pipeline.serving.metrics.family import Family, Series, Source, double_number, long_number
from schemas.packages.backlog.quotas import BUCKET_NAMES, BUCKETS_S

_CHECK = "the newest quota check of its topic, after the actions of the broker at it"
_CLUSTER = (("cluster", "cluster"),)
_NAMESPACE = (*_CLUSTER, ("namespace", "namespace"))
_TOPIC = (*_NAMESPACE, ("topic", "topic"))
TOPICS = Source("topics", queries.TOPICS, _TOPIC, _CHECK)
SUBSCRIPTIONS = Source("subscriptions", queries.SUBSCRIPTIONS, (*_TOPIC, ("subscription", "subscription")), _CHECK)
NAMESPACES = Source("namespaces", queries.NAMESPACES, _NAMESPACE, "the newest quota checks of its topics")
CHECK_DURATIONS = Source("check durations", broker_queries.CHECK_DURATIONS, _CLUSTER, "the newest finished window with a check")
EVICTIONS = Source("evictions", broker_queries.EVICTIONS, _CLUSTER, "the newest quota checks")
CONNECTIONS = Source(
    "connections", broker_queries.CONNECTIONS, (("pulsar_cluster", "cluster"),), "the newest finished window of each connection"
)

_LEVELS = ("subscription", "topic", "broker")
_QUOTA_TYPES = ("size", "time")
_BORDERS = (*(f"{bound}.0" for bound in BUCKETS_S), "+Inf")


def _gauge(name: str, source: Source, column: str, meaning: str, labels: tuple[tuple[str, str], ...] = ()) -> Family:
    return Family(name, "gauge", source, (Series(column, labels),), long_number, meaning)


def _throttled(dimension: str) -> Family:
    """Of the newest finished window in which the dispatcher did anything."""
    series = tuple(Series(f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open", (("reason", level),)) for level in _LEVELS)
    what = "messages" if dimension == "msg" else "bytes"
    return Family(
        f"pulsar_subscription_dispatch_throttled_{dimension}_events", "gauge", SUBSCRIPTIONS, series, long_number,
        f"PIP-406: reads whose {what} a limiter lowered, since the dispatcher was opened; as of its newest finished window",
    )  # fmt: skip


def _evicted(source: Source) -> Family:
    series = tuple(Series(f"evictions_{kind}", (("quota_type", kind),)) for kind in _QUOTA_TYPES)
    return Family(
        "pulsar_storage_backlog_quota_exceeded_evictions_total", "gauge", source, series, long_number,
        "PIP-323: eviction rounds since the topic was loaded",
    )  # fmt: skip


_OF_BROKERS = (
    Family(
        "pulsar_storage_backlog_quota_check_duration_seconds", "histogram", CHECK_DURATIONS,
        (
            *(Series(name, (("le", border),), "_bucket") for name, border in zip(BUCKET_NAMES, _BORDERS, strict=True)),
            Series(BUCKET_NAMES[-1], suffix="_count"),
            Series("sum_s", suffix="_sum"),
        ),
        double_number, "PIP-323: quota checks by their whole seconds since the round began, since the broker started",
    ),
    Family(
        "pulsar_broker_storage_backlog_quota_exceeded_evictions_total", "gauge", EVICTIONS,
        tuple(Series(kind, (("quota_type", kind),)) for kind in _QUOTA_TYPES),
        long_number, "PIP-323: eviction rounds of the topics that the brokers have now, each since it was loaded",
    ),
)  # fmt: skip
_OF_OPEN_TELEMETRY = (
    Family(
        "pulsar_broker_connection_rate_limit_count_total", "counter", CONNECTIONS,
        tuple(Series(name, (("pulsar_connection_rate_limit_operation_name", name),)) for name in ("paused", "resumed")),
        double_number, "PIP-434: times that reading from a connection was paused, or went on, since the broker started",
    ),
)  # fmt: skip

#: With a series for each topic and subscription.
OF_TOPICS = (
    _OF_BROKERS[0],
    _gauge("pulsar_producers_count", TOPICS, "producers", "connected producers"),
    _OF_BROKERS[1],
    _throttled("bytes"),
    _gauge("pulsar_storage_backlog_quota_limit_time", TOPICS, "limit_s", "age limit in seconds, −1 = none"),
    _gauge(
        "pulsar_subscription_back_log_no_delayed", SUBSCRIPTIONS, "back_log_no_delayed",
        "entries not acknowledged, without those held for later delivery; known where none can be held",
    ),
    _gauge(
        "pulsar_storage_backlog_age_seconds", TOPICS, "age_s",
        "PIP-323: age of the oldest entry by the broker's rule, −1 = none; at the newest event of the broker's finished windows",
    ),
    _evicted(TOPICS),
    _gauge("pulsar_subscription_back_log", SUBSCRIPTIONS, "back_log", "entries not acknowledged"),
    _gauge("pulsar_storage_backlog_quota_limit", TOPICS, "limit_size", "size limit in bytes, negative = none"),
    _gauge("pulsar_msg_backlog", TOPICS, "msg_backlog", "entries not acknowledged, added up over the subscriptions"),
    _gauge("pulsar_subscriptions_count", TOPICS, "subscriptions", "subscriptions and readers"),
    _throttled("msg"),
    _gauge("pulsar_storage_backlog_size", TOPICS, "backlog_size", "bytes from the slowest durable cursor on"),
    *_OF_OPEN_TELEMETRY,
)  # fmt: skip

#: As with exposeTopicLevelMetricsInPrometheus=false: the sums of namespaces. No age, no limits, no throttling: the broker has none here.
OF_NAMESPACES = (
    _OF_BROKERS[0],
    _gauge("pulsar_producers_count", NAMESPACES, "producers", "connected producers"),
    _OF_BROKERS[1],
    _evicted(NAMESPACES),
    _gauge("pulsar_msg_backlog", NAMESPACES, "msg_backlog", "entries not acknowledged, added up", (("remote_cluster", "local"),)),
    _gauge("pulsar_subscriptions_count", NAMESPACES, "subscriptions", "subscriptions and readers"),
    _gauge("pulsar_storage_backlog_size", NAMESPACES, "backlog_size", "bytes, added up"),
    *_OF_OPEN_TELEMETRY,
)
