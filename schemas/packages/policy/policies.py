"""Who set which limit, for whom it is in force, and what the broker applied."""

from schemas.completeness import completeness_of_life
from schemas.events import POLICY_KINDS, QUOTA_POLICIES, SOURCES
from schemas.field import Field, Table

#: What is limited, by POLICY_KINDS; a backlog quota by its type.
LIMIT_KINDS = (*(kind for kind in POLICY_KINDS if kind != "backlog_quota"), "size_quota", "age_quota")
#: How what was applied differs from what is in force by the rules.
POLICY_DISAGREEMENTS = ("none", "not_applied", "other_value", "other_source")


def _one_of(name: str, values: tuple[str, ...], meaning: str, nullable: bool = True) -> Field:
    listed = ", ".join(f"'{value}'" for value in values)
    return Field(name, "string", meaning, nullable=nullable, check=f"{name} IN ({listed})")


def _values(prefix: str, what: str) -> tuple[Field, ...]:
    quota = "quota" if not prefix else "applied"
    return (
        Field(f"{prefix}msg_rate", "long", f"{what}: messages per period, ≤ 0 = no limit; null: a quota", "messages", nullable=True),
        Field(f"{prefix}byte_rate", "long", f"{what}: bytes per period, ≤ 0 = no limit; null: a quota", "bytes", nullable=True),
        Field(f"{prefix}period_s", "long", f"{what}: period of the rate", "s", nullable=True),
        Field(f"{prefix}relative", "boolean", f"{what}: the rate is added to the publish rate", nullable=True),
        Field(f"{quota}_limit", "long", f"{what}: limit of the quota, < 0 = none; null: a rate", "bytes or s", nullable=True),
        _one_of(f"{quota}_policy", QUOTA_POLICIES, f"{what}: action of the broker at the limit of the quota"),
    )


POLICIES = Table(
    "policies",
    "The settings of each limit of a broker, a topic or a subscription, whenever a set or applied value has changed: one row for each place that sets the limit; one of the rows is in force.",
    grain=("broker", "epoch", "topic", "subscription", "limit_kind", "seen_seq", "set_by"),
    age_by="seen_at",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("topic", "string", "full topic name; null for the broker's own limiter", nullable=True),
        Field("subscription", "string", "subscription name; null unless the limit is one subscription's", nullable=True),
        _one_of("limit_kind", LIMIT_KINDS, "the kind of limit", nullable=False),
        Field("seen_at", "timestamp", "ts of the event at which all rows of this `seen_seq` held. They hold until the next `seen_at` of the same limit"),
        Field("seen_seq", "long", "seq of that event"),
        _one_of("set_by", SOURCES, "where it is set; null: nowhere that the log has (a log of version 1.0 has no places)"),
        Field("set_at", "timestamp", "since when it is set there with these values; null: as set_by", nullable=True),
        Field("in_force", "boolean", "no stronger place sets it. False in the only row of a `seen_seq`, without set_by: the limit ended with its topic or dispatcher"),
        _one_of("shadowed_by", SOURCES, "the place whose values are in force instead; null: these are in force"),
        *_values("", "as set"),
        _one_of("applied_set_by", SOURCES, "where the applied values are set, as the broker reports; in rows in force"),
        *_values("applied_", "as the broker applied it last, in rows in force"),
        Field("publish_msgs_per_s", "long", "publish average that a relative rate is added to; null: the log has none, or the rate is not relative", "messages/s", nullable=True),
        Field("publish_bytes_per_s", "long", "publish average that a relative rate is added to", "bytes/s", nullable=True),
        _one_of("policy_disagreement", POLICY_DISAGREEMENTS, "how the applied values differ from those in force by the rules; null: the log does not tell, or the row is shadowed"),
        *completeness_of_life("false: the topic's load was not in the log, or events of the broker were lost or quarantined since"),
    ),
)  # fmt: skip
