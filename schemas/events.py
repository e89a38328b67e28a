"""The dispatch-event log, contract version 1: every field and every event type, declared once.

The parser, the bronze table, `validate` and the documentation are rendered from this declaration.
"""

from dataclasses import dataclass

LONG_MAX = 2**63 - 1
LONG_MIN = -(2**63)
INT_MAX = 2**31 - 1
CONTRACT_VERSION = 1
#: Wall-clock times outside [2000-01-01, 2100-01-01) are a broken clock or a wrong unit, never a broker's event.
YEAR_2000_MS = 946_684_800_000
YEAR_2100_MS = 4_102_444_800_000
#: 146 years of a monotonic clock: leaves room to add any period without leaving 64 bits.
NS_MAX = 2**62

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


@dataclass(frozen=True)
class EventField:
    """One field of the log: `kind` is long, string, boolean, map (string to string) or longs (list of long)."""

    name: str
    kind: str
    meaning: str
    unit: str = ""
    minimum: int = LONG_MIN
    maximum: int = LONG_MAX
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class EventType:
    """One event type: its number in the lanes (never reused), and which payload fields it must and may carry."""

    name: str
    code: int
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def _count(name: str, meaning: str, unit: str = "") -> EventField:
    return EventField(name, "long", meaning, unit, minimum=0)


def _text(name: str, meaning: str, one_of: tuple[str, ...] = ()) -> EventField:
    return EventField(name, "string", meaning, one_of=one_of)


def _flag(name: str, meaning: str) -> EventField:
    return EventField(name, "boolean", meaning)


def _answer(name: str, meaning: str) -> EventField:
    return EventField(name, "long", meaning, minimum=-1)


ENVELOPE = (
    EventField("v", "long", "contract version", minimum=CONTRACT_VERSION, maximum=CONTRACT_VERSION),
    _text("broker", "broker id, host:port of its web service"),
    EventField("epoch", "long", "start of this broker process", "ms since 1970", YEAR_2000_MS, YEAR_2100_MS - 1),
    EventField("seq", "long", "1, 2, 3 … without gaps in one (broker, epoch)", minimum=1, maximum=LONG_MAX - 1),
    EventField("ts", "long", "broker wall clock", "µs since 1970, UTC", YEAR_2000_MS * 1000, YEAR_2100_MS * 1000 - 1),
    EventField("ns", "long", "broker monotonic clock; absent: ts × 1000", "ns", 0, NS_MAX),
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
    EventField("limit", "long", "quota limit, < 0 = none", "bytes or s"),
    _text("policy", "what the broker does at the limit", QUOTA_POLICIES),
    _count("ledger", "BookKeeper ledger id"),
    EventField("entry", "long", "entry in the ledger; −1 = before the first", minimum=-1),
    _count("entries", "entries", "entries"),
    _count("bytes", "stored bytes", "bytes"),
    EventField("close_ts", "long", "when the ledger was closed", "ms since 1970", 0, YEAR_2100_MS - 1),
    _flag("snapshot", "existed before the topic was loaded"),
    _flag("durable", "durable cursor"),
    _text("sub_type", "subscription type", SUB_TYPES),
    _count("consumer", "consumer id"),
    _count("conn", "connection id, unique in an epoch"),
    _count("producer", "producer id"),
    _count("msgs", "messages (batch size)", "messages"),
    EventField("publish_ts", "long", "producer clock", "ms since 1970"),
    EventField("permits", "long", "consumer permits", "messages"),
    EventField("want_msgs", "long", "entries asked for before any limiter", "messages", 0, INT_MAX),
    _count("want_bytes", "bytes asked for before any limiter", "bytes"),
    _answer("broker_msgs", "broker limiter's answer, −1 = unlimited"),
    _answer("broker_bytes", "broker limiter's answer, −1 = unlimited"),
    _answer("topic_msgs", "topic limiter's answer, −1 = unlimited"),
    _answer("topic_bytes", "topic limiter's answer, −1 = unlimited"),
    _answer("sub_msgs", "subscription limiter's answer, −1 = unlimited"),
    _answer("sub_bytes", "subscription limiter's answer, −1 = unlimited"),
    EventField("left_msgs", "long", "what the walk left, −1 = blocked", "messages", -1, INT_MAX),
    _answer("left_bytes", "what the walk left, −1 = blocked"),
    EventField("asked_ns", "long", "when the first limiter was asked", "ns", 0, NS_MAX),
    _flag("charged", "false: no limiter was charged"),
    _text("ack_type", "how it was acknowledged", ACK_TYPES),
    EventField("batch_index", "long", "−1: a part of a batch, its bits are in ack_set", minimum=-1, maximum=INT_MAX),
    EventField("ack_set", "longs", "words of the bit set of a partly acknowledged batch"),
    _flag("persisted", "in the metadata that orders the slowest cursor"),
    _flag("reset", "moved by a seek"),
    _text("phase", "of a round of quota checks", ROUND_PHASES),
    _count("duration_us", "since the start of the round", "µs"),
    _text("cause", "why a quota check happened outside of a round"),
    _text("remote", "client address"),
    _flag("writable", "channel below its high water mark"),
    _text("throttle_type", "reason to stop reading from a connection", THROTTLE_TYPES),
    _flag("on", "set or cleared"),
    _text("command", "request handled"),
)

_ANSWERS = ("broker_msgs", "broker_bytes", "topic_msgs", "topic_bytes", "sub_msgs", "sub_bytes", "left_msgs", "left_bytes")

EVENT_TYPES = (
    EventType("broker_start", 1, ("cluster", "version", "settings")),
    EventType("broker_stop", 2),
    EventType("setting", 3, ("key", "value")),
    EventType("heartbeat", 4, ("dropped",), ("pending_bytes",)),
    EventType("dispatch_rate", 5, ("level", "msg_rate", "byte_rate", "period_s", "relative", "limiter"), ("topic", "sub")),
    EventType("backlog_quota", 6, ("topic", "quota_type", "limit", "policy")),
    EventType("topic_load", 7, ("topic",)),
    EventType("topic_unload", 8, ("topic",)),
    EventType("ledger_open", 9, ("topic", "ledger"), ("snapshot",)),
    EventType("ledger_close", 10, ("topic", "ledger", "entries", "bytes", "close_ts"), ("snapshot",)),
    EventType("ledger_trim", 11, ("topic", "ledger")),
    EventType("cursor_open", 12, ("topic", "sub", "durable", "ledger", "entry"), ("entries", "snapshot")),
    EventType("cursor_close", 13, ("topic", "sub")),
    EventType("dispatcher_open", 14, ("topic", "sub", "sub_type")),
    EventType("dispatcher_close", 15, ("topic", "sub")),
    EventType("consumer_open", 16, ("topic", "sub", "consumer", "conn")),
    EventType("consumer_close", 17, ("topic", "sub", "consumer", "conn")),
    EventType("producer_open", 18, ("topic", "producer", "conn")),
    EventType("producer_close", 19, ("topic", "producer", "conn")),
    EventType("publish", 20, ("topic", "ledger", "entry", "msgs", "bytes", "publish_ts")),
    EventType("read", 21, ("topic", "sub", "sub_type", "want_msgs", "want_bytes"), ("permits", *_ANSWERS, "asked_ns")),
    EventType("dispatch", 22, ("topic", "sub", "entries", "msgs", "bytes"), ("charged",)),
    EventType("ack", 23, ("topic", "sub", "consumer", "ack_type", "ledger", "entry"), ("batch_index", "ack_set")),
    EventType("mark_delete", 24, ("topic", "sub", "ledger", "entry", "persisted"), ("reset",)),
    EventType("quota_round", 25, ("phase",), ("duration_us",)),
    EventType("quota_check", 26, ("topic",), ("duration_us", "cause")),
    EventType("quota_exceeded", 27, ("topic", "quota_type", "policy", "limit")),
    EventType("conn_open", 28, ("conn",), ("remote",)),
    EventType("conn_close", 29, ("conn",)),
    EventType("writability", 30, ("conn", "writable", "pending_bytes")),
    EventType("throttle", 31, ("conn", "throttle_type", "on")),
    EventType("request", 32, ("conn", "command")),
)
#: `type_code` of a type that this version does not know. It is kept in bronze and only moves time in its lane.
UNKNOWN_TYPE_CODE = 0
#: In a lane only: a rejected line whose envelope could be read.
TOMBSTONE_CODE = 100
#: In a lane only: control rows, all above TOMBSTONE_CODE; pipeline/lanes/orders.py has what they ask.
DRAIN_CODE, HOLD_CODE, SEED_CODE, RELEASE_CODE = 101, 102, 103, 104

FIELDS = {f.name: f for f in (*ENVELOPE, *PAYLOAD)}
TYPES_BY_NAME = {t.name: t for t in EVENT_TYPES}
CODES = {t.name: t.code for t in EVENT_TYPES}
#: `dispatch_rate` needs more text the deeper its limiter lies.
DISPATCH_RATE_TEXT = {"broker": (), "topic": ("topic",), "subscription": ("topic", "sub")}
