"""The causes of a backlog, and the accounts in which their time is kept: docs/design/causes.md has the rule of each."""

from schemas.events import LIMITER_LEVELS, UNACKED_CAPS

#: What can hold a subscription back. In the order in which a tie for the main cause is decided: the more specific first.
CAUSES = (
    "no_consumer",
    "throttled",
    "channel",
    "unacked_limit",
    "no_permits",
    "no_flow",
    "keys_blocked",
    "transaction",
    "redelivery",
    "in_flight",
    "delayed",
    "reading",
    "catching_up",
    "stuck",
    "unknown",
)
DIMENSIONS = ("msg", "bytes")
#: Why a cause is not known.
UNKNOWN_REASONS = ("events_lost", "beginning_not_seen", "not_in_this_log")

#: Accounts: (cause, level, dimension, reason, cap); null is None. Every nanosecond of backlog goes to one of them.
ACCOUNTS: tuple[tuple[str, str | None, str | None, str | None, str | None], ...] = (
    ("no_consumer", None, None, None, None),
    *(("throttled", level, dimension, None, None) for level in LIMITER_LEVELS for dimension in DIMENSIONS),
    ("channel", None, None, None, None),
    *(("unacked_limit", None, None, None, cap) for cap in UNACKED_CAPS),
    *((cause, None, None, None, None) for cause in CAUSES[CAUSES.index("no_permits") : CAUSES.index("unknown")]),
    *(("stuck", None, None, None, cap) for cap in UNACKED_CAPS),
    *(("unknown", None, None, reason, None) for reason in UNKNOWN_REASONS),
)
