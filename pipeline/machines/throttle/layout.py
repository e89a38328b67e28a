"""Where each number lives in the state of the throttle machine: columns of flat int64 arrays.

Topics, dispatchers (with their subscription's cursor), ledgers, and limiters; state.py has the arrays themselves. Counters that become
table columns have the column's name.
"""

from schemas.tables.limiter_windows import LIMITER_WINDOWS
from schemas.tables.subscription_throttle import SUBSCRIPTION_THROTTLE

BROKER, TOPIC, SUBSCRIPTION = 0, 1, 2
MSG, BYTES = 0, 1
NONE = -1

# --- scalars of one epoch
SCALARS = ("started", "batch_mode", "losses", "topics", "dispatchers", "ledgers", "closed_dispatchers", "closed_limiters")
S_STARTED = SCALARS.index("started")  # broker_start was seen
S_BATCH_MODE = SCALARS.index("batch_mode")  # dispatchThrottlingOnBatchMessageEnabled now
S_LOSSES = SCALARS.index("losses")  # how often events were lost or quarantined
S_TOPICS = SCALARS.index("topics")  # rows in use of each array
S_DISPATCHERS = SCALARS.index("dispatchers")
S_LEDGERS = SCALARS.index("ledgers")
S_CLOSED_DISPATCHERS = SCALARS.index("closed_dispatchers")
S_CLOSED_LIMITERS = SCALARS.index("closed_limiters")

# --- topics
TOPIC_COLUMNS = ("id", "zero", "loaded", "generation", "published_entries", "published_bytes", "first_dispatcher")
T_ID = TOPIC_COLUMNS.index("id")
T_ZERO = TOPIC_COLUMNS.index("zero")  # second key of the index, always 0
T_LOADED = TOPIC_COLUMNS.index("loaded")
T_GENERATION = TOPIC_COLUMNS.index("generation")  # counts loads and unloads: ledgers of an older one are gone
T_PUBLISHED_ENTRIES = TOPIC_COLUMNS.index("published_entries")
T_PUBLISHED_BYTES = TOPIC_COLUMNS.index("published_bytes")
T_FIRST_DISPATCHER = TOPIC_COLUMNS.index("first_dispatcher")  # head of the chain of its dispatchers

# --- ledgers of topics
LEDGER_COLUMNS = ("topic", "ledger", "generation", "entries_before", "bytes_before", "entries", "bytes")
G_TOPIC = LEDGER_COLUMNS.index("topic")
G_LEDGER = LEDGER_COLUMNS.index("ledger")
G_GENERATION = LEDGER_COLUMNS.index("generation")  # of the topic when it was made; NONE: trimmed
G_ENTRIES_BEFORE = LEDGER_COLUMNS.index("entries_before")
G_BYTES_BEFORE = LEDGER_COLUMNS.index("bytes_before")
G_ENTRIES = LEDGER_COLUMNS.index("entries")
G_BYTES = LEDGER_COLUMNS.index("bytes")

# --- dispatchers
_OWN = (
    "id", "topic", "next_of_topic", "open", "opened_at", "closed_at", "began_complete", "losses_at_open", "sub_type", "batch_mode",
    "touched", "blocked_level", "blocked_at_ns", "blocked_at_ts", "granted_entries", "granted_bytes",
    "cursor_known", "read_entries", "read_bytes", "deleted_entries", "deleted_bytes", "consumers",
)  # fmt: skip
_NAMES = SUBSCRIPTION_THROTTLE.names
#: From the first counter to the last, in the table's order; `waiting_*` are filled in when a window or an incarnation ends.
DISPATCHER_COUNTERS = _NAMES[_NAMES.index("dispatch_throttled_msg_events_by_broker_limit") :]
DISPATCHER_COLUMNS = (*_OWN, *DISPATCHER_COUNTERS)
D_ID = _OWN.index("id")
D_TOPIC = _OWN.index("topic")  # id of the topic
D_NEXT_OF_TOPIC = _OWN.index("next_of_topic")
D_OPEN = _OWN.index("open")
D_OPENED_AT = _OWN.index("opened_at")
D_CLOSED_AT = _OWN.index("closed_at")
D_BEGAN_COMPLETE = _OWN.index("began_complete")
D_LOSSES_AT_OPEN = _OWN.index("losses_at_open")
D_SUB_TYPE = _OWN.index("sub_type")
D_BATCH_MODE = _OWN.index("batch_mode")  # frozen when the dispatcher was opened
D_TOUCHED = _OWN.index("touched")  # something happened in this window
D_BLOCKED_LEVEL = _OWN.index("blocked_level")  # level that blocked the latest read, or NONE
D_BLOCKED_AT_NS = _OWN.index("blocked_at_ns")  # since when not yet charged
D_BLOCKED_AT_TS = _OWN.index("blocked_at_ts")
D_GRANTED_ENTRIES = _OWN.index("granted_entries")  # by the latest read that was not blocked, or NONE
D_GRANTED_BYTES = _OWN.index("granted_bytes")
D_CURSOR_KNOWN = _OWN.index("cursor_known")
D_READ_ENTRIES = _OWN.index("read_entries")
D_READ_BYTES = _OWN.index("read_bytes")
D_DELETED_ENTRIES = _OWN.index("deleted_entries")  # mark-delete position on the topic's scale
D_DELETED_BYTES = _OWN.index("deleted_bytes")
D_CONSUMERS = _OWN.index("consumers")
FIRST_INCARNATION_COLUMN, LAST_INCARNATION_COLUMN = D_OPEN, D_GRANTED_BYTES
FIRST_CURSOR_COLUMN, LAST_CURSOR_COLUMN = D_CURSOR_KNOWN, D_CONSUMERS
FIRST_COUNTER = len(_OWN)


def _counter(name: str) -> int:
    return DISPATCHER_COLUMNS.index(name)


# Six counters each, dimension-major: + 3 · dimension + level.
D_THROTTLED = _counter("dispatch_throttled_msg_events_by_broker_limit")
D_THROTTLED_SINCE_OPEN = _counter("dispatch_throttled_msg_events_by_broker_limit_since_open")
D_MODELLED = _counter("modelled_dispatch_throttled_msg_events_by_broker_limit")
D_MODELLED_SINCE_OPEN = _counter("modelled_dispatch_throttled_msg_events_by_broker_limit_since_open")
D_DECISIVE = _counter("decisive_msg_by_broker_limit")
D_READS = _counter("reads")
D_READS_MODELLED = _counter("reads_modelled")
D_READS_SHRUNK = _counter("reads_shrunk")
D_READS_BLOCKED = _counter("reads_blocked")
D_READS_BLOCKED_BY = _counter("reads_blocked_by_broker_limit")  # + level
D_READS_BINDING = _counter("reads_binding")
D_READS_NOMINAL = _counter("reads_nominal")
D_LEFT_MISMATCHES = _counter("left_mismatches")
D_BLOCKED_NS = _counter("blocked_ns")
D_BLOCKED_NS_BY = _counter("blocked_ns_by_broker_limit")  # + level
D_DISPATCHES = _counter("dispatches")
D_DISPATCHED_ENTRIES = _counter("dispatched_entries")
D_DISPATCHED_MSGS = _counter("dispatched_msgs")
D_DISPATCHED_BYTES = _counter("dispatched_bytes")
D_UNCHARGED_MSGS = _counter("uncharged_msgs")
D_OVERSIZED = _counter("oversized_dispatches")
D_WAITING_ENTRIES = _counter("waiting_entries")
D_WAITING_BYTES = _counter("waiting_bytes")

# --- limiters: what they share, then a block per dimension
_LIMITER = (
    "level", "topic", "sub", "exists", "created_at", "closed_at", "began_complete", "losses_at_creation", "kind", "relative", "period_ms",
)  # fmt: skip
_NAMES_L = LIMITER_WINDOWS.names
LIMITER_COUNTERS = _NAMES_L[_NAMES_L.index("asks") : _NAMES_L.index("complete")]
_DIMENSION = (
    "rate", "period_ns", "tokens", "pending", "last_ns", "remainder", "acquired", "tick_ns",
    "shown_rate", "permits_start", "applied", "used", "over_delivered", "asks_modelled", *LIMITER_COUNTERS,
)  # fmt: skip
DIMENSION_WIDTH = len(_DIMENSION)
LIMITER_COLUMNS = (*_LIMITER, *(f"{dimension}_{name}" for dimension in ("msg", "bytes") for name in _DIMENSION))
L_LEVEL = _LIMITER.index("level")
L_TOPIC = _LIMITER.index("topic")
L_SUB = _LIMITER.index("sub")
L_EXISTS = _LIMITER.index("exists")
L_CREATED_AT = _LIMITER.index("created_at")
L_CLOSED_AT = _LIMITER.index("closed_at")
L_BEGAN_COMPLETE = _LIMITER.index("began_complete")
L_LOSSES_AT_CREATION = _LIMITER.index("losses_at_creation")
L_KIND = _LIMITER.index("kind")
L_RELATIVE = _LIMITER.index("relative")
L_PERIOD_MS = _LIMITER.index("period_ms")


def _dimension(name: str) -> int:
    return len(_LIMITER) + _DIMENSION.index(name)


# Of messages; + DIMENSION_WIDTH for bytes.
L_RATE = _dimension("rate")  # ≤ 0: the dimension does not exist
L_PERIOD_NS = _dimension("period_ns")
L_TOKENS = _dimension("tokens")
L_PENDING = _dimension("pending")
L_LAST_NS = _dimension("last_ns")
L_REMAINDER = _dimension("remainder")
L_ACQUIRED = _dimension("acquired")
L_TICK_NS = _dimension("tick_ns")  # classic: next tick, NONE while the timer is idle
L_SHOWN_RATE = _dimension("shown_rate")  # last rate > 0 in this window, 0 if there was none
L_PERMITS_START = _dimension("permits_start")
L_APPLIED = _dimension("applied")
L_USED = _dimension("used")
L_OVER_DELIVERED = _dimension("over_delivered")
L_ASKS_MODELLED = _dimension("asks_modelled")
L_ASKS = _dimension("asks")
L_ASKS_SHRUNK = _dimension("asks_shrunk")
L_ASKS_BLOCKED = _dimension("asks_blocked")
L_ASKS_BINDING = _dimension("asks_binding")
L_COMPARED = _dimension("compared")
L_EXACT = _dimension("exact")
L_WITHIN = _dimension("within_clock_step")
L_DIFFERENT = _dimension("different")
L_LARGEST = _dimension("largest_difference")
FIRST_WINDOW_COUNTER, LAST_WINDOW_COUNTER = L_APPLIED, L_LARGEST
