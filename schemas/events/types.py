"""Every event type of the log: what it reports, and which fields it must and may carry."""

from schemas.events.declared import LOG_VERSIONS, EventType, Needs
from schemas.events.fields import FIELDS

_ANSWERS = ("broker_msgs", "broker_bytes", "topic_msgs", "topic_bytes", "sub_msgs", "sub_bytes")
_LEFT = ("left_msgs", "left_bytes")
_TOKENS = tuple(f"{answer}_tokens" for answer in _ANSWERS)
_RATE = ("msg_rate", "byte_rate", "period_s", "relative")
_SECOND = LOG_VERSIONS[1]
_THIRD = LOG_VERSIONS[2]
_SPAN = ("first_ledger", "first_entry", "last_ledger", "last_entry")

_BROKER = (
    EventType("broker_start", 1, "First event of an epoch: all in-memory state of that broker is new",
              ("cluster", "version", "settings"), ("log_version", "missing_points")),
    EventType("broker_stop", 2, "Clean stop: nothing follows in this epoch"),
    EventType("setting", 3, "A dynamic configuration value changed. `dispatch_rate` reports its effect on limiters",
              ("key", "value")),
    EventType("heartbeat", 4, "About one a second: event time goes on when nothing else happens", ("dropped",), ("pending_bytes",)),
)  # fmt: skip
_APPLIED = (
    EventType("dispatch_rate", 5, "A limiter was made, or its rate applied again, also unchanged: a token bucket is full again",
              ("level", *_RATE, "limiter"), ("topic", "sub", "source"),
              Needs("level", {"broker": (), "topic": ("topic",), "subscription": ("topic", "sub")})),
    EventType("backlog_quota", 6, "Effective quota of a loaded topic: at load and at each change",
              ("topic", "quota_type", "limit", "policy"), ("source",)),
)  # fmt: skip
_TOPICS = (
    EventType("topic_load", 7, "The topic object was made", ("topic",)),
    EventType("topic_unload", 8, "It was dropped, with its limiters, counters, evictions and its cache of the oldest position", ("topic",)),
    EventType("ledger_open", 9, "A ledger was opened for new entries", ("topic", "ledger"), ("snapshot",)),
    EventType("ledger_close", 10, "A ledger was closed with these totals. That of an unloaded topic comes closed at the next load",
              ("topic", "ledger", "entries", "bytes", "close_ts"), ("snapshot",)),
    EventType("ledger_trim", 11, "A ledger was removed from the list", ("topic", "ledger")),
    EventType("cursor_open", 12, "A cursor exists at that mark-delete position; `entries` behind it are individually deleted. The "
              "snapshots of a topic come in the order of the broker's heap of slowest cursors",
              ("topic", "sub", "durable", "ledger", "entry"), ("entries", "snapshot", "cursor_kind")),
    EventType("cursor_close", 13, "Unsubscribed, or the reader has gone", ("topic", "sub")),
    EventType("dispatcher_open", 14, "New dispatcher: its six throttle counters are 0. The `dispatcher_close` before it comes first",
              ("topic", "sub", "sub_type")),
    EventType("dispatcher_close", 15, "The dispatcher ended. It stays when its last consumer leaves", ("topic", "sub")),
    EventType("consumer_open", 16, "A consumer was added", ("topic", "sub", "consumer", "conn"), ("consumer_name", "priority_level")),
    EventType("consumer_close", 17, "A consumer was removed", ("topic", "sub", "consumer", "conn")),
    EventType("producer_open", 18, "A producer was added", ("topic", "producer", "conn")),
    EventType("producer_close", 19, "A producer was removed", ("topic", "producer", "conn")),
)  # fmt: skip
_DISPATCH = (
    EventType("publish", 20, "An entry was persisted", ("topic", "ledger", "entry", "msgs", "bytes", "publish_ts")),
    EventType("read", 21, "A dispatcher evaluated the read limits: its wish, the answer of each limiter (absent: no such limiter, or "
              "not asked; 0: nothing left), the result of the walk, and the balance of each limiter at that moment",
              ("topic", "sub", "sub_type", "want_msgs", "want_bytes"), ("permits", *_ANSWERS, *_LEFT, "asked_ns", *_TOKENS)),
    EventType("dispatch", 22, "One delivery to consumers, written just before it is charged to its limiters: `bytes`, and `msgs`, or "
              "`entries` instead where `dispatchThrottlingOnBatchMessageEnabled` was true when the dispatcher was opened. Where it "
              "went to several consumers it has `consumers`, and a `dispatch_share` for each comes just before it",
              ("topic", "sub", "entries", "msgs", "bytes"), ("charged", "conn", "consumer", "consumers", *_SPAN, "redelivered"),
              later={"conn": _THIRD, "consumer": _THIRD}),
    EventType("ack", 23, "One acknowledged position. With `batch_index` only a part of a batch: the entry stays",
              ("topic", "sub", "consumer", "ack_type", "ledger", "entry"), ("batch_index", "ack_set")),
    EventType("mark_delete", 24, "The mark-delete position moved, in memory or in the metadata that orders the slowest cursor. A position "
              "that is persisted again unchanged is not written. `moved_by`, of moves in memory: expired (TTL, an administrator's "
              "expiry), evicted (by a quota), skipped, cleared, broker (see `broker_ack`); absent: acknowledged, sought, or not known. "
              "A move passes entries that were acknowledged before, too",
              ("topic", "sub", "ledger", "entry", "persisted"), ("reset", "moved_by")),
)  # fmt: skip
_QUOTAS = (
    EventType("quota_round", 25, "One round of checks over all loaded topics. An end belongs to the start `duration_us` before it",
              ("phase",), ("duration_us",)),
    EventType("quota_check", 26, "The check of a topic is complete, its action included; or, with `cause` = producer, the oldest position "
              "was looked up because a producer asked to be opened", ("topic",), ("duration_us", "cause")),
    EventType("quota_exceeded", 27, "The broker acts on a quota: the `mark_delete` events of the eviction follow",
              ("topic", "quota_type", "policy", "limit")),
)  # fmt: skip
_CHANNELS = (
    EventType("conn_open", 28, "A client connected", ("conn",), ("remote",)),
    EventType("conn_close", 29, "A client's connection ended", ("conn",)),
    EventType("writability", 30, "The channel crossed a water mark", ("conn", "writable", "pending_bytes")),
    EventType("throttle", 31, "A reason to stop reading from the connection was set or cleared. `TopicPublishRate` and "
              "`ResourceGroupPublishRate` count: they may be set more than once", ("conn", "throttle_type", "on")),
    EventType("request", 32, "A request was handled while a cooldown limiter is open", ("conn", "command")),
)  # fmt: skip
_DELIVERY = (
    EventType("flow", 33, "A consumer granted permits. Thinned: one event has the sum of several commands",
              ("topic", "sub", "consumer", "conn", "permits"), ("commands",), since=_SECOND),
    EventType("consumer_blocked", 34, "A cap of unacknowledged messages stops deliveries, or does no longer",
              ("topic", "sub", "cap", "on"), ("consumer", "conn", "unacked_msgs", "limit"), since=_SECOND),
    EventType("delayed", 35, "How many entries a subscription holds for later delivery, when that changes",
              ("topic", "sub", "entries"), since=_SECOND),
    EventType("redeliver", 36, "Entries will be delivered again: `cause` is requested (by the client: a negative acknowledgement, or a "
              "timeout of its own; for the active consumer also an aborted transaction), consumer_closed, or aborted (a transaction "
              "that had acknowledged entries of a Shared or Key_Shared subscription; without a consumer). Without `entries` all that "
              "are not acknowledged, which the broker does not count. Thinned: one event has the sum of several commands",
              ("topic", "sub", "cause"), ("entries", "consumer", "conn", "commands"), since=_SECOND),
    EventType("read_done", 37, "Storage gave these entries, or failed with `error`; `duration_us` since it was asked",
              ("topic", "sub", "entries", "bytes"), ("duration_us", "replay", "error"), since=_SECOND),
)  # fmt: skip
_SET = (
    EventType("policy_set", 38, "A policy as it is set, written when a topic of the broker meets it first, and at each change. Without "
              "values it is set there no more. `sub`: an override for one subscription",
              ("source", "policy_kind"), ("namespace", "topic", "sub", *_RATE, "quota_type", "limit", "policy"),
              Needs("source", {
                  "namespace_legacy": ("namespace",), "namespace": ("namespace",), "topic_global": ("topic",), "topic": ("topic",),
                  "subscription_global": ("topic", "sub"), "subscription": ("topic", "sub"),
              }), since=_SECOND),
    EventType("publish_rate", 39, "The publish average of a topic that has a relative rate, when it changes",
              ("topic", "avg_msgs_per_s", "avg_bytes_per_s"), since=_SECOND),
)  # fmt: skip
_COUNTED = (
    EventType("compaction", 40, "The compaction of a topic began or ended", ("topic", "phase"), ("duration_us", "error"), since=_SECOND),
    EventType("transaction", 41, "Something was done in a transaction. Thinned: one event has the sum of several",
              ("topic", "transaction_action"), ("sub", "commands"), since=_SECOND),
)  # fmt: skip

_HELD_BACK = (
    EventType("dispatch_share", 46, "The part of the next `dispatch` of the subscription that one of several consumers got",
              ("topic", "sub", "consumer", "conn", "entries", "msgs", "bytes"), (*_SPAN, "redelivered"), since=_THIRD),
    EventType("keys_blocked", 47, "A Key_Shared dispatcher put entries aside that it had read: into the replay queue. An entry that is "
              "read again and put aside again counts again. With 0 entries: it did not read at all. `reason`: no_permits (the key's "
              "consumer has none), unacked_limit (it is at its cap of unacknowledged messages), key_in_replay (an earlier message of the "
              "key waits in the replay queue), draining (the key's hash has unacknowledged messages at another consumer), no_consumer (no "
              "consumer has the key), look_ahead_limit (the replay queue is full). `conn` and `consumer`: whose key it is. Thinned",
              ("topic", "sub", "reason", "entries"), ("conn", "consumer", "replay_entries", "commands"), since=_THIRD),
    EventType("transaction_open", 48, "The first message of a transaction in the topic is persisted, at that position. From now on "
              "dispatchers read up to maxReadPosition: the entry before the first message of the lowest open transaction. Written "
              "under the monitor of the TopicTransactionBuffer, also when a topic that is loaded finds open transactions",
              ("topic", "txn_most_bits", "txn_least_bits", "ledger", "entry", "max_read_ledger", "max_read_entry", "open_transactions"),
              since=_THIRD),
    EventType("transaction_end", 49, "A transaction ended in the topic: its marker is persisted. The fields have the transactions that are "
              "still open, and the position up to which dispatchers read now. Written under the same monitor",
              ("topic", "txn_most_bits", "txn_least_bits", "max_read_ledger", "max_read_entry", "open_transactions"),
              ("transaction_action",), since=_THIRD),
)  # fmt: skip
_OTHERS = (
    EventType("producer_refused", 50, "A producer asked to be opened and was refused: with `error`, the class of the failure. With "
              "`quota_type` because of a backlog quota: the client of `producer_request_hold` waits and asks again. Thinned",
              ("topic", "error"), ("quota_type", "policy", "producer_name", "conn", "producer", "commands"), since=_THIRD),
    EventType("replicator_connection", 51, "A replicator got its producer in the other cluster, lost it, or failed to make it: then with "
              "`error`, at each try", ("topic", "sub", "connected"), ("error",), since=_THIRD),
    EventType("replicator_read", 52, "A replicator got entries of storage, or failed with `error`. It sends them next. `broker_ack` and "
              "`mark_delete` show the replicated entries", ("topic", "sub", "entries", "bytes"), ("error",), since=_THIRD),
    EventType("broker_ack", 53, "The broker acknowledged a position for the subscription, no consumer did: a marker, a message of an "
              "aborted transaction, one that a filter rejected, or acknowledgements of a transaction that is committed now. "
              "Acknowledgements of a replicator are not written",
              ("topic", "sub", "ack_type", "ledger", "entry"), ("batch_index", "ack_set"), since=_THIRD),
)  # fmt: skip
_STATE = (
    EventType("state", 42, "The state of a subscription, of a cursor of the broker's own, or of a reader. `ledger` and `entry` are the "
              "mark-delete position in memory. `conn` and `consumer` are the active consumer of Exclusive and Failover. `msg_rate`, "
              "`byte_rate` and `connected` are those of a replicator",
              ("topic", "sub", "as_of_seq", "backlog_entries", "ledger", "entry", "read_ledger", "read_entry"),
              ("deleted_entries", "permits", "unacked_msgs", "consumers", "delayed_entries", "replay_entries", "conn", "consumer",
               "read_out", "replay_out", "read_waits", "blocked", "sub_type", "durable", "cursor_kind", "connected", "msg_rate",
               "byte_rate", "moving"), since=_THIRD),
    EventType("topic_state", 43, "The state of a topic. `ledger` and `entry` are the last confirmed position, `entries` and "
              "`bytes` those of all ledgers in the list. With open transactions: `txn_…` is the one with the lowest position",
              ("topic", "as_of_seq", "ledger", "entry", "entries", "bytes"),
              ("ledgers", "producers", "open_transactions", "max_read_ledger", "max_read_entry", "txn_most_bits", "txn_least_bits",
               "moving"), since=_THIRD),
    EventType("consumer_state", 44, "The state of a consumer",
              ("topic", "sub", "conn", "consumer", "as_of_seq", "permits", "unacked_msgs"),
              ("blocked", "consumer_name", "priority_level", "out_msgs", "redelivered_msgs", "acked_msgs"), since=_THIRD),
    EventType("limiter_state", 45, "A limiter with a rate, and its balance as of its latest update, without tokens that have come since. "
              "This event changes nothing of the limiter",
              ("level", *_RATE, "limiter", "as_of_seq"), ("topic", "sub", "msgs_tokens", "bytes_tokens"),
              Needs("level", {"broker": (), "topic": ("topic",), "subscription": ("topic", "sub")}), since=_THIRD),
)  # fmt: skip

#: Heading of each group → its types, in the order of their numbers.
GROUPS: dict[str, tuple[EventType, ...]] = {
    "The broker": _BROKER,
    "Policies, as applied to the object that enforces them": _APPLIED,
    "Topics, ledgers, subscriptions": _TOPICS,
    "The dispatch path": _DISPATCH,
    "Backlog quotas, as the broker saw them": _QUOTAS,
    "Channels": _CHANNELS,
    "Causes that hold deliveries back": _DELIVERY,
    "Policies, as they are set": _SET,
    "Counted only": _COUNTED,
    "The state that the broker holds": _STATE,
    "Shares of consumers, and consumers that get nothing": _HELD_BACK,
    "Refusals, replication, the broker's own acknowledgements": _OTHERS,
}
EVENT_TYPES: tuple[EventType, ...] = tuple(kind for group in GROUPS.values() for kind in group)
#: `type_code` of a type that this version does not know. It is kept in bronze and only moves time in its lane.
UNKNOWN_TYPE_CODE = 0
#: In a lane only: a rejected line whose envelope could be read.
TOMBSTONE_CODE = 100
#: In a lane only: the log is over.
DRAIN_CODE = 101


TYPES_BY_NAME = {t.name: t for t in EVENT_TYPES}
CODES = {t.name: t.code for t in EVENT_TYPES}


def since(kind: EventType, name: str) -> str:
    """The version of the log that brought the field `name` to this type."""
    return max(kind.since, FIELDS[name].since, kind.later.get(name, kind.since), key=LOG_VERSIONS.index)


def added_since(version: str) -> list[str]:
    """Types, and fields of older types (as type.field), that versions after `version` brought; none for a version that is not known."""
    if version not in LOG_VERSIONS:
        return []
    newer = LOG_VERSIONS[LOG_VERSIONS.index(version) + 1 :]
    types = [kind.name for kind in EVENT_TYPES if kind.since in newer]
    fields = [f"{t.name}.{name}" for t in EVENT_TYPES if t.since not in newer for name in t.fields if since(t, name) in newer]
    return [*types, *fields]
