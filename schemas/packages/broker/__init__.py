"""What a broker is made of: it has no tables of its own, all packages read its state."""

from schemas.events import SUB_TYPES
from schemas.packages.declaration import Declaration

#: `version_number` of Pulsar a.b.c is a · 10^6 + b · 10^3 + c.
VERSION_BASE = 1000
#: Whose cursor it is where the log does not say so (version 1.0): one of Pulsar's own by its name, or by the beginning of its name.
KINDS_BY_NAME = {"pulsar.dedup": "deduplication", "__compaction": "compaction"}
KINDS_BY_PREFIX = {"pulsar.repl": "replicator"}
_SETTINGS = {
    "dispatchThrottlingOnBatchMessageEnabled": "flag",
    "preciseTimeBasedBacklogQuotaCheck": "flag",
    "backlogQuotaCheckEnabled": "flag",
    "backlogQuotaCheckIntervalInSeconds": "integer",
}
#: `is_exact`: nothing happened on the broker between the question and this event.
_STATE_QUESTIONS = {
    "is_exact": ("as_of_seq", "seq"),
    "is_moving": ("moving",),
    "is_durable": ("durable",),
    "is_blocked": ("blocked",),
    "is_read_out": ("read_out", "replay_out"),
    "is_read_waiting": ("read_waits",),
    **{f"is_{sub_type}": ("sub_type",) for sub_type in SUB_TYPES},
}

PACKAGE = Declaration(
    "broker",
    "Which brokers and topics are there?",
    slots={
        "broker_start": (*(f"settings.{key}" for key in _SETTINGS), "version_number", "missing_events"),
        "setting": tuple(f"setting.{key}" for key in _SETTINGS),
        "dispatch_rate": ("level", "msg_rate", "byte_rate", "period_s", "relative", "limiter"),
        "publish_rate": ("avg_msgs_per_s", "avg_bytes_per_s"),
        "backlog_quota": ("quota_type", "limit", "policy"),
        "ledger_open": ("ledger", "snapshot"),
        "ledger_close": ("ledger", "entries", "bytes", "close_ts", "snapshot"),
        "ledger_trim": ("ledger",),
        "cursor_open": ("ledger", "entry", "entries", "durable", "snapshot", "cursor_kind_number"),
        "dispatcher_open": ("sub_type",),
        "publish": ("ledger", "entry", "msgs", "bytes", "publish_ts"),
        "dispatch": ("entries", "msgs", "bytes", "last_ledger", "last_entry"),
        "redeliver": ("entries",),
        **dict.fromkeys(("ack", "broker_ack"), ("ledger", "entry", "ack_type", "batch_index")),
        "mark_delete": ("ledger", "entry", "persisted", "reset"),
        "conn_open": ("conn",),
        "conn_close": ("conn",),
        "writability": ("conn", "writable", "pending_bytes"),
        "throttle": ("conn", "throttle_type", "on"),
        "request": ("conn",),
        "producer_open": ("conn", "producer"),
        "producer_close": ("conn", "producer"),
        "consumer_open": ("conn", "consumer"),
        "consumer_close": ("conn", "consumer"),
        "state": (
            *("ledger", "entry", "read_ledger", "read_entry", "backlog_entries", "deleted_entries"),
            *("consumers", "permits", "delayed_entries", "replay_entries", "cursor_kind_number"),
        ),
        "topic_state": ("ledger", "entry", "entries", "bytes"),
        "consumer_state": ("conn", "consumer"),
    },
    questions={"state": _STATE_QUESTIONS, "topic_state": {"is_moving": _STATE_QUESTIONS["is_moving"]}},
    computed={
        "version_number": ("version",),
        "missing_events": ("missing_points",),  # bits of the event types that lack something (schemas/events/points.py)
        "cursor_kind_number": ("cursor_kind", "sub", "durable"),
    },
    settings=_SETTINGS,
    views=("topics", "brokers"),
)
