"""Where each field of an event lies in a lane row (schemas/lane_columns.py), by name. Absent fields are 0: ask `has` where that matters."""

from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled
from schemas.events import SUB_TYPES
from schemas.lane_columns import COLUMN, QUESTIONS, SLOT_FIELDS, SLOTS
from schemas.packages.throttle import DEBT_OFFSET

SEQ, TS, NS, TYPE, TOPIC_ID, SUB_ID, MASK = (COLUMN[name] for name in ("seq", "ts", "ns", "type_code", "topic_id", "sub_id", "mask"))
_FIRST_SLOT = COLUMN["s0"]


def columns(event_type: str, *fields: str) -> tuple[int, ...]:
    """Where these fields of an event type lie. Raises ValueError for one that no package declares."""
    return tuple(_FIRST_SLOT + SLOT_FIELDS[event_type].index(field) for field in fields)


#: Settings lie in the same columns of `broker_start` and `setting`.
BATCH_MODE, PRECISE_CHECK, CHECK_ENABLED, CHECK_INTERVAL_S = columns("setting", *SLOT_FIELDS["setting"])
VERSION, MISSING_EVENTS = columns("broker_start", "version_number", "missing_events")
#: The same column in every event that names a ledger.
(LEDGER,) = {_FIRST_SLOT + fields.index("ledger") for fields in SLOT_FIELDS.values() if "ledger" in fields}
LEVEL, MSG_RATE, BYTE_RATE, PERIOD_S, RELATIVE, LIMITER = columns(
    "dispatch_rate", "level", "msg_rate", "byte_rate", "period_s", "relative", "limiter"
)
AVERAGE_MSGS, AVERAGE_BYTES = columns("publish_rate", "avg_msgs_per_s", "avg_bytes_per_s")
#: The same column in every event that names an entry of a ledger.
(ENTRY,) = {_FIRST_SLOT + fields.index("entry") for fields in SLOT_FIELDS.values() if "entry" in fields}
(OPENED_SNAPSHOT,) = columns("ledger_open", "snapshot")
CLOSED_ENTRIES, CLOSED_BYTES, CLOSE_TS, CLOSED_SNAPSHOT = columns("ledger_close", "entries", "bytes", "close_ts", "snapshot")
CURSOR_ENTRIES, DURABLE, CURSOR_SNAPSHOT, CURSOR_KIND = columns("cursor_open", "entries", "durable", "snapshot", "cursor_kind_number")
(SUB_TYPE,) = columns("dispatcher_open", "sub_type")
PUBLISHED_MSGS, PUBLISHED_BYTES, PUBLISH_TS = columns("publish", "msgs", "bytes", "publish_ts")
#: `want_msgs` and `left_msgs` in one column: WANT_SHIFT and LEFT_MASK take them apart; left_msgs + LEFT_OFFSET, 0 if absent.
WANT_LEFT, WANT_BYTES, LEFT_BYTES, ASKED_NS = columns("read", "want_left_msgs", "want_bytes", "left_bytes", "asked_ns")
WANT_SHIFT, LEFT_MASK, LEFT_OFFSET = 32, 2**32 - 1, 2
#: The broker's, the topic's and the subscription's answers follow one another, messages before bytes. One of DEBT or less is an answer of 0
#: of a limiter in whose books it is, less DEBT.
(FIRST_ANSWER,) = columns("read", "broker_msgs_or_debt")
DEBT = -DEBT_OFFSET
ENTRIES, MSGS, SIZE, CHARGED = columns("dispatch", "entries", "msgs", "bytes", "charged")
LAST_LEDGER, LAST_ENTRY = columns("dispatch", "last_ledger", "last_entry")
(GIVEN_BACK,) = columns("redeliver", "entries")
MARK_PERSISTED, MARK_RESET = columns("mark_delete", "persisted", "reset")
#: The same columns in `broker_ack`.
ACK_TYPE, BATCH_INDEX = columns("ack", "ack_type", "batch_index")
QUOTA_TYPE, LIMIT, POLICY = columns("backlog_quota", "quota_type", "limit", "policy")
EXCEEDED_TYPE, EXCEEDED_POLICY, EXCEEDED_LIMIT = columns("quota_exceeded", "quota_type", "policy", "limit")
ROUND_PHASE, ROUND_DURATION_US = columns("quota_round", "phase", "duration_us")
CHECK_DURATION_US, OUTSIDE_OF_ROUND = columns("quota_check", "duration_us", "outside_of_round")

#: The same column in every event that names a connection.
(CONN,) = {_FIRST_SLOT + fields.index("conn") for fields in SLOT_FIELDS.values() if "conn" in fields}
WRITABLE, PENDING_BYTES = columns("writability", "writable", "pending_bytes")
THROTTLE_TYPE, THROTTLE_ON = columns("throttle", "throttle_type", "on")
(PRODUCER,) = columns("producer_open", "producer")
(CONSUMER,) = columns("consumer_open", "consumer")
#: Positions of a `state` lie in LEDGER and ENTRY, too.
READ_LEDGER, READ_ENTRY, BACKLOG_ENTRIES, DELETED_ENTRIES, CONSUMERS, PERMITS, DELAYED, REPLAY, STATED_KIND = columns(
    "state",
    *("read_ledger", "read_entry", "backlog_entries", "deleted_entries"),
    *("consumers", "permits", "delayed_entries", "replay_entries", "cursor_kind_number"),
)


def question(event_type: str, name: str) -> int:
    """No column, but what `has` takes for one: the bit of the mask that answers the question with yes."""
    return _FIRST_SLOT + SLOTS + list(QUESTIONS[event_type]).index(name)


TOPIC_ENTRIES, TOPIC_BYTES = columns("topic_state", "entries", "bytes")
TOPIC_IS_MOVING = question("topic_state", "is_moving")
IS_EXACT, IS_MOVING, IS_DURABLE, IS_BLOCKED, IS_READ_OUT, IS_READ_WAITING = (
    question("state", name) for name in ("is_exact", "is_moving", "is_durable", "is_blocked", "is_read_out", "is_read_waiting")
)
#: The bit of the first of SUB_TYPES; those of the others follow in their order.
FIRST_SUB_TYPE = question("state", f"is_{SUB_TYPES[0]}")


@compiled
def has(event: Array, column: int) -> bool:
    """Whether the event carries the field."""
    return (event[MASK] >> (column - _FIRST_SLOT)) & 1 == 1
