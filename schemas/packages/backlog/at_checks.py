"""How far behind every topic and subscription was, at every quota check."""

from schemas.completeness import completeness_of_life
from schemas.events import CURSOR_KINDS, QUOTA_POLICIES
from schemas.field import Field, Table

#: What a check decided: which quota is exceeded, size before time. `unknown`: the log lacks what the rule needs.
DECISIONS = ("none", "size", "time", "unknown")
#: `log`: the broker wrote that it checked. `interval`: its log has no checks, so one is made at the configured interval of the lane's time.
CHECK_SOURCES = ("log", "interval")
_POLICIES = ", ".join(f"'{policy}'" for policy in QUOTA_POLICIES)


def counted(name: str, meaning: str, unit: str = "entries", nullable: bool = False) -> Field:
    """A column that is never negative."""
    return Field(name, "long", meaning, unit, nullable=nullable, check=f"{name} >= 0")


def policy(name: str, meaning: str) -> Field:
    """A quota's retention policy, null where none is known."""
    return Field(name, "string", meaning, nullable=True, check=f"{name} IN ({_POLICIES})")


def _evictions(kind: str) -> tuple[Field, Field]:
    name = f"storage_backlog_quota_exceeded_evictions_{kind}"
    rounds = f"eviction rounds for {kind}, this check's included, whether anything was evicted or not"
    return (
        Field(name, "long", f"{rounds}, since the topic was loaded", check=f"{name} >= 0",
              pulsar=f'pulsar_storage_backlog_quota_exceeded_evictions_total{{quota_type="{kind}"}}'),
        Field(f"{name}_durable", "long", f"{rounds}, since the broker started: an unload does not reset it", check=f"{name}_durable >= 0"),
    )  # fmt: skip


TOPIC_BACKLOG = Table(
    "topic_backlog",
    "One row per topic and quota check: the state just before any action of it, as the broker believes it.",
    grain=("broker", "epoch", "topic", "check_time", "check_number"),
    age_by="check_time",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("topic", "string", "full topic name"),
        Field("check_time", "timestamp", "instant of the decision: just before the broker acted, else when the check was done"),
        counted("check_number", "1, 2, 3 … over all checks of the broker in this epoch", ""),
        Field("check_source", "string", "who reports that a check happened", check="check_source IN ('log', 'interval')"),
        Field("backlog_size", "long", "the broker's estimate from its slowest durable cursor; null: the topic's life is not in the log", "bytes",
              nullable=True, check="backlog_size >= 0", pulsar="pulsar_storage_backlog_size, backlogSize"),
        counted("storage_size", "bytes of all ledgers of the topic", "bytes", nullable=True),
        Field("backlog_quota_limit_size", "long", "size limit, < 0 = none; null: not known", "bytes", nullable=True, pulsar="backlogQuotaLimitSize"),
        Field("backlog_quota_limit_time", "long", "age limit, < 0 = none; null: not known", "s", nullable=True, pulsar="backlogQuotaLimitTime"),
        policy("policy_size", "action of the broker at the size limit"),
        policy("policy_time", "action of the broker at the age limit"),
        Field("oldest_backlog_message_age_seconds", "long", "age by the broker's rule, −1 = none; null: not known", "s", nullable=True,
              pulsar="pulsar_storage_backlog_age_seconds, oldestBacklogMessageAgeSeconds"),
        Field("oldest_backlog_message_subscription_name", "string", "cursor that the broker names oldest; null: none", nullable=True,
              pulsar="oldestBacklogMessageSubscriptionName"),
        Field("oldest_believed_time", "timestamp", "time that the broker's age counts from: a publish or a ledger's close", nullable=True),
        Field("believed_age_is_certain", "boolean", "false: the state that decides on the oldest position changed between the start of the round and this check, or the log has no checks: the broker may have seen either state; null: no age", nullable=True),
        Field("true_oldest_publish_time", "timestamp", "publish time of the oldest entry that any subscription has not acknowledged", nullable=True),
        counted("subscriptions", "open cursors", ""),
        counted("producers", "connected producers", ""),
        Field("decision", "string", "which quota is exceeded", check="decision IN ('none', 'size', 'time', 'unknown')"),
        *_evictions("size"),
        *_evictions("time"),
        *completeness_of_life("false: met without its topic_load, or events of the broker were lost or quarantined since"),
    ),
)  # fmt: skip

SUBSCRIPTION_BACKLOG = Table(
    "subscription_backlog",
    "One row per subscription and quota check: its backlog, and the counts since its cursor was opened.",
    grain=("broker", "epoch", "topic", "subscription", "check_time", "check_number"),
    age_by="check_time",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("topic", "string", "full topic name"),
        Field("subscription", "string", "subscription (cursor) name"),
        Field("check_time", "timestamp", "as in topic_backlog"),
        counted("check_number", "as in topic_backlog", ""),
        Field("opened_at", "timestamp", "when this cursor was opened on this load of the topic: counters begin there"),
        Field("durable", "boolean", "durable cursor; a reader's is not"),
        Field("cursor_kind", "string", f"whose cursor it is: {', '.join(CURSOR_KINDS)}; null: its opening was not seen", nullable=True,
              added=True),
        Field("msg_backlog", "long", "entries not acknowledged", "entries", check="msg_backlog >= 0", pulsar="msgBacklog"),
        counted("backlog_messages", "messages in them; null where an entry of them was not seen published", "messages", nullable=True),
        Field("backlog_size", "long", "the broker's estimate from this cursor's own mark-delete position", "bytes", check="backlog_size >= 0",
              pulsar="subscriptions.backlogSize"),
        Field("oldest_publish_time", "timestamp", "publish time of its oldest unacknowledged entry; null: none, or not known", nullable=True,
              pulsar="earliestMsgPublishTimeInBacklog, if no entry behind the mark-delete position is acknowledged"),
        Field("oldest_age_ms", "long", "check_time less oldest_publish_time", "ms", nullable=True),
        counted("exact_to_ms", "oldest_publish_time is exact to this: 0 unless the topic retains very many entries", "ms"),
        Field("mark_delete_ledger", "long", "mark-delete position in memory"),
        Field("mark_delete_entry", "long", "mark-delete position in memory, −1 = before the first"),
        counted("individually_deleted", "entries acknowledged behind it"),
        Field("in_flight_entries", "long", "entries of msg_backlog that consumers have: delivered, neither acknowledged nor given back", "entries",
              nullable=True, added=True),
        counted("unacked_entries", "entries that the broker counts as unacknowledged: 0 of Exclusive and Failover; before 4.0.11 and 4.2.2 also "
                "those that were removed in flight, until the consumers leave"),
        Field("unacked_messages", "long", "messages in unacked_entries; null: not known", "messages", nullable=True, added=True,
              pulsar="unackedMessages"),
        counted("dispatched_entries", "entries delivered since opened_at"),
        counted("dispatched_msgs", "messages delivered since opened_at", "messages"),
        Field("opened_backlog", "long", "msg_backlog when the cursor was opened", "entries"),
        counted("published_entries", "entries added since opened_at"),
        counted("acknowledged_entries", "entries that consumers acknowledged since opened_at"),
        counted("evicted_entries", "entries that backlog-quota evictions skipped since opened_at"),
        counted("expired_entries", "entries that went without an acknowledgement or eviction (expiry, skip, clear) since opened_at"),
        Field("sought_entries", "long", "entries that seeks brought back (negative: skipped) since opened_at", "entries"),
        Field("unexplained_entries", "long",
              "msg_backlog − (opened + published − acknowledged − evicted − expired + sought): 0, or something is wrong", "entries"),
        *completeness_of_life("as in topic_backlog, and the cursor's opening was seen, without entries acknowledged behind it"),
    ),
)  # fmt: skip
