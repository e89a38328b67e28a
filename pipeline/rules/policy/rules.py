"""What is set, what is applied, and when it is reported.

A broker writes what is set just before it applies it. So a limit is reported when it is applied. What changed without that (a place that
is shadowed) is reported at the topic's next quota check. Of the broker's own limiter the order is the other way round: it is reported at
the next heartbeat.
"""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.completeness import BEGINNING_NOT_SEEN, EVENTS_LOST, POINTS_MISSING, incomplete_reason, needed_by
from pipeline.rules.broker.layout import BROKER, BYTES, MSG, NONE
from pipeline.rules.broker.layout import TOPIC as TOPIC_LEVEL
from pipeline.rules.broker.topics import is_load_seen
from pipeline.rules.compiled import compiled_part
from pipeline.rules.policy import fields as own
from pipeline.rules.policy.applied import NO_SOURCE, apply, end
from pipeline.rules.policy.layout import (
    AGE_QUOTA,
    BROKER_RATE,
    NO_SUBSCRIPTION_LIMITS,
    NO_TOPIC_LIMITS,
    OF_TOPIC,
    REPLICATOR_RATE,
    SIZE_QUOTA,
    SUBSCRIPTION,
    SUBSCRIPTION_GLOBAL,
    SUBSCRIPTION_RATE,
    TOPIC,
    TOPIC_GLOBAL,
    TOPIC_RATE,
)
from pipeline.rules.policy.precedence import Whose, forget, is_a_limit, key_of, place_of_policy, scope_of
from pipeline.rules.policy.report import report, report_end
from pipeline.rules.records import Record, Records
from schemas.outcomes import NULL
from schemas.packages.policy.policies import POLICIES

#: Events that may end as many limits as their topic has subscriptions.
ENDING = ("topic_load", "topic_unload", "dispatcher_close", "quota_check")
#: Events that report a few limits.
EMITTING = ("dispatch_rate", "backlog_quota", "heartbeat")
NEEDED = needed_by(POLICIES.name)


@compiled_part
def on_new_topic(topic_limits: Records, t: int) -> None:
    """Nothing was applied yet."""
    topic_limits[t] = NO_TOPIC_LIMITS[0]


@compiled_part
def on_new_subscription(subscription_limits: Records, s: int) -> None:
    """Nothing was applied yet."""
    subscription_limits[s] = NO_SUBSCRIPTION_LIMITS[0]


@compiled_part
def on_policy_set(
    broker_limit: Record,
    set_policies: Records,
    set_policies_index: Array,
    subscription_limits: Records,
    counts: Record,
    s: int,
    event: Array,
) -> None:
    """A place sets a policy, or sets it no more."""
    source, policy_kind = event[own.SOURCE], event[own.KIND]
    kind = policy_kind if policy_kind <= REPLICATOR_RATE else SIZE_QUOTA + event[own.QUOTA_TYPE]
    scope = scope_of(source, event[own.SET_NAMESPACE], event[fields.TOPIC_ID], event[fields.SUB_ID])
    row = set_policies[place_of_policy(set_policies, set_policies_index, counts, scope, key_of(kind, source))]
    is_quota = kind >= SIZE_QUOTA
    row.first = event[own.LIMIT] if is_quota else event[own.MSG_RATE]
    row.second = event[own.POLICY] if is_quota else event[own.BYTE_RATE]
    row.period_s, row.relative = event[own.PERIOD_S], event[own.RELATIVE]
    has_values = fields.has(event, own.LIMIT) if is_quota else fields.has(event, own.MSG_RATE) or fields.has(event, own.BYTE_RATE)
    row.is_set = 1 if has_values and is_a_limit(kind, row.first, row.second) else 0
    row.changed_seq, row.set_at, row.forgotten = event[fields.SEQ], event[fields.TS], 0
    broker_limit.names_sources = 1
    if source >= SUBSCRIPTION_GLOBAL:
        subscription_limits[s].overridden = 1


@compiled_part
def on_dispatch_rate(broker: Any, policy: Any, counts: Record, t: int, s: int, event: Array) -> None:
    """A rate was applied."""
    level = event[fields.LEVEL]
    source = event[own.RATE_SOURCE] if fields.has(event, own.RATE_SOURCE) else NO_SOURCE
    if source != NO_SOURCE:
        policy.broker_limit[0].names_sources = 1
    if level == BROKER:
        _apply_rate(policy.broker_limit[0], 0, source, event)
        return
    topic = broker.topics[t]
    if not is_load_seen(topic):
        return  # of Pulsar's own topics the log has no life, and a namespace's rate does not rule them
    limits = policy.topic_limits[t]
    limits.namespace_id = event[own.RATE_NAMESPACE]
    reason = incomplete_reason(topic, broker.settings[0], NEEDED)
    if level == TOPIC_LEVEL:
        _apply_rate(limits, 0, source, event)
        _report_of_topic(policy, counts, t, topic, 0, reason, event)
    else:
        _apply_rate(policy.subscription_limits[s], 0, source, event)
        whose = Whose(SUBSCRIPTION_RATE, limits.namespace_id, topic.id, broker.subscriptions[s].id)
        before = counts.out_policies
        report(policy, counts, policy.subscription_limits[s], 0, whose, reason, event)
        _put_averages(policy, counts, before, topic)


@compiled_part
def _apply_rate(limits: Record, k: int, source: int, event: Array) -> None:
    apply(limits, k, event[fields.MSG_RATE], event[fields.BYTE_RATE], event[fields.PERIOD_S], event[fields.RELATIVE], source)


@compiled_part
def on_backlog_quota(broker: Any, policy: Any, counts: Record, t: int, event: Array) -> None:
    """A quota was applied."""
    topic, limits = broker.topics[t], policy.topic_limits[t]
    source = event[own.QUOTA_SOURCE] if fields.has(event, own.QUOTA_SOURCE) else NO_SOURCE
    if source != NO_SOURCE:
        policy.broker_limit[0].names_sources = 1
    if not is_load_seen(topic):
        return
    limits.namespace_id = event[own.QUOTA_NAMESPACE]
    k = 2 + event[fields.QUOTA_TYPE]
    apply(limits, k, event[fields.LIMIT], event[fields.POLICY], 0, 0, source)
    _report_of_topic(policy, counts, t, topic, k, incomplete_reason(topic, broker.settings[0], NEEDED), event)


@compiled_part
def _report_of_topic(policy: Any, counts: Record, t: int, topic: Record, k: int, reason: int, event: Array) -> None:
    limits, before = policy.topic_limits[t], counts.out_policies
    report(policy, counts, limits, k, Whose(OF_TOPIC[k], limits.namespace_id, topic.id, 0), reason, event)
    if OF_TOPIC[k] == TOPIC_RATE:
        _put_averages(policy, counts, before, topic)


@compiled_part
def _put_averages(policy: Any, counts: Record, first: int, topic: Record) -> None:
    """The publish average of the topic, beside rates that follow it."""
    for k in range(first, counts.out_policies):
        row = policy.out_policies[k]
        if topic.average_known == 1 and (row.relative == 1 or row.applied_relative == 1):
            row.publish_msgs_per_s, row.publish_bytes_per_s = topic.average[MSG], topic.average[BYTES]


@compiled_part
def on_topic_load(broker: Any, policy: Any, t: int, event: Array) -> None:
    """A new object of the topic: its own policies are written again."""
    _forget_topic(broker, policy, t)
    policy.topic_limits[t].namespace_id = event[own.LOAD_NAMESPACE]


@compiled_part
def before_topic_unload(broker: Any, policy: Any, counts: Record, t: int, event: Array) -> None:
    """The limits of the topic and of its subscriptions end."""
    topic = broker.topics[t]
    reason, limits = incomplete_reason(topic, broker.settings[0], NEEDED), policy.topic_limits[t]
    for k in range(len(OF_TOPIC)):
        report_end(policy, counts, limits, k, Whose(OF_TOPIC[k], limits.namespace_id, topic.id, 0), reason, event)
    s = topic.first_subscription
    while s != NONE:
        _end_subscription(broker, policy, counts, t, s, event)
        s = broker.subscriptions[s].next_of_topic
    _forget_topic(broker, policy, t)


@compiled_part
def before_dispatcher_close(broker: Any, policy: Any, counts: Record, t: int, s: int, event: Array) -> None:
    """The subscription's limiter ends with its dispatcher."""
    _end_subscription(broker, policy, counts, t, s, event)


@compiled_part
def _end_subscription(broker: Any, policy: Any, counts: Record, t: int, s: int, event: Array) -> None:
    topic, limits = broker.topics[t], policy.subscription_limits[s]
    whose = Whose(SUBSCRIPTION_RATE, policy.topic_limits[t].namespace_id, topic.id, broker.subscriptions[s].id)
    report_end(policy, counts, limits, 0, whose, incomplete_reason(topic, broker.settings[0], NEEDED), event)
    end(limits, 0)


@compiled_part
def _forget_topic(broker: Any, policy: Any, t: int) -> None:
    """Nothing is applied any more, and nothing that the topic or a subscription of it has set for itself is known."""
    topic = broker.topics[t]
    for kind in range(TOPIC_RATE, AGE_QUOTA + 1):
        for source in (TOPIC_GLOBAL, TOPIC):
            forget(policy, Whose(kind, 0, topic.id, 0), source)
    s = topic.first_subscription
    while s != NONE:
        for source in (SUBSCRIPTION_GLOBAL, SUBSCRIPTION):
            forget(policy, Whose(SUBSCRIPTION_RATE, 0, topic.id, broker.subscriptions[s].id), source)
        policy.subscription_limits[s] = NO_SUBSCRIPTION_LIMITS[0]
        s = broker.subscriptions[s].next_of_topic
    policy.topic_limits[t] = NO_TOPIC_LIMITS[0]


@compiled_part
def on_quota_check(broker: Any, policy: Any, counts: Record, t: int, event: Array) -> None:
    """What has changed without being applied is reported."""
    topic = broker.topics[t]
    if is_load_seen(topic) and policy.broker_limit[0].names_sources == 1:
        reason = incomplete_reason(topic, broker.settings[0], NEEDED)
        for k in range(len(OF_TOPIC)):
            _report_of_topic(policy, counts, t, topic, k, reason, event)


@compiled_part
def on_heartbeat(broker: Any, policy: Any, counts: Record, event: Array) -> None:
    """The broker's own limiter, if anything about it has changed."""
    settings, reason = broker.settings[0], NULL
    if settings.missing_events & NEEDED:
        reason = POINTS_MISSING
    elif settings.started == 0:
        reason = BEGINNING_NOT_SEEN
    elif settings.losses > 0:
        reason = EVENTS_LOST
    report(policy, counts, policy.broker_limit[0], 0, Whose(BROKER_RATE, 0, 0, 0), reason, event)
