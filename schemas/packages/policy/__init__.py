"""Policies as they are set (§1.5, §2.5 of Pulsar's semantics): which one is in force, and whether the broker applied that one."""

from schemas.events import QUOTA_POLICIES, SOURCES
from schemas.packages.declaration import Declaration
from schemas.packages.policy.policies import LIMIT_KINDS, POLICIES, POLICY_DISAGREEMENTS

#: The namespace of an event: its own, or that of its topic.
NAMESPACE_OF_TOPIC = "^[^:]*://(.+)/[^/]*$"
#: Hashed in front of a namespace's name.
NAMESPACE_LEVEL = "n"

PACKAGE = Declaration(
    "policy",
    "Which place sets a limit?",
    tables=(POLICIES,),
    slots={
        "policy_set": (
            "source",
            "policy_kind",
            "namespace_id",
            "msg_rate",
            "byte_rate",
            "period_s",
            "relative",
            "quota_type",
            "limit",
            "policy",
        ),
        "dispatch_rate": ("source", "namespace_id"),
        "backlog_quota": ("source", "namespace_id"),
        "topic_load": ("namespace_id",),
    },
    computed={"namespace_id": ("namespace", "topic")},
    enumerations={
        "limit_kind": LIMIT_KINDS,
        "policy_disagreement": POLICY_DISAGREEMENTS,
        **dict.fromkeys(("set_by", "shadowed_by", "applied_set_by"), SOURCES),
        **dict.fromkeys(("quota_policy", "applied_policy"), QUOTA_POLICIES),
    },
    needs={
        POLICIES.name: (
            *("policy_set", "dispatch_rate", "backlog_quota", "quota_check"),
            *("topic_load", "topic_unload", "dispatcher_open", "dispatcher_close"),
        ),
    },
    invariants=("one_policy_is_in_force",),
    views=("policy_spans", "limits_in_force"),
)
