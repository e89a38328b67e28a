"""Which policy is in force (§1.5, §2.5): the strongest place that has a value, as a whole. Values of several places never mix.

Invariants. A rate without a limit in both dimensions is as good as not set. A value that a broker got dynamically replaces the one of its
file, also when the dynamic one is no limit. Only a subscription's rate can be set for one subscription.
"""

from typing import Any, NamedTuple

from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import EMPTY, find, insert
from pipeline.rules.policy.layout import (
    BROKER_CONFIG,
    BROKER_RATE,
    DYNAMIC_CONFIG,
    NAMESPACE_LEGACY,
    SIZE_QUOTA,
    SOURCE_COUNT,
    SUBSCRIPTION_GLOBAL,
    SUBSCRIPTION_RATE,
    TOPIC_GLOBAL,
)
from pipeline.rules.records import Record, Records


class Whose(NamedTuple):
    """One limit of one object: its kind, and the ids under which places may set it."""

    kind: int
    namespace_id: int
    topic_id: int
    sub_id: int


@compiled_part
def key_of(kind: int, source: int) -> int:
    """Second key of a set policy."""
    return kind * SOURCE_COUNT + source


@compiled_part
def scope_of(source: int, namespace_id: int, topic_id: int, sub_id: int) -> int:
    """First key: whom a place sets it for."""
    if source >= SUBSCRIPTION_GLOBAL:
        return sub_id
    if source >= TOPIC_GLOBAL:
        return topic_id
    return namespace_id if source >= NAMESPACE_LEGACY else 0


@compiled_part
def strongest_source(kind: int) -> int:
    """The last of the places that may set this kind."""
    if kind == BROKER_RATE:
        return DYNAMIC_CONFIG
    return SOURCE_COUNT - 1 if kind == SUBSCRIPTION_RATE else SUBSCRIPTION_GLOBAL - 1


@compiled_part
def is_a_limit(kind: int, first: int, second: int) -> bool:
    """Whether values count as set: a quota always does."""
    return kind >= SIZE_QUOTA or first > 0 or second > 0


@compiled_part
def place_of_policy(rows: Records, index: Array, counts: Record, scope: int, key: int) -> int:
    """Row of a policy in one place, made if it is not there."""
    row = find(index, rows, scope, key)
    if row == EMPTY:
        row = counts.set_policies
        counts.set_policies += 1
        rows[row].id, rows[row].owner = scope, key
        insert(index, scope, key, row)
    return row


@compiled_part
def policy_at(policy: Any, whose: Whose, source: int) -> int:
    """Row of what that place sets, or set once; EMPTY: it never did."""
    scope = scope_of(source, whose.namespace_id, whose.topic_id, whose.sub_id)
    row = find(policy.set_policies_index, policy.set_policies, scope, key_of(whose.kind, source))
    return EMPTY if row != EMPTY and policy.set_policies[row].forgotten == 1 else row


@compiled_part
def in_force(policy: Any, whose: Whose) -> tuple[int, int]:
    """(the place whose values are in force, EMPTY if there is none; `seq` of the latest change of any place, 0 if there was none)."""
    strongest, changed = EMPTY, 0
    for source in range(BROKER_CONFIG, strongest_source(whose.kind) + 1):
        row = policy_at(policy, whose, source)
        if row == EMPTY:
            continue
        changed = max(changed, policy.set_policies[row].changed_seq)
        if policy.set_policies[row].is_set == 1:
            strongest = source
        elif source == DYNAMIC_CONFIG:
            strongest = EMPTY  # no limit at all replaces the one of the file
    return strongest, changed


@compiled_part
def is_shadowed(policy: Any, whose: Whose, source: int, strongest: int) -> int:
    """The place whose value is in force instead of that of `source`; EMPTY: its own is."""
    if source == strongest:
        return EMPTY
    return strongest if strongest != EMPTY else DYNAMIC_CONFIG


@compiled_part
def forget(policy: Any, whose: Whose, source: int) -> None:
    """What a place set for a topic or a subscription went with the topic's object."""
    row = policy_at(policy, whose, source)
    if row != EMPTY:
        policy.set_policies[row].forgotten, policy.set_policies[row].is_set = 1, 0
