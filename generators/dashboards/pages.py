"""The six dashboards. Each metric is of `/metrics/clean`; a test compares the names."""

from generators.dashboards.page import FIGURE, TABLE, Page, Panel, Query, Variable

_CLUSTER = Variable("cluster", "label_values(dispatch_broker_info, cluster)")
_BROKER = Variable("broker", 'label_values(dispatch_broker_info{cluster=~"$cluster"}, broker)')
_NAMESPACE = Variable("namespace", 'label_values(dispatch_subscription_info{cluster=~"$cluster"}, namespace)')
_TOPIC = Variable("topic", 'label_values(dispatch_subscription_info{cluster=~"$cluster", namespace=~"$namespace"}, topic)')
_SUBSCRIPTION = Variable(
    "subscription", 'label_values(dispatch_subscription_info{cluster=~"$cluster", namespace=~"$namespace", topic=~"$topic"}, subscription)'
)
_OF_CLUSTER = 'cluster=~"$cluster"'
_OF_NAMESPACE = f'{_OF_CLUSTER}, namespace=~"$namespace"'
_OF_TOPIC = f'{_OF_NAMESPACE}, topic=~"$topic"'
_OF_SUBSCRIPTION = f'{_OF_TOPIC}, subscription=~"$subscription"'
_OF_BROKER = f'{_OF_CLUSTER}, broker=~"$broker"'
_WHO = "{{topic}} {{subscription}}"

OVERVIEW = Page(
    "dispatch-overview",
    "Dispatch: overview",
    "Which subscriptions are behind, and why",
    (_CLUSTER, _NAMESPACE),
    (
        Panel(
            "Subscriptions by status",
            "current, keeping up and delayed are well",
            (Query(f"count by (status) (dispatch_subscription_status{{{_OF_NAMESPACE}}})", "{{status}}"),),
            is_stacked=True,
        ),
        Panel(
            "Backlog by cause",
            "Subscriptions with a backlog, by the cause that holds them",
            (
                Query(
                    f"sum by (cause) (rate(dispatch_subscription_backlog_seconds_total{{{_OF_NAMESPACE}}}[$__rate_interval]))", "{{cause}}"
                ),
            ),
            is_stacked=True,
        ),
        Panel(
            "Behind now: main cause",
            "Since when the cause holds the subscription, the newest first",
            (Query(f"sort_desc(dispatch_subscription_main_cause_since_timestamp_seconds{{{_OF_NAMESPACE}}} * 1000)"),),
            "dateTimeAsIso",
            TABLE,
            24,
        ),
        Panel(
            "Largest backlogs",
            "Entries not acknowledged",
            (Query(f"topk(10, dispatch_subscription_backlog_entries{{{_OF_NAMESPACE}}})", _WHO),),
        ),
        Panel(
            "Oldest entries",
            "Age of the oldest entry that a subscription has not acknowledged",
            (Query(f"topk(10, dispatch_subscription_oldest_age_seconds{{{_OF_NAMESPACE}}})", _WHO),),
            "s",
        ),
    ),
)

SUBSCRIPTION = Page(
    "dispatch-subscription",
    "Dispatch: subscription",
    "One subscription: backlog, age, causes, forecast",
    (_CLUSTER, _NAMESPACE, _TOPIC, _SUBSCRIPTION),
    (
        Panel(
            "Status",
            "As in the command why",
            (Query(f"dispatch_subscription_status{{{_OF_SUBSCRIPTION}}}"),),
            kind=TABLE,
        ),
        Panel(
            "Main cause",
            "Its share of entries × time of the newest window",
            (Query(f"dispatch_subscription_main_cause_ratio{{{_OF_SUBSCRIPTION}}}", "{{cause}} {{level}} {{topic}} {{subscription}}"),),
            "percentunit",
        ),
        Panel(
            "Backlog",
            "Entries not acknowledged, and of them those neither delivered nor held for later delivery",
            (
                Query(f"dispatch_subscription_backlog_entries{{{_OF_SUBSCRIPTION}}}", f"backlog {_WHO}"),
                Query(f"dispatch_subscription_waiting_entries{{{_OF_SUBSCRIPTION}}}", f"waiting {_WHO}"),
            ),
        ),
        Panel(
            "Age of the oldest entry",
            "At the newest quota check",
            (Query(f"dispatch_subscription_oldest_age_seconds{{{_OF_SUBSCRIPTION}}}", _WHO),),
            "s",
        ),
        Panel(
            "Causes over time",
            "Entries in the backlog, by the cause that they are charged to",
            (
                Query(
                    "sum by (cause, level) (rate(dispatch_subscription_backlog_entry_seconds_total"
                    f"{{{_OF_SUBSCRIPTION}}}[$__rate_interval]))",
                    "{{cause}} {{level}}",
                ),
            ),
            width=24,
            is_stacked=True,
        ),
        Panel(
            "Current in",
            "Expected, and the band of eight cases of ten",
            (Query(f"dispatch_subscription_current_in_seconds{{{_OF_SUBSCRIPTION}}}", f"{{{{bound}}}} {_WHO}"),),
            "s",
        ),
        Panel(
            "Entries lost to quotas",
            "Evictions, entries per second",
            (Query(f"rate(dispatch_subscription_evicted_entries_total{{{_OF_SUBSCRIPTION}}}[$__rate_interval])", _WHO),),
        ),
        Panel(
            "Stuck dispatchers",
            "Time that a dispatcher stood still though nothing held it back; empty: none does",
            (Query(f"dispatch_subscription_stuck_seconds{{{_OF_SUBSCRIPTION}}}", _WHO),),
            "s",
        ),
    ),
)

QUOTAS = Page(
    "dispatch-quotas",
    "Dispatch: quotas",
    "Backlog quotas: use, breach, evictions",
    (_CLUSTER, _NAMESPACE, _TOPIC),
    (
        Panel(
            "Use of quotas",
            "Size or age, divided by its limit",
            (Query(f"topk(20, dispatch_quota_used_ratio{{{_OF_TOPIC}}})", "{{topic}} {{quota_type}}"),),
            "percentunit",
        ),
        Panel(
            "Breach in",
            "Expected time until the quota is exceeded, the soonest ones",
            (Query(f'bottomk(20, dispatch_quota_breach_in_seconds{{{_OF_TOPIC}, bound="expected"}})', "{{topic}} {{quota_type}}"),),
            "s",
        ),
        Panel(
            "Breach within a day",
            "With the band of eight cases of ten",
            (Query(f"sort(dispatch_quota_breach_in_seconds{{{_OF_TOPIC}}} < 86400)"),),
            "s",
            TABLE,
            24,
        ),
        Panel(
            "Eviction rounds",
            "Rounds per second since the broker started",
            (
                Query(
                    f"sum by (topic, quota_type) (rate(dispatch_quota_evictions_total{{{_OF_TOPIC}}}[$__rate_interval]))",
                    "{{topic}} {{quota_type}}",
                ),
            ),
        ),
        Panel(
            "Entries lost",
            "Entries per second that evictions took from a subscription",
            (Query(f"rate(dispatch_subscription_evicted_entries_total{{{_OF_TOPIC}}}[$__rate_interval])", _WHO),),
        ),
    ),
)

_LIMITER = "{{level}} {{topic}} {{subscription}} {{dimension}}"
LIMITERS = Page(
    "dispatch-limiters",
    "Dispatch: limiters",
    "Dispatch limiters: use, tokens, debt, and the subscriptions that they hold",
    (_CLUSTER, _BROKER),
    (
        Panel(
            "Use",
            "Permits used, divided by those allowed",
            (Query(f"dispatch_limiter_used_ratio{{{_OF_BROKER}}}", _LIMITER),),
            "percentunit",
        ),
        Panel("Rate", "Messages or bytes allowed in a second", (Query(f"dispatch_limiter_permits_per_second{{{_OF_BROKER}}}", _LIMITER),)),
        Panel("Tokens", "Permits in the books, negative: a debt", (Query(f"dispatch_limiter_tokens{{{_OF_BROKER}}}", _LIMITER),)),
        Panel("Debt", "Permits below zero: more went out than was allowed", (Query(f"dispatch_limiter_debt{{{_OF_BROKER}}}", _LIMITER),)),
        Panel(
            "Throttled reads",
            "Binding: more waited than was granted. Nominal: nobody needed the rest",
            (
                Query(
                    f"sum by (effect) (rate(dispatch_subscription_throttled_reads_total{{{_OF_BROKER}}}[$__rate_interval]))", "{{effect}}"
                ),
            ),
            is_stacked=True,
        ),
        Panel(
            "Blocked time",
            "Share of the time in which the latest read was blocked, the largest ones",
            (
                Query(
                    f"topk(10, rate(dispatch_subscription_blocked_seconds_total{{{_OF_BROKER}}}[$__rate_interval]))",
                    "{{topic}} {{subscription}} by {{level}}",
                ),
            ),
            "percentunit",
        ),
    ),
)

CHANNELS = Page(
    "dispatch-channels",
    "Dispatch: connections",
    "Write buffers and paused connections (PIP-434)",
    (_CLUSTER, _BROKER),
    (
        Panel(
            "Bytes in write buffers",
            "As the broker reported them; else the bound that the log proves",
            (
                Query(f"pulsar_server_channel_write_buf_memory_used_bytes{{{_OF_BROKER}}}", "{{broker}}"),
                Query(f"dispatch_channel_write_buffer_least_bytes{{{_OF_BROKER}}}", "{{broker}} at least"),
            ),
            "bytes",
            width=24,
        ),
        Panel(
            "Connections", "Open, unwritable and paused", (Query(f"dispatch_channel_connections{{{_OF_BROKER}}}", "{{broker}} {{state}}"),)
        ),
        Panel(
            "Subscriptions behind for a channel",
            "Entries in backlogs that a full connection holds",
            (
                Query(
                    "sum by (broker) (rate(dispatch_subscription_backlog_entry_seconds_total"
                    f'{{{_OF_BROKER}, cause="channel"}}[$__rate_interval]))',
                    "{{broker}}",
                ),
            ),
        ),
    ),
)

JOB = Page(
    "dispatch-job",
    "Dispatch: job and log",
    "Can the figures be trusted, and how old are they?",
    (_CLUSTER, _BROKER),
    (
        Panel(
            "Figures are old by",
            "Time since the newest event that the tables have, and since the end of the newest finished window, by broker",
            (
                Query(f"time() - dispatch_log_as_of_timestamp_seconds{{{_OF_BROKER}}}", "{{broker}}: newest event"),
                Query(f"time() - dispatch_log_window_as_of_timestamp_seconds{{{_OF_BROKER}}}", "{{broker}}: newest window"),
            ),
            "s",
        ),
        Panel("Lag", "Age of the newest event at the end of a micro-batch", (Query("dispatch_job_event_lag_seconds", "{{query}}"),), "s"),
        Panel(
            "Newest commit",
            "Time since the newest micro-batch",
            (Query("time() - dispatch_job_commit_timestamp_seconds", "{{query}}"),),
            "s",
        ),
        Panel(
            "Rows", "Rows per second, by the outcome", (Query("rate(dispatch_job_rows_total[$__rate_interval])", "{{query}} {{outcome}}"),)
        ),
        Panel(
            "Waiting in the job",
            "Rows that lanes has not read, and events behind a gap of the log",
            (Query("dispatch_job_lanes_behind_rows", "not read"), Query("dispatch_job_held_events", "held")),
        ),
        Panel("Quarantine", "Lines in quarantine, by the reason", (Query("dispatch_job_quarantine_lines", "{{reason}}"),)),
        Panel(
            "Completeness",
            "Share of the broker's events of the newest window that came",
            (Query(f"dispatch_log_completeness_ratio{{{_OF_BROKER}}}", "{{broker}}"),),
            "percentunit",
        ),
        Panel(
            "Lost and late events",
            "Events per second, and steps of the clock",
            (
                Query(f"rate(dispatch_log_lost_events_total{{{_OF_BROKER}}}[$__rate_interval])", "lost {{broker}}"),
                Query(f"rate(dispatch_log_late_events_total{{{_OF_BROKER}}}[$__rate_interval])", "late {{broker}}"),
                Query(f"rate(dispatch_log_clock_steps_total{{{_OF_BROKER}}}[$__rate_interval])", "clock steps {{broker}}"),
            ),
        ),
        Panel(
            "Brokers stopped",
            "1: its log ends with a stop",
            (Query(f"dispatch_broker_stopped{{{_OF_BROKER}}}", "{{broker}}"),),
            kind=FIGURE,
        ),
        Panel(
            "Series left out",
            "By --series-per-metric of serve",
            (Query("dispatch_series_left_out > 0 or sum(dispatch_series_left_out)", "{{metric}}"),),
            kind=FIGURE,
        ),
    ),
)

PAGES = (OVERVIEW, SUBSCRIPTION, QUOTAS, LIMITERS, CHANNELS, JOB)
