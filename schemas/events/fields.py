"""Every field of the log, declared once. A type lists those that it carries (types.py): one field means the same in all of them."""

from schemas.events.declared import (
    CONTRACT_VERSION,
    INT_MAX,
    LOG_VERSIONS,
    LONG_MAX,
    NS_MAX,
    YEAR_2000_MS,
    YEAR_2100_MS,
    EventField,
)

LIMITER_LEVELS = ("broker", "topic", "subscription")
LIMITER_KINDS = ("token_bucket", "classic")
SUB_TYPES = ("Exclusive", "Shared", "Failover", "Key_Shared")
QUOTA_TYPES = ("destination_storage", "message_age")
QUOTA_POLICIES = ("producer_request_hold", "producer_exception", "consumer_backlog_eviction")
ACK_TYPES = ("individual", "cumulative")
ROUND_PHASES = ("start", "end")
THROTTLE_TYPES = (
    "ConnectionMaxPendingPublishRequestsExceeded",
    "IOThreadMaxPendingPublishBytesExceeded",
    "TopicPublishRate",
    "ResourceGroupPublishRate",
    "BrokerPublishRate",
    "ConnectionOutboundBufferFull",
    "ConnectionPauseReceivingCooldownRateLimit",
)
#: Where a rate or a quota can be set, weakest first. A value that is set further behind shadows those before it.
SOURCES = (
    "broker_config",
    "dynamic_config",
    "namespace_legacy",
    "namespace",
    "topic_global",
    "topic",
    "subscription_global",
    "subscription",
)
POLICY_KINDS = (
    "broker_dispatch_rate",
    "topic_dispatch_rate",
    "subscription_dispatch_rate",
    "replicator_dispatch_rate",
    "backlog_quota",
)
CURSOR_KINDS = ("subscription", "reader", "replicator", "deduplication", "compaction")
UNACKED_CAPS = ("consumer", "subscription", "broker")
TRANSACTION_ACTIONS = ("publish", "ack", "commit", "abort")
#: Why a Key_Shared dispatcher puts entries aside, or reads none: PersistentStickyKeyDispatcherMultipleConsumers.
BLOCKED_REASONS = ("no_permits", "unacked_limit", "key_in_replay", "draining", "no_consumer", "look_ahead_limit")
#: What moved a mark-delete position when no consumer's acknowledgement did.
MOVERS = ("expired", "evicted", "skipped", "cleared", "broker")
_SECOND = LOG_VERSIONS[1]
_THIRD = LOG_VERSIONS[2]


def _count(name: str, meaning: str, unit: str = "", since: str = LOG_VERSIONS[0]) -> EventField:
    return EventField(name, "long", meaning, unit, minimum=0, since=since)


def _text(name: str, meaning: str, one_of: tuple[str, ...] = (), since: str = LOG_VERSIONS[0]) -> EventField:
    return EventField(name, "string", meaning, one_of=one_of, since=since)


def _flag(name: str, meaning: str, since: str = LOG_VERSIONS[0]) -> EventField:
    return EventField(name, "boolean", meaning, since=since)


def _answer(name: str, meaning: str, unit: str = "") -> EventField:
    return EventField(name, "long", meaning, unit, minimum=-1)


def _tokens(limiter: str, dimension: str, unit: str) -> EventField:
    meaning = f"permits in the {limiter} limiter's books right after it answered `{limiter}_{dimension}`, negative = debt"
    return EventField(f"{limiter}_{dimension}_tokens", "long", meaning, unit, since=_SECOND)


ENVELOPE = (
    EventField("v", "long", "contract version", minimum=CONTRACT_VERSION, maximum=CONTRACT_VERSION),
    _text("broker", "broker id, host:port of its web service"),
    EventField("epoch", "long", "start of this broker process", "ms since 1970", YEAR_2000_MS, YEAR_2100_MS - 1),
    EventField("seq", "long", "1, 2, 3 … without gaps in one (broker, epoch)", minimum=1, maximum=LONG_MAX - 1),
    EventField("ts", "long", "broker wall clock", "µs since 1970, UTC", YEAR_2000_MS * 1000, YEAR_2100_MS * 1000 - 1),
    EventField("ns", "long", "broker monotonic clock; absent: ts × 1000, and a clock that stands where ts falls back", "ns", 0, NS_MAX),
    _text("type", "event type; an unknown one is kept"),
)
#: `ns` alone may be absent.
ENVELOPE_REQUIRED = ("v", "broker", "epoch", "seq", "ts", "type")

PAYLOAD = (
    _text("cluster", "Pulsar cluster"),
    _text("version", "Pulsar version"),
    EventField("settings", "map", "Pulsar's own configuration keys and values"),
    _text("key", "configuration key that changed"),
    _text("value", "its new value"),
    _count("dropped", "events lost by the collector since the start"),
    _count("pending_bytes", "bytes pending in channel write buffers", "bytes"),
    _text("level", "which limiter", LIMITER_LEVELS),
    _text("topic", "full topic name"),
    _text("sub", "subscription (cursor) name"),
    EventField("msg_rate", "long", "messages per period, ≤ 0 = no limit", "messages"),
    EventField("byte_rate", "long", "bytes per period, ≤ 0 = no limit", "bytes"),
    EventField("period_s", "long", "limiter period", "s", maximum=INT_MAX),
    _flag("relative", "rate is added to the publish rate"),
    _text("limiter", "limiter model", LIMITER_KINDS),
    _text("quota_type", "which backlog quota", QUOTA_TYPES),
    EventField("limit", "long", "quota limit (bytes or s), < 0 = none; cap of unacknowledged messages", "bytes, s or messages"),
    _text("policy", "action of the broker at the limit", QUOTA_POLICIES),
    _count("ledger", "BookKeeper ledger id"),
    EventField("entry", "long", "entry in the ledger; −1 = before the first", minimum=-1),
    _count("entries", "entries", "entries"),
    _count("bytes", "stored bytes", "bytes"),
    EventField("close_ts", "long", "when the ledger was closed", "ms since 1970", 0, YEAR_2100_MS - 1),
    _flag("snapshot", "existed before the topic was loaded"),
    _flag("durable", "durable cursor"),
    _text("sub_type", "subscription type", SUB_TYPES),
    _count("consumer", "consumer id, unique on its connection"),
    _count("conn", "connection id, unique in an epoch"),
    _count("producer", "producer id"),
    _count("msgs", "messages (batch size)", "messages"),
    EventField("publish_ts", "long", "producer clock", "ms since 1970"),
    EventField("permits", "long", "consumer permits: in flow those that were granted, else those that were there", "messages"),
    EventField("want_msgs", "long", "entries asked for before any limiter", "messages", 0, INT_MAX),
    _count("want_bytes", "bytes asked for before any limiter", "bytes"),
    _answer("broker_msgs", "broker limiter's answer, −1 = unlimited", "messages"),
    _answer("broker_bytes", "broker limiter's answer, −1 = unlimited", "bytes"),
    _answer("topic_msgs", "topic limiter's answer, −1 = unlimited", "messages"),
    _answer("topic_bytes", "topic limiter's answer, −1 = unlimited", "bytes"),
    _answer("sub_msgs", "subscription limiter's answer, −1 = unlimited", "messages"),
    _answer("sub_bytes", "subscription limiter's answer, −1 = unlimited", "bytes"),
    EventField("left_msgs", "long", "result of the walk, −1 = blocked", "messages", -1, INT_MAX),
    _answer("left_bytes", "result of the walk, −1 = blocked", "bytes"),
    EventField("asked_ns", "long", "when the first limiter was asked", "ns", 0, NS_MAX),
    _flag("charged", "false: no limiter was charged"),
    _text("ack_type", "how it was acknowledged", ACK_TYPES),
    EventField("batch_index", "long", "−1: a part of a batch, its bits are in ack_set", minimum=-1, maximum=INT_MAX),
    EventField("ack_set", "longs", "words of the bit set of a partly acknowledged batch"),
    _flag("persisted", "in the metadata that orders the slowest cursor"),
    _flag("reset", "moved by a seek"),
    _text("phase", "start or end of a round of quota checks, or of a compaction", ROUND_PHASES),
    _count("duration_us", "how long it took; of a quota_check since the start of its round", "µs"),
    _text("cause", "why a quota check happened outside of a round; why entries are delivered again"),
    _text("remote", "client address"),
    _flag("writable", "channel below its high water mark"),
    _text("throttle_type", "reason to stop reading from a connection", THROTTLE_TYPES),
    _flag("on", "set or cleared"),
    _text("command", "request handled"),
    _text("log_version", "version of the log that the collector writes; absent: 1.0", since=_SECOND),
    EventField("missing_points", "strings", "points of the collector that this broker's version lacks", since=_SECOND),
    _text("source", "where the rate or quota is set", SOURCES, since=_SECOND),
    _text("policy_kind", "the kind of policy that is set", POLICY_KINDS, since=_SECOND),
    _text("namespace", "tenant/namespace", since=_SECOND),
    _text("cursor_kind", "whose cursor it is", CURSOR_KINDS, since=_SECOND),
    _tokens("broker", "msgs", "messages"),
    _tokens("broker", "bytes", "bytes"),
    _tokens("topic", "msgs", "messages"),
    _tokens("topic", "bytes", "bytes"),
    _tokens("sub", "msgs", "messages"),
    _tokens("sub", "bytes", "bytes"),
    EventField("commands", "long", "how many of the like this event sums; absent: 1", minimum=1, since=_SECOND),
    _text("cap", "which cap of unacknowledged messages", UNACKED_CAPS, since=_SECOND),
    _count("unacked_msgs", "messages that were delivered and not acknowledged", "messages", since=_SECOND),
    _flag("replay", "of entries that are delivered again", since=_SECOND),
    _text("error", "class of the failure; absent: it succeeded", since=_SECOND),
    _count("avg_msgs_per_s", "average publish rate that a relative rate follows", "messages/s", since=_SECOND),
    _count("avg_bytes_per_s", "average publish rate that a relative rate follows", "bytes/s", since=_SECOND),
    _text("transaction_action", "the step of the transaction", TRANSACTION_ACTIONS, since=_SECOND),
    _count("first_ledger", "ledger of the lowest position", since=_THIRD),
    _count("first_entry", "entry of the lowest position", since=_THIRD),
    _count("last_ledger", "ledger of the highest position", since=_THIRD),
    _count("last_entry", "entry of the highest position", since=_THIRD),
    _count("redelivered", "entries that were delivered before and given back; absent: the broker does not count them", "entries", _THIRD),
    _count("consumers", "consumers", since=_THIRD),
    _count("as_of_seq", "`seq` of the newest event when the broker was asked", since=_THIRD),
    _count("backlog_entries", "entries that are not acknowledged, as the broker's precise backlog", "entries", _THIRD),
    _count("deleted_entries", "entries behind the mark-delete position that are individually acknowledged", "entries", _THIRD),
    _count("read_ledger", "ledger of the read position: the next entry that is read", since=_THIRD),
    EventField("read_entry", "long", "entry of the read position", minimum=-1, since=_THIRD),
    _flag("read_out", "a read of the dispatcher has not come back (havePendingRead)", _THIRD),
    _flag("replay_out", "a read of entries that are delivered again has not come back (havePendingReplayRead)", _THIRD),
    _flag("read_waits", "the read waits for a new entry, storage is not asked (waitingReadOp)", _THIRD),
    _flag("blocked", "a cap of unacknowledged messages stops deliveries", _THIRD),
    _flag("moving", "the numbers changed while they were read: they are not of one instant", _THIRD),
    _flag("connected", "the replicator has a producer in the other cluster", _THIRD),
    _count("delayed_entries", "entries held for later delivery", "entries", _THIRD),
    _count("replay_entries", "entries in the replay queue: given back, or put aside", "entries", _THIRD),
    _count("ledgers", "ledgers in the list", since=_THIRD),
    _count("producers", "producers", since=_THIRD),
    _count("open_transactions", "transactions with messages in the topic that are neither committed nor aborted", since=_THIRD),
    EventField(
        "max_read_ledger", "long", "ledger of maxReadPosition, up to which dispatchers may read; −1: up to none", minimum=-1, since=_THIRD
    ),
    EventField("max_read_entry", "long", "entry of maxReadPosition", minimum=-1, since=_THIRD),
    EventField("txn_most_bits", "long", "most significant bits of the transaction's id", since=_THIRD),
    EventField("txn_least_bits", "long", "least significant bits of the transaction's id", since=_THIRD),
    _text("consumer_name", "name of the consumer, as far as the options of the collector show it", since=_THIRD),
    _text("producer_name", "name of the producer, as far as the options of the collector show it", since=_THIRD),
    EventField("priority_level", "long", "priority level of the consumer, 0 is the highest", since=_THIRD),
    _count("out_msgs", "messages sent to the consumer since it connected", "messages", _THIRD),
    _count("redelivered_msgs", "of them, those that were sent before", "messages", _THIRD),
    _count("acked_msgs", "acknowledgements of the consumer since it connected (messageAckCounter)", "messages", _THIRD),
    EventField("msgs_tokens", "long", "permits in messages in the limiter's books, negative = debt", "messages", since=_THIRD),
    EventField("bytes_tokens", "long", "permits in bytes in the limiter's books, negative = debt", "bytes", since=_THIRD),
    _text("moved_by", "cause of a move of the mark-delete position that no consumer's acknowledgement made", MOVERS, since=_THIRD),
    _text("reason", "why entries are put aside, or none is read", BLOCKED_REASONS, since=_THIRD),
)

FIELDS = {f.name: f for f in (*ENVELOPE, *PAYLOAD)}
#: These name a lane, a limiter or an id: an empty one would be somebody.
NEVER_EMPTY = ("broker", "topic", "sub")
