"""The families of `/metrics/clean`, in the order of their lines."""

from pipeline.serving.clean_metrics import job_queries, queries
from pipeline.serving.clean_metrics.family import COUNTER, GAUGE, INFO, Family
from pipeline.serving.metrics.family import Series, Source

_BROKER = (("cluster", "cluster"), ("broker", "broker"))
_TOPIC = (*_BROKER, ("namespace", "namespace"), ("topic", "topic"))
_SUBSCRIPTION = (*_TOPIC, ("subscription", "subscription"))
_CAUSE = (("cause", "cause"), ("level", "level"), ("dimension", "dimension"), ("reason", "unknown_reason"))
_WINDOW = "the newest finished window of its broker"

SUBSCRIPTIONS = Source("subscriptions", queries.SUBSCRIPTIONS, _SUBSCRIPTION, f"{_WINDOW}; ages and forecasts of the newest quota check")
CAUSES = Source("causes", queries.CAUSES, (*_SUBSCRIPTION, *_CAUSE), "all finished windows")
THROTTLED = Source("throttles", queries.THROTTLED, _SUBSCRIPTION, "the newest finished window of each dispatcher")
STUCK = Source("stuck dispatchers", queries.STUCK, _SUBSCRIPTION, _WINDOW)
QUOTAS = Source("quotas", queries.QUOTAS, (*_TOPIC, ("quota_type", "quota_type")), "the newest quota check of its topic")
EVICTIONS = Source("evictions", queries.EVICTIONS, _TOPIC, "the newest quota check of its topic")
LIMITERS = Source(
    "limiters",
    queries.LIMITERS,
    (
        *_BROKER,
        ("level", "level"),
        ("namespace", "namespace"),
        ("topic", "topic"),
        ("subscription", "subscription"),
        ("dimension", "dimension"),
    ),
    _WINDOW,
)
BROKERS = Source("brokers", job_queries.BROKERS, _BROKER, _WINDOW)
CHANNELS = Source("connections", job_queries.CHANNELS, _BROKER, _WINDOW)
JOB = Source("the job", job_queries.JOB, (("query", "query"),), "the newest micro-batch")
BALANCE = Source("events in the job", job_queries.BALANCE, (), "the newest micro-batch")
QUARANTINE = Source("quarantine", job_queries.QUARANTINE, (("reason", "reason"),), "the newest micro-batch")


def _one(column: str) -> tuple[Series, ...]:
    return (Series(column),)


def _each(label: str, **columns: str) -> tuple[Series, ...]:
    """A series for each value of the label, from its column."""
    return tuple(Series(column, ((label, value),)) for value, column in columns.items())


_OF_SUBSCRIPTIONS = (
    Family("dispatch_subscription", INFO, "", "Subscriptions of the log, a cheap source of variables", SUBSCRIPTIONS, _one("one")),
    Family(
        "dispatch_subscription_status",
        GAUGE,
        "",
        "1 under the status of the subscription, as in why",
        SUBSCRIPTIONS,
        _one("one"),
        (("status", "status"),),
    ),
    Family("dispatch_subscription_backlog_entries", GAUGE, "entries", "Entries not acknowledged", SUBSCRIPTIONS, _one("backlog")),
    Family(
        "dispatch_subscription_waiting_entries",
        GAUGE,
        "entries",
        "Entries neither delivered nor held for later delivery",
        SUBSCRIPTIONS,
        _one("waiting"),
    ),
    Family(
        "dispatch_subscription_main_cause_ratio",
        GAUGE,
        "ratio",
        "Share of the main cause in entries x time of the newest window; none of a cause that began to hold since then",
        SUBSCRIPTIONS,
        _one("share"),
        _CAUSE,
    ),
    Family(
        "dispatch_subscription_main_cause_since_timestamp_seconds",
        GAUGE,
        "seconds",
        "Since when the cause holds the subscription, or is its main one; only of subscriptions that are behind",
        SUBSCRIPTIONS,
        _one("since_s"),
        _CAUSE,
    ),
    Family(
        "dispatch_subscription_oldest_age_seconds",
        GAUGE,
        "seconds",
        "Age of the oldest entry that the subscription has not acknowledged, at the newest quota check",
        SUBSCRIPTIONS,
        _one("age_s"),
    ),
    Family(
        "dispatch_subscription_current_in_seconds",
        GAUGE,
        "seconds",
        "Time from the newest event of the broker until the subscription is current: expected, and the band of eight cases of ten",
        SUBSCRIPTIONS,
        _each("bound", expected="current_in_s", earliest="current_in_least_s", latest="current_in_most_s"),
    ),
    Family(
        "dispatch_subscription_evicted_entries",
        COUNTER,
        "entries",
        "Entries lost to evictions by a quota since the cursor was opened",
        SUBSCRIPTIONS,
        _one("evicted_entries"),
    ),
    Family(
        "dispatch_subscription_backlog_seconds",
        COUNTER,
        "seconds",
        "Time with a backlog, by the cause that it is charged to",
        CAUSES,
        _one("backlog_s"),
    ),
    Family(
        "dispatch_subscription_backlog_entry_seconds",
        COUNTER,
        "seconds",
        "Entries in the backlog x seconds, by the cause that they are charged to",
        CAUSES,
        _one("entry_s"),
    ),
    Family(
        "dispatch_subscription_throttled_reads",
        COUNTER,
        "reads",
        "Reads that a limiter lowered since the dispatcher was opened: binding (more waited than was granted), or nominal",
        THROTTLED,
        _each("effect", binding="reads_binding", nominal="reads_nominal"),
    ),
    Family(
        "dispatch_subscription_blocked_seconds",
        COUNTER,
        "seconds",
        "Time since the dispatcher was opened in which its latest read was blocked, by the level of the limiter",
        THROTTLED,
        _each("level", broker="blocked_by_broker_s", topic="blocked_by_topic_s", subscription="blocked_by_subscription_s"),
    ),
    Family(
        "dispatch_subscription_stuck_seconds",
        GAUGE,
        "seconds",
        "Time that the dispatcher stood still though nothing held it back; only while it does",
        STUCK,
        _one("stuck_s"),
    ),
)

_OF_QUOTAS = (
    Family(
        "dispatch_quota_used_ratio",
        GAUGE,
        "ratio",
        "Use of a backlog quota: size or age, divided by its limit",
        QUOTAS,
        _one("share_of_limit"),
    ),
    Family(
        "dispatch_quota_breach_in_seconds",
        GAUGE,
        "seconds",
        "Time from the newest event of the broker until the quota is exceeded: expected, and the band of eight cases of ten; 0: is, or due",
        QUOTAS,
        _each("bound", expected="breach_in_s", earliest="breach_in_least_s", latest="breach_in_most_s"),
    ),
    Family(
        "dispatch_quota_evictions",
        COUNTER,
        "",
        "Eviction rounds since the broker started, also those of earlier loads of the topic",
        EVICTIONS,
        _each("quota_type", size="size", time="time"),
    ),
)

_OF_LIMITERS = (
    Family(
        "dispatch_limiter_permits_per_second",
        GAUGE,
        "",
        "Messages or bytes that the limiter allows in a second",
        LIMITERS,
        _one("permits_per_s"),
    ),
    Family("dispatch_limiter_tokens", GAUGE, "", "Permits in the limiter's books, negative: a debt", LIMITERS, _one("tokens")),
    Family("dispatch_limiter_debt", GAUGE, "", "Permits below zero, 0 without a debt", LIMITERS, _one("debt")),
    Family(
        "dispatch_limiter_used_ratio",
        GAUGE,
        "ratio",
        "Permits used, divided by those allowed in the newest window",
        LIMITERS,
        _one("used_share"),
    ),
)

_OF_BROKERS = (
    Family("dispatch_broker", INFO, "", "Brokers of the log", BROKERS, _one("one"), (("version", "version"),)),
    Family(
        "dispatch_broker_stopped",
        GAUGE,
        "",
        "1: the log ends with a stop of the broker; how it is since then is not known",
        BROKERS,
        _one("stopped"),
    ),
    Family(
        "pulsar_server_channel_write_buf_memory_used_bytes",
        GAUGE,
        "bytes",
        "PIP-434: bytes in the write buffers of all connections; only where a heartbeat of the broker reported them",
        CHANNELS,
        _one("exact_bytes"),
    ),
    Family(
        "dispatch_channel_write_buffer_least_bytes",
        GAUGE,
        "bytes",
        "Bytes in the write buffers of all connections, at least",
        CHANNELS,
        _one("least_bytes"),
    ),
    Family(
        "dispatch_channel_connections",
        GAUGE,
        "connections",
        "Open connections, and of them those unwritable and those paused",
        CHANNELS,
        _each("state", open="connections_open", unwritable="connections_unwritable", paused="connections_paused"),
    ),
    Family(
        "dispatch_log_as_of_timestamp_seconds",
        GAUGE,
        "seconds",
        "Newest event of the broker that the tables have: status and cause are known until then",
        BROKERS,
        _one("as_of_s"),
    ),
    Family(
        "dispatch_log_window_as_of_timestamp_seconds",
        GAUGE,
        "seconds",
        "End of the broker's newest finished window: figures of windows are as of then",
        BROKERS,
        _one("window_as_of_s"),
    ),
    Family(
        "dispatch_log_completeness_ratio",
        GAUGE,
        "ratio",
        "Share of the broker's events of the newest window that came",
        BROKERS,
        _one("completeness"),
    ),
    Family("dispatch_log_lost_events", COUNTER, "events", "Events whose places in the log were given up", BROKERS, _one("lost")),
    Family("dispatch_log_late_events", COUNTER, "events", "Events that came after their place was given up", BROKERS, _one("late")),
    Family("dispatch_log_clock_steps", COUNTER, "", "Steps of the broker's wall clock", BROKERS, _one("clock_steps")),
)

_OF_THE_JOB = (
    Family(
        "dispatch_job_rows",
        COUNTER,
        "rows",
        "Lines that ingest wrote, and events that lanes counted, by the outcome",
        JOB,
        _each("outcome", bronze="bronze", quarantined="quarantined", applied="applied", duplicate="duplicates", late="late", lost="lost"),
    ),
    Family(
        "dispatch_job_commit_timestamp_seconds",
        GAUGE,
        "seconds",
        "When the newest micro-batch of the query was written",
        JOB,
        _one("written_s"),
    ),
    Family(
        "dispatch_job_event_lag_seconds",
        GAUGE,
        "seconds",
        "Age of the newest event of a micro-batch at its end; of stream alone",
        JOB,
        _one("lag_s"),
    ),
    Family("dispatch_job_held_events", GAUGE, "events", "Events that wait behind a gap of the log", BALANCE, _one("held")),
    Family(
        "dispatch_job_lanes_behind_rows", GAUGE, "rows", "Rows of the tables that lanes has not read yet", BALANCE, _one("lanes_behind")
    ),
    Family("dispatch_job_quarantine_lines", GAUGE, "lines", "Lines in quarantine, by the reason", QUARANTINE, _one("lines")),
)

#: Series of other families that `most` left out.
LEFT_OUT = "dispatch_series_left_out"
LEFT_OUT_HELP = "Series that --series-per-metric left out, the worst stay"
FAMILIES = (*_OF_SUBSCRIPTIONS, *_OF_QUOTAS, *_OF_LIMITERS, *_OF_BROKERS, *_OF_THE_JOB)
