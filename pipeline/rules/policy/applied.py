"""What the broker applied, compared with what is in force by the rules."""

from pipeline.rules.compiled import compiled_part
from pipeline.rules.policy.layout import (
    DYNAMIC_CONFIG,
    NAMESPACE,
    REPLICATOR_RATE,
    SIZE_QUOTA,
    SUBSCRIPTION_GLOBAL,
    TOPIC,
    TOPIC_GLOBAL,
)
from pipeline.rules.records import Record
from schemas.outcomes import NULL

AGREE, NOT_APPLIED, OTHER_VALUE, OTHER_SOURCE = range(4)  # POLICY_DISAGREEMENTS
NO_SOURCE = -1


@compiled_part
def apply(limits: Record, k: int, first: int, second: int, period_s: int, relative: int, source: int) -> None:
    """The broker applied these values to limit `k`; the same once more is nothing new."""
    same = limits.first[k] == first and limits.second[k] == second and limits.period_s[k] == period_s
    same = same and limits.relative[k] == relative and limits.source[k] == source
    if limits.applied[k] == 1 and same:
        return
    limits.applied[k], limits.is_new[k] = 1, 1
    limits.first[k], limits.second[k] = first, second
    limits.period_s[k], limits.relative[k], limits.source[k] = period_s, relative, source


@compiled_part
def end(limits: Record, k: int) -> None:
    """The object of the limit is gone."""
    limits.applied[k], limits.is_new[k], limits.reported[k], limits.reported_change[k] = 0, 0, 0, 0
    limits.first[k], limits.second[k], limits.period_s[k], limits.relative[k], limits.source[k] = 0, 0, 0, 0, 0


@compiled_part
def disagreement(limits: Record, k: int, kind: int, is_set: bool, values: Record, source: int) -> int:
    """How what was applied to limit `k` differs from `values`, in force if `is_set`. NULL: no event reports what replicators apply."""
    if kind == REPLICATOR_RATE:
        return NULL
    if limits.applied[k] == 0:
        return NOT_APPLIED if is_set and limited(kind, values.first, values.second) else AGREE
    if not is_set:
        return OTHER_VALUE if limited(kind, limits.first[k], limits.second[k]) else AGREE
    if not _same_values(limits, k, kind, values):
        return OTHER_VALUE
    reported = limits.source[k]
    return AGREE if reported == NO_SOURCE or _rank(reported) == _rank(source) else OTHER_SOURCE


@compiled_part
def limited(kind: int, first: int, second: int) -> bool:
    """Whether the values limit anything."""
    return first >= 0 if kind >= SIZE_QUOTA else first > 0 or second > 0


@compiled_part
def _same_values(limits: Record, k: int, kind: int, values: Record) -> bool:
    if kind >= SIZE_QUOTA:
        return limits.first[k] == values.first and limits.second[k] == values.second
    same_rates = max(limits.first[k], 0) == max(values.first, 0) and max(limits.second[k], 0) == max(values.second, 0)
    return same_rates and limits.period_s[k] == values.period_s and limits.relative[k] == values.relative


@compiled_part
def _rank(source: int) -> int:
    """Places that a broker joins before it looks: those of the broker, of a namespace, of a subscription."""
    if source <= DYNAMIC_CONFIG:
        return DYNAMIC_CONFIG
    if source <= NAMESPACE:
        return NAMESPACE
    if source >= SUBSCRIPTION_GLOBAL:
        return SUBSCRIPTION_GLOBAL
    return TOPIC_GLOBAL if source == TOPIC_GLOBAL else TOPIC
