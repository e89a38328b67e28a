"""Why every subscription is behind: each nanosecond in which it has a backlog, charged to exactly one cause."""

from schemas.events import LIMITER_LEVELS, UNACKED_CAPS
from schemas.packages.cause.causes import CAUSES, DIMENSIONS, UNKNOWN_REASONS
from schemas.packages.cause.tables import CAUSE_TRANSITIONS, LIMITER_MARGINS, SUBSCRIPTION_CAUSES
from schemas.packages.declaration import Declaration

PACKAGE = Declaration(
    "cause",
    "Why is a subscription behind?",
    tables=(SUBSCRIPTION_CAUSES, CAUSE_TRANSITIONS, LIMITER_MARGINS),
    slots={
        "broker_start": ("tells_deliveries",),
        "read": ("permits",),
        "flow": ("permits",),
        "consumer_blocked": ("cap", "on"),
        "delayed": ("entries",),
        "redeliver": ("entries",),
        "read_done": ("failed", "entries", "replay"),
        "transaction": ("transaction_action",),
        "transaction_open": ("open_transactions",),
        "transaction_end": ("open_transactions",),
        "topic_state": ("open_transactions",),
    },
    # Logs from version 1.1 on have what happens to deliveries.
    computed={"tells_deliveries": ("log_version",), "failed": ("error",)},
    enumerations={
        **dict.fromkeys(("subscription_causes.cause", "cause_transitions.cause"), CAUSES),
        "unknown_reason": UNKNOWN_REASONS,
        "cap": UNACKED_CAPS,
        "next_level": LIMITER_LEVELS,
        "next_dimension": DIMENSIONS,
    },
    invariants=("backlog_time_has_its_causes", "transitions_change_the_cause", "margins_are_of_blocked_reads"),
    views=(
        "limiter_units",
        "catch_up_forecasts",
        "catch_up_scores",
        "why",
        "stuck_dispatchers",
        "limiter_debt",
        "fairness",
        "backlog_seconds_by_cause",
        "more_consumers",
        "next_limits",
    ),
)
