"""How an event travels to its lane: a few int64 columns without nulls, payload fields in shared slots.

Every column across the shuffle and into Python costs, a nullable long would arrive as float64 and lose ids above 2^53,
and no event type of the lanes uses more than ten payload fields. So slot k means something else for each type; an absent value
is 0 and its bit in `mask` is not set (bit k for slot k). Flags and enumerations travel as numbers. A yes or no that is asked of an event
whose slots are all taken is a bit of `mask` above theirs.
"""

from schemas.events import ACK_TYPES, LIMITER_KINDS, LIMITER_LEVELS, QUOTA_POLICIES, QUOTA_TYPES, ROUND_PHASES, SUB_TYPES, THROTTLE_TYPES

SLOTS = 10
#: Pulsar configuration keys that a machine acts on, and how their text becomes a number: true or false as 1 or 0, or an integer.
SETTINGS = {
    "dispatchThrottlingOnBatchMessageEnabled": "flag",
    "preciseTimeBasedBacklogQuotaCheck": "flag",
    "backlogQuotaCheckEnabled": "flag",
    "backlogQuotaCheckIntervalInSeconds": "integer",
}
#: Settings of channels (PIP-434), which no `setting` event changes: two to a slot of `broker_start`, `pack` says how.
CHANNEL_SETTINGS: dict[str, dict[str, str]] = {
    "channel_marks": {"pulsarChannelWriteBufferHighWaterMark": "integer", "pulsarChannelWriteBufferLowWaterMark": "integer"},
    "channel_cooldown": {
        "pulsarChannelPauseReceivingCooldownMs": "integer",
        "pulsarChannelPauseReceivingCooldownRateLimitPermits": "integer",
    },
    "channel_pause": {
        "pulsarChannelPauseReceivingCooldownRateLimitPeriodMs": "integer",
        "pulsarChannelPauseReceivingRequestsIfUnwritable": "flag",
    },
    # What the PIP called them. No broker ever read these.
    "channel_pip": {
        "pulsarChannelRateLimitingSecondsAfterResumeFromUnreadable": "integer",
        "pulsarChannelRateLimitingRateAfterResumeFromUnreadable": "integer",
    },
}
#: Two settings in one slot: (first + 2) · 2^31 + (second + 2), each cut to −1 … 2^31 − 3; 0 stands for an absent one.
PACKED_BITS, PACKED_OFFSET, PACKED_LEAST, PACKED_MOST = 31, 2, -1, 2**31 - 3
#: `version_number` of Pulsar a.b.c is a · 10^6 + b · 10^3 + c.
VERSION_BASE = 1000
#: Group key of the lanes, which travels beside the columns: the broker, as the hash of its name.
LANE_KEY = "lane"
#: Columns of a lane row, in order.
LANE_COLUMNS = ("epoch", "seq", "ts", "ns", "type_code", "ingest_batch", "topic_id", "sub_id", "mask", *(f"s{k}" for k in range(SLOTS)))
#: Position of each column in an array of lane rows.
COLUMN = {name: position for position, name in enumerate(LANE_COLUMNS)}

#: Event type → payload fields in slot order. A type that is not listed carries no payload: it keeps `seq` whole and moves time.
SLOT_FIELDS: dict[str, tuple[str, ...]] = {
    # The settings that a machine acts on; absent settings have no bit in the mask.
    "broker_start": (*(f"settings.{key}" for key in SETTINGS), "version_number", *CHANNEL_SETTINGS),
    "setting": tuple(f"setting.{key}" for key in SETTINGS),
    "dispatch_rate": ("level", "msg_rate", "byte_rate", "period_s", "relative", "limiter"),
    "backlog_quota": ("quota_type", "limit", "policy"),
    "ledger_open": ("ledger", "snapshot"),
    "ledger_close": ("ledger", "entries", "bytes", "close_ts", "snapshot"),
    "ledger_trim": ("ledger",),
    "cursor_open": ("ledger", "entry", "entries", "durable", "snapshot", "cursor_owner"),
    "dispatcher_open": ("sub_type",),
    "publish": ("ledger", "entry", "msgs", "bytes", "publish_ts"),
    "read": (
        "want_left_msgs",  # want_msgs · 2^32 + (left_msgs + 2), both 32-bit; no left_msgs: + 0
        "want_bytes",
        "left_bytes",
        "broker_msgs",
        "broker_bytes",
        "topic_msgs",
        "topic_bytes",
        "sub_msgs",
        "sub_bytes",
        "asked_ns",
    ),
    "dispatch": ("entries", "msgs", "bytes", "charged"),
    "ack": ("ledger", "entry", "ack_type", "batch_index"),
    "mark_delete": ("ledger", "entry", "persisted", "reset"),
    "quota_round": ("phase", "duration_us"),
    "quota_check": ("duration_us", "outside_of_round"),
    "quota_exceeded": ("quota_type", "policy", "limit"),
    "heartbeat": ("pending_bytes",),
    "conn_open": ("conn",),
    "conn_close": ("conn",),
    "writability": ("conn", "writable", "pending_bytes"),
    "throttle": ("conn", "throttle_type", "on"),
    "request": ("conn", "keeps_alive"),  # PING and PONG, which no limiter counts
    "producer_open": ("conn", "producer"),
    "producer_close": ("conn", "producer"),
    "consumer_open": ("conn", "consumer"),
    "consumer_close": ("conn", "consumer"),
}
#: Event type → questions that bit SLOTS + k of `mask` answers with yes.
FLAG_FIELDS: dict[str, tuple[str, ...]] = {"read": ("one_permit",)}  # consumers had no more than one permit
#: Commands that keep a connection alive.
KEEP_ALIVE = ("PING", "PONG")
#: Text with few values travels as its position in the declared tuple.
ENUM_SLOTS = {
    "level": LIMITER_LEVELS,
    "limiter": LIMITER_KINDS,
    "sub_type": SUB_TYPES,
    "quota_type": QUOTA_TYPES,
    "policy": QUOTA_POLICIES,
    "ack_type": ACK_TYPES,
    "phase": ROUND_PHASES,
    "throttle_type": THROTTLE_TYPES,
}
#: Whose cursor it is: a subscription's, or one of Pulsar's own by the beginning of its name.
CURSOR_OWNERS = ("subscription", "deduplication", "replicator")
SYSTEM_CURSORS = {"pulsar.dedup": 1, "pulsar.repl": 2}
