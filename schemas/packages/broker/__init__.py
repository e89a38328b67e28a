"""What a broker is made of: it has no tables of its own, all packages read its state."""

from schemas.events import CURSOR_KINDS
from schemas.events.points import BITS_OF_POINTS
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
    "is_exact": "coalesce(as_of_seq >= seq - 1L, false)",
    "is_moving": "coalesce(moving, false)",
    "is_durable": "coalesce(durable, true)",
    "is_blocked": "coalesce(blocked, false)",
    "is_read_out": "coalesce(read_out, false) OR coalesce(replay_out, false)",
    "is_read_waiting": "coalesce(read_waits, false)",
}


def _version_number() -> str:
    parts = (
        f"cast(try_cast(try_element_at(split(regexp_extract(version, '^[0-9.]+', 0), '[.]'), {k}) AS int) AS bigint)" for k in (1, 2, 3)
    )
    return " + ".join(f"coalesce({part}, 0L) * {VERSION_BASE ** (2 - k)}L" for k, part in enumerate(parts))


def _cursor_kind() -> str:
    """SQL: the position in CURSOR_KINDS of the event's kind; else by the cursor's name; else a cursor that is not durable is a reader's."""
    told = " ".join(f"WHEN '{kind}' THEN {n}L" for n, kind in enumerate(CURSOR_KINDS))
    named = [(f"sub = '{name}'", kind) for name, kind in KINDS_BY_NAME.items()]
    named += [(f"startswith(sub, '{prefix}')", kind) for prefix, kind in KINDS_BY_PREFIX.items()]
    by_name = " ".join(f"WHEN {condition} THEN {CURSOR_KINDS.index(kind)}L" for condition, kind in (*named, ("NOT durable", "reader")))
    return f"CASE cursor_kind {told} ELSE CASE {by_name} ELSE {CURSOR_KINDS.index('subscription')}L END END"


def _missing_events() -> str:
    branches = " ".join(f"WHEN '{point}' THEN {bits}L" for point, bits in BITS_OF_POINTS.items())
    return f"aggregate(missing_points, 0L, (bits, point) -> bits | CASE point {branches} ELSE 0L END)"


PACKAGE = Declaration(
    "broker",
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
        "version_number": _version_number(),
        "missing_events": _missing_events(),  # bits of the event types that lack something (schemas/events/points.py)
        "cursor_kind_number": _cursor_kind(),
    },
    settings=_SETTINGS,
    views=("topics", "brokers"),
)
