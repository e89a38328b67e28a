"""What backlog quotas decided, whom it hit, and how long checks took."""

from schemas.completeness import completeness_of_life
from schemas.field import Field, Table
from schemas.packages.backlog.at_checks import counted, policy
from schemas.window_columns import COMPLETENESS, WINDOW

QUOTA_TYPE_LABELS = ("size", "time")
ACTIONS = ("evict", "disconnect_producers", "deduplication_snapshot", "none")
#: Which rule a broker's decision and ours disagree on.
DISAGREEMENTS = (
    "none",
    "broker_did_not_act",
    "broker_acted_alone",
    "other_quota_type",
    "other_policy",
    "other_limit",
    "other_target",
)
#: Upper bounds of Pulsar's histogram of check durations, in whole seconds; the last bucket has none.
BUCKETS_S = (5, 10, 30, 60, 300)
BUCKET_NAMES = (*(f"le_{bound}" for bound in BUCKETS_S), "le_inf")
_HISTOGRAM = "pulsar_storage_backlog_quota_check_duration_seconds"

QUOTA_EVICTIONS = Table(
    "quota_evictions",
    "One row per decision of a quota check to act, with the action of the broker. It is there also if nothing moved.",
    grain=("broker", "epoch", "topic", "decided_at", "check_number"),
    age_by="decided_at",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("topic", "string", "full topic name"),
        Field("decided_at", "timestamp", "check_time of the check that decided"),
        counted("check_number", "as in topic_backlog", ""),
        Field("resolved_at", "timestamp", "when the action of the broker was known: the check done, or the topic's next check for a precise age eviction"),
        Field("quota_type", "string", "exceeded quota, as in Pulsar's label", check="quota_type IN ('size', 'time')"),
        policy("policy", "action at this limit"),
        Field("action", "string", "the effect of the policy here; none: only the broker acted",
              check="action IN ('evict', 'disconnect_producers', 'deduplication_snapshot', 'none')"),
        Field("quota_limit", "long", "the limit", "bytes or s"),
        Field("exceeded_by", "long", "backlog_size less the limit, or the age less the limit", "bytes or ms"),
        Field("target", "long", "evictions: down to this size, or this age", "bytes or s", nullable=True),
        Field("backlog_size_before", "long", "topic's backlog size before the action", "bytes", nullable=True),
        Field("backlog_size_planned", "long", "size after the eviction, by the rule", "bytes", nullable=True),
        counted("cursors_planned", "cursors that move by the rule", ""),
        counted("entries_planned", "unacknowledged entries that are lost by the rule, over all cursors"),
        counted("entries_evicted", "unacknowledged entries that were lost, by the mark-deletes that followed"),
        counted("producers", "producers connected when it was decided", ""),
        counted("producers_closed", "of them closed until resolved_at", ""),
        Field("broker_quota_type", "string", "quota that the broker acted on; null: it did not", nullable=True, check="broker_quota_type IN ('size', 'time')"),
        policy("broker_policy", "policy that the broker acted by; null: it did not act"),
        Field("broker_limit", "long", "limit that the broker acted on", "bytes or s", nullable=True),
        Field("agrees", "boolean", "the broker did as the rules do"),
        Field("disagreement", "string", "the first rule on which they differ",
              check="disagreement IN (" + ", ".join(f"'{name}'" for name in DISAGREEMENTS) + ")"),
        *completeness_of_life("as in topic_backlog, and no cursor of the topic had deleted entries of which nobody knows which"),
    ),
)  # fmt: skip

QUOTA_EVICTION_MOVES = Table(
    "quota_eviction_moves",
    "One row per cursor that a decision to evict moves, by the rule or in the log.",
    grain=("broker", "epoch", "topic", "subscription", "decided_at", "check_number"),
    age_by="decided_at",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("topic", "string", "full topic name"),
        Field("subscription", "string", "subscription (cursor) name"),
        Field("decided_at", "timestamp", "as in quota_evictions"),
        counted("check_number", "as in topic_backlog", ""),
        Field("from_ledger", "long", "mark-delete position before"),
        Field("from_entry", "long", "mark-delete position before"),
        Field("planned_ledger", "long", "mark-delete position by the rule; null: it should not move", nullable=True),
        Field("planned_entry", "long", "mark-delete position by the rule", nullable=True),
        counted("entries_planned", "unacknowledged entries that are lost by the rule"),
        Field("reached_ledger", "long", "mark-delete position that the eviction reached; null: it did not move", nullable=True),
        Field("reached_entry", "long", "mark-delete position that the eviction reached", nullable=True),
        counted("entries_evicted", "unacknowledged entries that were lost"),
        Field("agrees", "boolean", "it moved to where the rule moves it"),
    ),
)  # fmt: skip


def _buckets(suffix: str, meaning: str, pulsar: str) -> tuple[Field, ...]:
    bounds = (*map(str, BUCKETS_S), "+Inf")
    return tuple(
        Field(f"{name}{suffix}", "long", f"checks that took at most {bound} s (whole seconds){meaning}", check=f"{name}{suffix} >= 0",
              pulsar=f'{_HISTOGRAM}_bucket{{le="{bound}"}}' if pulsar else "")
        for name, bound in zip(BUCKET_NAMES, bounds, strict=True)
    )  # fmt: skip


QUOTA_CHECKS = Table(
    "quota_checks",
    "One row per broker and window in which quota checks were done: how long they took since their round began.",
    grain=("broker", "epoch", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        *WINDOW,
        counted("rounds", "rounds that ended", ""),
        counted("checks", "checks of a topic that were done, system topics included", ""),
        counted("duration_sum_us", "their durations since the round began", "µs"),
        counted("duration_p50_us", "median duration", "µs"),
        counted("duration_p99_us", "99th percentile: the least duration that at least 99 of 100 do not exceed", "µs"),
        counted("duration_max_us", "longest duration", "µs"),
        *_buckets("", "", ""),
        *_buckets("_since_start", ", since the broker started", "shown"),
        Field("duration_sum_s_since_start", "long", "whole seconds of all checks since the broker started", "s",
              check="duration_sum_s_since_start >= 0", pulsar=f"{_HISTOGRAM}_sum"),
        COMPLETENESS,
    ),
)  # fmt: skip
