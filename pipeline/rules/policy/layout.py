"""The rows that the policy package keeps: what is set where, and of each limit what was applied and reported last."""

from pipeline.rules.package import Beside, Family, Listed, Single, Store
from pipeline.rules.records import blank, record
from schemas.events import SOURCES
from schemas.packages.policy.policies import LIMIT_KINDS, POLICIES

BROKER_RATE, TOPIC_RATE, SUBSCRIPTION_RATE, REPLICATOR_RATE, SIZE_QUOTA, AGE_QUOTA = range(len(LIMIT_KINDS))  # LIMIT_KINDS
SOURCE_COUNT = len(SOURCES)
BROKER_CONFIG, DYNAMIC_CONFIG, NAMESPACE_LEGACY, NAMESPACE, TOPIC_GLOBAL, TOPIC, SUBSCRIPTION_GLOBAL, SUBSCRIPTION = range(SOURCE_COUNT)
#: Limits of a topic, in the order in which its row has them.
OF_TOPIC = (TOPIC_RATE, REPLICATOR_RATE, SIZE_QUOTA, AGE_QUOTA)

#: A policy as it is set in one place. `id`: of the topic or subscription (`sub_id`), of the namespace, or 0; `owner`: see key_of.
SET_ROW = record(
    "id",
    "owner",
    "changed_seq",  # of the event that set it or took it away
    "set_at",
    "is_set",  # 0: it was taken away
    "forgotten",  # its topic was unloaded: what it had is written again at the next load
    "first",  # messages per period, or the limit of a quota
    "second",  # bytes per period, or what is done at the limit
    "period_s",
    "relative",
)


def _limits(count: int) -> dict[str, tuple[int]]:
    """Of each of `count` limits: what was applied, and up to which change it was reported."""
    names = ("applied", "first", "second", "period_s", "relative", "source", "reported", "reported_change", "is_new")
    return dict.fromkeys(names, (count,))


POLICY_ROW = record("names_sources", **_limits(1))  # names_sources: the log has the places where policies are set
TOPIC_LIMITS_ROW = record("namespace_id", **_limits(len(OF_TOPIC)))
NO_TOPIC_LIMITS = blank(TOPIC_LIMITS_ROW)
SUBSCRIPTION_LIMITS_ROW = record("overridden", **_limits(1))  # overridden: something is, or was, set for it alone
NO_SUBSCRIPTION_LIMITS = blank(SUBSCRIPTION_LIMITS_ROW)

_TEXT = ("broker", "topic", "subscription")

STORES: tuple[Store, ...] = (
    Single("broker_limit", POLICY_ROW),
    Family("set_policies", "set_policy", SET_ROW),
    Beside("topic_limits", "topic_limit", TOPIC_LIMITS_ROW, of="topics"),
    Beside("subscription_limits", "subscription_limit", SUBSCRIPTION_LIMITS_ROW, of="subscriptions"),
    Listed("out_policies", record("topic_id", "sub_id", *(name for name in POLICIES.names if name not in _TEXT)), POLICIES.name),
)
