"""Backlog and its quotas (PIP-323): how far behind everything is, what checks decide, whom evictions hit."""

from schemas.events import CURSOR_KINDS, QUOTA_POLICIES
from schemas.packages.backlog.at_checks import CHECK_SOURCES, DECISIONS, SUBSCRIPTION_BACKLOG, TOPIC_BACKLOG
from schemas.packages.backlog.quotas import ACTIONS, DISAGREEMENTS, QUOTA_CHECKS, QUOTA_EVICTION_MOVES, QUOTA_EVICTIONS, QUOTA_TYPE_LABELS
from schemas.packages.declaration import Declaration

_POSITIONS = (
    "topic_load", "topic_unload", "ledger_open", "ledger_close", "ledger_trim", "publish", "cursor_open", "cursor_close", "ack", "mark_delete",
)  # fmt: skip
_CHECKS = (*_POSITIONS, "backlog_quota", "quota_round", "quota_check", "producer_open", "producer_close")

PACKAGE = Declaration(
    "backlog",
    "How large and how old are backlogs, and which quota trips next?",
    tables=(TOPIC_BACKLOG, SUBSCRIPTION_BACKLOG, QUOTA_EVICTIONS, QUOTA_EVICTION_MOVES, QUOTA_CHECKS),
    slots={
        "quota_round": ("phase", "duration_us"),
        "quota_check": ("duration_us", "outside_of_round"),
        "quota_exceeded": ("quota_type", "policy", "limit"),
    },
    computed={"outside_of_round": ("cause",)},
    enumerations={
        "check_source": CHECK_SOURCES,
        "decision": DECISIONS,
        "cursor_kind": CURSOR_KINDS,
        "quota_type": QUOTA_TYPE_LABELS,
        "broker_quota_type": QUOTA_TYPE_LABELS,
        "action": ACTIONS,
        "disagreement": DISAGREEMENTS,
        **dict.fromkeys(("policy", "policy_size", "policy_time", "broker_policy"), QUOTA_POLICIES),
    },
    needs={
        TOPIC_BACKLOG.name: _CHECKS,
        SUBSCRIPTION_BACKLOG.name: (*_POSITIONS, "quota_round", "quota_check", "dispatch", "consumer_open", "consumer_close"),
        QUOTA_EVICTIONS.name: (*_CHECKS, "quota_exceeded"),
    },
    invariants=(
        "every_cursor_is_checked",
        "backlog_waterfall_closes",
        "backlog_counters_never_fall",
        "evictions_are_the_sum_of_their_moves",
        "check_histograms_add_up",
    ),
    views=(
        "check_intervals",
        "check_durations",
        "topic_backlog_now",
        "partitioned_topic_backlog",
        "namespace_backlog",
        "broker_evictions",
        "backlog_now",
        "oldest_subscriptions",
        "quota_breaches",
        "quota_losers",
        "quota_forecasts",
        "quota_forecast_scores",
        "recent_checks",
        "quota_risk",
        "evictions",
        "broker_belief_gap",
        "backlog_waterfall",
        "subscription_rates",
    ),
)
