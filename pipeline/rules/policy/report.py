"""Rows of `policies`: all places that set one limit, when what is set or applied has changed since they were reported last."""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import EMPTY
from pipeline.rules.policy.applied import NO_SOURCE, disagreement
from pipeline.rules.policy.layout import SIZE_QUOTA
from pipeline.rules.policy.precedence import Whose, in_force, is_shadowed, policy_at, strongest_source
from pipeline.rules.records import Record
from schemas.outcomes import NULL


@compiled_part
def report(policy: Any, counts: Record, limits: Record, k: int, whose: Whose, reason: int, event: Array) -> None:
    """Limit `k` of an object as it is now, unless that was reported already, or there is nothing to report."""
    strongest, changed = in_force(policy, whose)
    if limits.is_new[k] == 0 and (changed == 0 or (limits.reported[k] == 1 and changed <= limits.reported_change[k])):
        return
    limits.is_new[k], limits.reported[k], limits.reported_change[k] = 0, 1, max(changed, limits.reported_change[k])
    for source in range(strongest_source(whose.kind) + 1):
        place = policy_at(policy, whose, source)
        if place == EMPTY or policy.set_policies[place].is_set == 0:
            continue
        values = policy.set_policies[place]
        row = _new_row(policy, counts, whose, reason, event)
        row.set_by, row.set_at = source, values.set_at
        _put_values(row, whose.kind, values)
        shadow = is_shadowed(policy, whose, source, strongest)
        row.shadowed_by = shadow if shadow != EMPTY else NULL
        if shadow == EMPTY:
            _put_applied(row, policy, limits, k, whose.kind, True, values, source)
    if strongest == EMPTY:
        row = _new_row(policy, counts, whose, reason, event)
        _put_applied(row, policy, limits, k, whose.kind, False, policy.set_policies[0], NO_SOURCE)


@compiled_part
def report_end(policy: Any, counts: Record, limits: Record, k: int, whose: Whose, reason: int, event: Array) -> None:
    """Limit `k` ends with its object, if it was ever reported."""
    if limits.reported[k] == 1:
        _new_row(policy, counts, whose, reason, event)


@compiled_part
def _new_row(policy: Any, counts: Record, whose: Whose, reason: int, event: Array) -> Record:
    row = policy.out_policies[counts.out_policies]
    counts.out_policies += 1
    row.topic_id, row.sub_id, row.limit_kind = whose.topic_id, whose.sub_id, whose.kind
    row.seen_at, row.seen_seq = event[fields.TS], event[fields.SEQ]
    row.set_by, row.set_at, row.in_force, row.shadowed_by = NULL, NULL, 0, NULL
    row.msg_rate, row.byte_rate, row.period_s, row.relative, row.quota_limit, row.quota_policy = NULL, NULL, NULL, NULL, NULL, NULL
    row.applied_set_by, row.applied_msg_rate, row.applied_byte_rate, row.applied_period_s = NULL, NULL, NULL, NULL
    row.applied_relative, row.applied_limit, row.applied_policy = NULL, NULL, NULL
    row.publish_msgs_per_s, row.publish_bytes_per_s, row.policy_disagreement = NULL, NULL, NULL
    row.incomplete_reason = reason
    row.complete = 1 if reason == NULL else 0
    return row


@compiled_part
def _put_values(row: Record, kind: int, values: Record) -> None:
    if kind >= SIZE_QUOTA:
        row.quota_limit, row.quota_policy = values.first, values.second
    else:
        row.msg_rate, row.byte_rate, row.period_s, row.relative = values.first, values.second, values.period_s, values.relative


@compiled_part
def _put_applied(row: Record, policy: Any, limits: Record, k: int, kind: int, is_set: bool, values: Record, source: int) -> None:
    """Of the row in force."""
    row.in_force = 1
    if policy.broker_limit[0].names_sources == 1:
        row.policy_disagreement = disagreement(limits, k, kind, is_set, values, source)
    if limits.applied[k] == 0:
        return
    row.applied_set_by = limits.source[k] if limits.source[k] != NO_SOURCE else NULL
    if kind >= SIZE_QUOTA:
        row.applied_limit, row.applied_policy = limits.first[k], limits.second[k]
    else:
        row.applied_msg_rate, row.applied_byte_rate = limits.first[k], limits.second[k]
        row.applied_period_s, row.applied_relative = limits.period_s[k], limits.relative[k]
