"""Where each number lives in the state of the backlog machine: columns of flat int64 arrays; state.py has the arrays themselves.

A topic owns two segments (segments.py), its ledgers and its heap of slowest cursors, and a list in blocks (blocks.py), its publish-time
marks. A cursor owns a list in blocks: the words of its set of individually deleted entries. USED of such a list is its number of blocks.
Positions are (ledger, entry), entry −1 = before the first.
"""

from schemas.tables.backlog import SUBSCRIPTION_BACKLOG, TOPIC_BACKLOG
from schemas.tables.quotas import QUOTA_EVICTION_MOVES, QUOTA_EVICTIONS

NONE = -1
UNLIMITED = -1
SIZE, TIME = 1, 2  # a decision, and a quota
UNKNOWN = 3  # a decision: the log does not tell
HOLD, EXCEPTION, EVICTION = 0, 1, 2  # QUOTA_POLICIES
BY_LOG, BY_INTERVAL = 0, 1  # CHECK_SOURCES
DEFAULT_INTERVAL_S = 60  # backlogQuotaCheckIntervalInSeconds

# --- scalars of one epoch
SCALARS = (
    "started", "version", "precise", "check_enabled", "interval_s", "losses", "topics", "cursors", "rounds_open", "round", "check_number",
    "checks_logged", "next_check_us", "rounds", "sum_s", "out_checks", "out_cursors", "out_decisions", "out_moves", "durations",
    "le_5", "le_10", "le_30", "le_60", "le_300", "le_inf",
)  # fmt: skip
_s = SCALARS.index
S_STARTED, S_VERSION, S_PRECISE, S_CHECK_ENABLED, S_INTERVAL_S = (
    _s(c) for c in ("started", "version", "precise", "check_enabled", "interval_s")
)
S_LOSSES, S_TOPICS, S_CURSORS = _s("losses"), _s("topics"), _s("cursors")
S_ROUNDS_OPEN, S_ROUND = _s("rounds_open"), _s("round")  # rounds begun and not ended; rounds begun
S_CHECK_NUMBER = _s("check_number")
S_CHECKS_LOGGED = _s("checks_logged")  # the log says when checks happen
S_NEXT_CHECK_US = _s("next_check_us")  # if it does not, the next one; 0: nothing has happened yet
S_ROUNDS = _s("rounds")  # ended in the open window
S_SUM_S = _s("sum_s")
S_OUT_CHECKS, S_OUT_CURSORS, S_OUT_DECISIONS, S_OUT_MOVES = (_s(c) for c in ("out_checks", "out_cursors", "out_decisions", "out_moves"))
S_DURATIONS = _s("durations")
S_BUCKETS = _s("le_5")  # six of them, each with those below it, since the broker started

# --- topics
TOPIC_COLUMNS = (
    "id", "zero", "alive", "loaded", "began_complete", "losses_at_start", "first_cursor", "cursors", "producers", "unloaded_at",
    "ledgers_begin", "ledgers_dropped", "ledgers_used", "ledgers_capacity",
    "marks_begin", "marks_dropped", "marks_used", "marks_capacity",
    "heap_begin", "heap_dropped", "heap_used", "heap_capacity",
    "end_entries", "end_bytes", "mark_count", "mark_within_ms", "confirmed_ledger",
    "size_limit", "size_policy", "time_limit", "time_policy",
    "evictions_size", "evictions_time", "evictions_size_durable", "evictions_time_durable",
    "oldest", "oldest_ledger", "oldest_entry", "oldest_sub", "oldest_ms",
    "decided", "checked_round",
    "decision", "decided_at", "decided_number", "decided_action", "decided_policy", "decided_limit", "exceeded_by", "target",
    "size_before", "size_planned", "producers_before", "producers_closed", "broker_quota", "broker_policy", "broker_limit",
)  # fmt: skip
_t = TOPIC_COLUMNS.index
T_ID, T_ZERO = _t("id"), _t("zero")  # `zero`: second key of the index, always 0
T_ALIVE = _t("alive")  # its life is in the log: a load, a ledger, a cursor
T_LOADED = _t("loaded")
T_BEGAN_COMPLETE, T_LOSSES_AT_START = _t("began_complete"), _t("losses_at_start")
T_FIRST_CURSOR, T_CURSORS, T_PRODUCERS = _t("first_cursor"), _t("cursors"), _t("producers")
T_UNLOADED_AT = _t("unloaded_at")  # µs; 0 while loaded
T_LEDGERS, T_MARKS, T_HEAP = _t("ledgers_begin"), _t("marks_begin"), _t("heap_begin")
T_LEDGERS_USED, T_MARKS_USED, T_HEAP_USED = _t("ledgers_used"), _t("marks_used"), _t("heap_used")
#: The topic's scale: entries and bytes of all ledgers that it ever had, trimmed ones too.
T_END_ENTRIES, T_END_BYTES = _t("end_entries"), _t("end_bytes")
T_MARK_COUNT, T_MARK_WITHIN_MS = _t("mark_count"), _t("mark_within_ms")
T_CONFIRMED_LEDGER = _t("confirmed_ledger")  # of the last confirmed position
T_SIZE_LIMIT, T_SIZE_POLICY, T_TIME_LIMIT, T_TIME_POLICY = (_t(c) for c in ("size_limit", "size_policy", "time_limit", "time_policy"))
T_EVICTIONS_SIZE, T_EVICTIONS_TIME = _t("evictions_size"), _t("evictions_time")
T_EVICTIONS_SIZE_DURABLE, T_EVICTIONS_TIME_DURABLE = _t("evictions_size_durable"), _t("evictions_time_durable")
T_OLDEST = _t("oldest")  # oldestPositionInfo: NOTHING, KNOWN, or UNKNOWN_TIME
T_OLDEST_LEDGER, T_OLDEST_ENTRY, T_OLDEST_SUB, T_OLDEST_MS = (_t(c) for c in ("oldest_ledger", "oldest_entry", "oldest_sub", "oldest_ms"))
T_DECIDED = _t("decided")  # checks decided whose quota_check has not come
T_CHECKED_ROUND = _t("checked_round")  # round in which the latest quota_check came
T_DECISION = _t("decision")  # the decision that waits for what the broker did: 0, SIZE or TIME
T_DECIDED_AT, T_DECIDED_NUMBER, T_DECIDED_ACTION = _t("decided_at"), _t("decided_number"), _t("decided_action")
T_DECIDED_POLICY, T_DECIDED_LIMIT = _t("decided_policy"), _t("decided_limit")
T_EXCEEDED_BY, T_TARGET, T_SIZE_BEFORE, T_SIZE_PLANNED = (_t(c) for c in ("exceeded_by", "target", "size_before", "size_planned"))
T_PRODUCERS_BEFORE, T_PRODUCERS_CLOSED = _t("producers_before"), _t("producers_closed")
T_BROKER_QUOTA, T_BROKER_POLICY, T_BROKER_LIMIT = _t("broker_quota"), _t("broker_policy"), _t("broker_limit")
FIRST_DECISION_COLUMN = T_DECISION
NOTHING, KNOWN, UNKNOWN_TIME = 0, 1, 2
EVICT, DISCONNECT, SNAPSHOT, NO_ACTION = 0, 1, 2, 3  # ACTIONS

# --- ledgers of a topic, ascending
LEDGER_COLUMNS = ("ledger", "entries", "bytes", "close_ms", "entries_before", "bytes_before", "closed")
G_LEDGER, G_ENTRIES, G_BYTES, G_CLOSE_MS, G_ENTRIES_BEFORE, G_BYTES_BEFORE, G_CLOSED = range(len(LEDGER_COLUMNS))

# --- publish-time marks of a topic, ascending: each stands for a run of entries of one ledger, see marks.py
MARK_COLUMNS = ("ledger", "entry", "entries", "first_ms", "last_ms", "within_ms", "msgs")
M_LEDGER, M_ENTRY, M_ENTRIES, M_FIRST_MS, M_LAST_MS, M_WITHIN_MS, M_MSGS = range(len(MARK_COLUMNS))

# --- cursors
CURSOR_COLUMNS = (
    "id", "topic", "next_of_topic", "previous_of_topic", "open", "durable", "owner", "opened_at", "began_complete", "losses_at_open",
    "ledger", "entry", "persisted_ledger", "persisted_entry", "heap_position",
    "words_begin", "words_dropped", "words_used", "words_capacity",
    "deleted", "deleted_unknown", "cumulative_ledger", "cumulative_entry", "consumers", "unacked",
    "opened_backlog", "opened_end", "acknowledged", "evicted", "expired", "sought", "dispatched_entries", "dispatched_msgs",
    "planned", "planned_ledger", "planned_entry", "planned_entries", "moved", "from_ledger", "from_entry", "moved_entries",
    "reached_ledger", "reached_entry", "reached_target",
)  # fmt: skip
_c = CURSOR_COLUMNS.index
C_ID, C_TOPIC, C_OPEN, C_DURABLE, C_OWNER = (_c(c) for c in ("id", "topic", "open", "durable", "owner"))
C_NEXT_OF_TOPIC, C_PREVIOUS_OF_TOPIC = _c("next_of_topic"), _c("previous_of_topic")
C_CLOSED_AT = _c("opened_at")  # of a cursor that is not open: when its topic was unloaded
C_OPENED_AT, C_BEGAN_COMPLETE, C_LOSSES_AT_OPEN = _c("opened_at"), _c("began_complete"), _c("losses_at_open")
C_LEDGER, C_ENTRY = _c("ledger"), _c("entry")  # mark-delete position in memory
C_PERSISTED_LEDGER, C_PERSISTED_ENTRY = _c("persisted_ledger"), _c("persisted_entry")  # the one that orders the heap
C_HEAP_POSITION = _c("heap_position")  # NONE: not in the heap
C_WORDS, C_WORDS_USED = _c("words_begin"), _c("words_used")
C_DELETED = _c("deleted")  # entries in the words
C_DELETED_UNKNOWN = _c("deleted_unknown")  # entries deleted behind the position, nobody says which
C_CUMULATIVE_LEDGER, C_CUMULATIVE_ENTRY = _c("cumulative_ledger"), _c("cumulative_entry")  # of the latest cumulative ack
C_CONSUMERS, C_UNACKED = _c("consumers"), _c("unacked")
C_OPENED_BACKLOG, C_OPENED_END = _c("opened_backlog"), _c("opened_end")
C_ACKNOWLEDGED, C_EVICTED, C_EXPIRED, C_SOUGHT = (_c(c) for c in ("acknowledged", "evicted", "expired", "sought"))
C_DISPATCHED_ENTRIES, C_DISPATCHED_MSGS = _c("dispatched_entries"), _c("dispatched_msgs")
C_PLANNED = _c("planned")  # the decision moves it
C_PLANNED_LEDGER, C_PLANNED_ENTRY, C_PLANNED_ENTRIES = _c("planned_ledger"), _c("planned_entry"), _c("planned_entries")
C_MOVED = _c("moved")  # the broker's action moved it
C_FROM_LEDGER, C_FROM_ENTRY, C_MOVED_ENTRIES = _c("from_ledger"), _c("from_entry"), _c("moved_entries")
C_REACHED_LEDGER, C_REACHED_ENTRY, C_REACHED_TARGET = _c("reached_ledger"), _c("reached_entry"), _c("reached_target")
FIRST_MOVE_COLUMN = C_PLANNED

# --- words of a cursor's set of individually deleted entries, ascending: 62 entries each
WORD_COLUMNS = ("ledger", "word", "bits")
W_LEDGER, W_WORD, W_BITS = range(len(WORD_COLUMNS))
BITS = 62

# --- rows on their way out, in the order of their table's columns
_TEXT = ("broker", "topic", "subscription", "oldest_backlog_message_subscription_name")


def _numbers(names: tuple[str, ...]) -> tuple[str, ...]:
    return ("topic_id", "sub_id", *(name for name in names if name not in _TEXT))


CHECK_ROW = _numbers(TOPIC_BACKLOG.names)
CURSOR_ROW = _numbers(SUBSCRIPTION_BACKLOG.names)
DECISION_ROW = _numbers(QUOTA_EVICTIONS.names)
MOVE_ROW = _numbers(QUOTA_EVICTION_MOVES.names)
