"""Which place sets each limit of a subscription, which of them rules by Pulsar's precedence, and which are shadowed. Pure.

The rows are those of the view `policy_spans`: the rules of docs/design/policies.md (§1.5, §2.5) have decided, here they are only read.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from schemas.events import SOURCES
from schemas.packages.policy.policies import LIMIT_KINDS

Row = Mapping[str, Any]
Document = dict[str, Any]
NOWHERE, NOT_IN_THIS_LOG = "nowhere", "not in this log"
#: What is set where, by the level of the limiter, or the type of the quota.
RATE_KINDS = {"broker": "broker_dispatch_rate", "topic": "topic_dispatch_rate", "subscription": "subscription_dispatch_rate"}
QUOTA_KINDS = {"size": "size_quota", "time": "age_quota"}
_KINDS = (*RATE_KINDS.values(), *QUOTA_KINDS.values())
_VALUES = ("msg_rate", "byte_rate", "period_s", "relative", "quota_limit", "quota_policy")


def places(policies: Sequence[Row]) -> list[Document]:
    """Every place that sets a limit of the subscription: by kind, what is in force first, then from the strongest place to the weakest."""
    found = [
        {
            "limit_kind": row["limit_kind"],
            "set_by": row["set_by"],
            "set_since": row["set_at"],
            "in_force": row["in_force"],
            "shadowed_by": row["shadowed_by"],
            **{name: row[name] for name in _VALUES},
        }
        for row in policies
        if row["set_by"] is not None and row["limit_kind"] in _KINDS
    ]
    return sorted(found, key=lambda one: (LIMIT_KINDS.index(one["limit_kind"]), not one["in_force"], -SOURCES.index(one["set_by"])))


def setter(policies: Iterable[Row], limit_kind: str) -> Document:
    """The place whose values rule, since when they are set there, and whether the broker applied something else.

    `set_since` is null where no place is known: the limit is set nowhere, or its log has no places.
    """
    rules = next((row for row in policies if row["limit_kind"] == limit_kind and row["in_force"]), None)
    if rules is None:
        return {"set_by": NOT_IN_THIS_LOG, "set_since": None, "disagreement": None}
    # A log of version 1.0 has no places, so nothing to compare with what was applied.
    place = rules["set_by"] or (NOT_IN_THIS_LOG if rules["policy_disagreement"] is None else NOWHERE)
    since: datetime | None = None if rules["set_by"] is None else rules["set_at"]
    return {"set_by": place, "set_since": since, "disagreement": rules["policy_disagreement"]}


def is_off(limiter: Row, policies: Iterable[Row]) -> bool:
    """Whether the broker has taken the rate of this limiter away since: the table has no row of a limiter without a rate (§1.4)."""
    kind, rate = RATE_KINDS[limiter["level"]], f"applied_{'msg' if limiter['dimension'] == 'msg' else 'byte'}_rate"
    rules = next((row for row in policies if row["limit_kind"] == kind and row["in_force"]), None)
    if rules is None or rules.get(rate) is None:
        return False
    return bool(rules[rate] <= 0 and rules["since"] >= limiter["created_at"])
