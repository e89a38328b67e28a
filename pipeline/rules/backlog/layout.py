"""The rows that the backlog package keeps beside the broker's topics and cursors, and those on their way out."""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.integers import INT64_MIN
from pipeline.rules.package import Beside, Listed, Single, Store
from pipeline.rules.records import blank, record
from schemas.packages.backlog.at_checks import SUBSCRIPTION_BACKLOG, TOPIC_BACKLOG
from schemas.packages.backlog.quotas import BUCKET_NAMES, QUOTA_EVICTION_MOVES, QUOTA_EVICTIONS

SIZE, TIME = 1, 2  # a decision, and a quota
UNKNOWN = 3  # a decision: the log does not have what the rule needs
HOLD, EXCEPTION, EVICTION = 0, 1, 2  # QUOTA_POLICIES
BY_LOG, BY_INTERVAL = 0, 1  # CHECK_SOURCES
NOTHING, KNOWN, UNKNOWN_TIME = 0, 1, 2  # what is known of the oldest position
EVICT, DISCONNECT, SNAPSHOT, NO_ACTION = 0, 1, 2, 3  # ACTIONS
NOTHING_WAITS, SOMETHING_WAITS, NOT_SEEN = 0, 1, 2
BUCKETS = len(BUCKET_NAMES)

#: Rounds of checks of the broker.
CHECKING_ROW = record(
    "rounds_open",  # begun and not ended
    "rounds_begun",
    "round_began_ns",  # of the first one of those that are open
    "looked_up_since_ns",  # the present check looked the oldest position up between this and now
    "check_number",
    "checks_logged",  # the log has the instants of checks
    "next_check_us",  # if it has not, the next one; 0: nothing has happened yet
    "rounds",  # ended in the open window
    "sum_s",
    le=(BUCKETS,),  # checks in each bucket, with those of the buckets below, since the broker started
)
#: What checks of a topic found.
CHECK_ROW = record(
    "evictions_size",
    "evictions_time",
    "evictions_size_durable",
    "evictions_time_durable",
    "oldest",  # oldestPositionInfo: NOTHING, KNOWN, or UNKNOWN_TIME
    "oldest_ledger",
    "oldest_entry",
    "oldest_sub",
    "oldest_ms",
    "decided",  # checks decided whose quota_check has not come
    "checked_round",  # round in which the latest quota_check came
    "uncertain",  # the broker may have looked the oldest position up before or after a change
    # What decides on the oldest position: the slowest cursor and where it stands, and whether anything waits. When it last changed.
    "seen_root",  # id of a subscription
    "seen_ledger",
    "seen_entry",
    "seen_backlog",  # NOTHING_WAITS, SOMETHING_WAITS, or not known
    "changed_ns",
)
NO_CHECK = blank(CHECK_ROW, seen_root=NONE, seen_backlog=NOT_SEEN, changed_ns=INT64_MIN)
#: The decision of a topic that waits for what the broker does.
PENDING_ROW = record(
    "decision",  # 0, SIZE or TIME
    "decided_at",
    "decided_number",
    "decided_action",
    "decided_policy",
    "decided_limit",
    "exceeded_by",
    "target",
    "size_before",
    "size_planned",
    "producers_before",
    "producers_closed",
    "deletions_unknown",  # nobody knows which entries behind a cursor are deleted: what an eviction passes, and whom it takes next
    "broker_quota",
    "broker_policy",
    "broker_limit",
)
NOTHING_PENDING = blank(PENDING_ROW)
#: What a decision moves a cursor by, and what the broker's action did.
MOVE_ROW = record(
    "planned",
    "planned_ledger",
    "planned_entry",
    "planned_entries",
    "moved",
    "from_ledger",
    "from_entry",
    "moved_entries",
    "evicted_before",
    "reached_ledger",
    "reached_entry",
    "reached_target",
)
NO_MOVE = blank(MOVE_ROW)

_TEXT = ("broker", "topic", "subscription", "oldest_backlog_message_subscription_name")


def _numbers(names: tuple[str, ...]) -> tuple[str, ...]:
    return ("topic_id", "sub_id", *(name for name in names if name not in _TEXT))


STORES: tuple[Store, ...] = (
    Single("checking", CHECKING_ROW),
    Single("trial", CHECK_ROW, kept=False),  # of a check that is not made
    Beside("topic_checks", "check", CHECK_ROW, of="topics"),
    Beside("pending_decisions", "pending", PENDING_ROW, of="topics"),
    Beside("cursor_moves", "move", MOVE_ROW, of="subscriptions"),
    Listed("durations", record("duration_us")),  # of the checks of the open window
    Listed("out_checks", record(*_numbers(TOPIC_BACKLOG.names)), TOPIC_BACKLOG.name),
    Listed("out_cursors", record(*_numbers(SUBSCRIPTION_BACKLOG.names)), SUBSCRIPTION_BACKLOG.name),
    Listed("out_decisions", record(*_numbers(QUOTA_EVICTIONS.names)), QUOTA_EVICTIONS.name),
    Listed("out_moves", record(*_numbers(QUOTA_EVICTION_MOVES.names)), QUOTA_EVICTION_MOVES.name),
)
