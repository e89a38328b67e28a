"""The rows of a broker's entities. Positions are (ledger, entry), entry −1 = before the first."""

from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import blank, record
from pipeline.rules.segments import SEGMENT
from schemas.events import CURSOR_KINDS, SUB_TYPES

NONE = -1
#: In place of the losses before something began: something was lost since.
LOST = -1
UNLIMITED = -1
BROKER, TOPIC, SUBSCRIPTION = 0, 1, 2  # LIMITER_LEVELS
MSG, BYTES = 0, 1
LEVEL_COUNT, DIMENSION_COUNT = 3, 2
SUB_TYPE_COUNT = len(SUB_TYPES)
DEFAULT_INTERVAL_S = 60  # backlogQuotaCheckIntervalInSeconds

SETTINGS_ROW = record(
    "started",  # broker_start was seen
    "version",  # schemas/lane_columns.py, VERSION_BASE
    "missing_events",  # types that lack something, as bits: the collector has no point for them
    "losses",  # how often events were lost or quarantined
    "events_lost",  # how many
    "batch_mode",  # dispatchThrottlingOnBatchMessageEnabled now
    "precise_check",  # preciseTimeBasedBacklogQuotaCheck
    "check_enabled",  # backlogQuotaCheckEnabled
    "check_interval_s",
)

# A topic owns two segments (segments.py), its ledgers and its heap of slowest cursors, and a list in blocks (blocks.py), its publish-time
# marks. USED of such a list is its number of blocks.
TOPIC_ROW = record(
    "id",
    "owner",  # second key of the index, always 0
    "alive",  # its life is in the log: a load, a ledger, a cursor
    "loaded",
    "began_complete",
    "losses_at_start",
    "unloaded_at",  # µs; 0 while loaded, or if nothing is left to be forgotten
    "first_subscription",  # head of the chain of all its subscriptions
    "subscriptions",  # how long that chain is
    "first_cursor",  # head of the chain of its open cursors
    "cursors",
    "producers",
    "first_attachment",  # head of the chain of connections with producers of it
    # The topic's scale: entries and bytes of all ledgers that it ever had, trimmed ones too.
    "end_entries",
    "end_bytes",
    "mark_count",
    "mark_within_ms",  # how far behind a line an entry may have been published, where marks become one
    "confirmed_ledger",  # of the last confirmed position
    "size_limit",
    "size_policy",
    "time_limit",
    "time_policy",
    "average_known",  # the publish average of relative rates
    average=(2,),  # messages and bytes a second
    ledgers=SEGMENT,
    marks=SEGMENT,
    heap=SEGMENT,
)
NEW_TOPIC = blank(
    TOPIC_ROW,
    first_subscription=NONE,
    first_cursor=NONE,
    first_attachment=NONE,
    size_limit=UNLIMITED,
    time_limit=UNLIMITED,
    size_policy=NONE,
    time_policy=NONE,
)
#: Ledgers of a topic, ascending.
LEDGER_ROW = record("ledger", "entries", "bytes", "close_ms", "entries_before", "bytes_before", "closed")
#: Publish-time marks of a topic, ascending: each stands for a run of entries of one ledger, see marks.py.
MARK_ROW = record("ledger", "entry", "entries", "first_ms", "last_ms", "within_ms", "msgs")
#: A place in a topic's heap: the row of a cursor.
HEAP_ROW = record("cursor")

SUBSCRIPTION_ROW = record(
    "id",
    "owner",  # id of its topic
    "next_of_topic",
    "first_attachment",  # head of the chain of connections with consumers of it
    "unwritable_at",  # `Connectivity.changes` when all of them were found unwritable, NONE if they were not
)
NEW_SUBSCRIPTION = blank(SUBSCRIPTION_ROW, first_attachment=NONE, unwritable_at=NONE)

CURSOR_ROW = record(
    "open",
    "next_of_topic",  # among the topic's open cursors
    "previous_of_topic",
    "durable",
    "cursor_kind",  # CURSOR_KINDS, NONE: its opening was not seen
    "opened_at",
    "closed_at",  # when its topic was unloaded; 0 if nothing is left to be forgotten
    "gone_at",  # when it ended: what is written of it afterwards is about a cursor that is gone; 0: nobody knows that it is
    "began_complete",
    "losses_at_open",  # or when it ended
    "ledger",  # mark-delete position in memory
    "entry",
    "persisted_ledger",  # the one that orders the heap
    "persisted_entry",
    "heap_position",  # NONE: not in the heap
    "deleted",  # entries in the words
    "deleted_unknown",  # entries deleted behind the position, nobody knows which
    "delivered_ledger",  # the highest position that was dispatched, where the log has positions of deliveries (1.2); 0: none
    "delivered_entry",
    "cumulative_ledger",  # of the latest cumulative acknowledgement
    "cumulative_entry",
    "evicting",  # the move of the mark-delete position that comes now is an eviction's
    # Of what consumers have (in_flight.py): entries behind the position; those that were removed meanwhile, and may still be acknowledged;
    # those that the broker counts for ever. Messages in them, and whether nobody knows how many.
    "in_flight",
    "in_flight_msgs",
    "passed",
    "passed_msgs",
    "leaked",
    "leaked_msgs",
    "msgs_unknown",
    "opened_backlog",
    "opened_end",
    "acknowledged",
    "look_at",  # from so many acknowledged entries on a package wants to see each acknowledgement; INT64_MAX: none
    "evicted",
    "expired",
    "sought",
    "dispatched_entries",
    "dispatched_msgs",
    words=SEGMENT,
)
NO_CURSOR = blank(CURSOR_ROW, look_at=INT64_MAX, heap_position=NONE, cursor_kind=NONE)
REPLICATOR, DEDUPLICATION = (CURSOR_KINDS.index(kind) for kind in ("replicator", "deduplication"))
#: Words of a cursor's set of individually deleted entries, ascending: a list in blocks. Each is BITS entries from `entry` on.
WORD_ROW = record("ledger", "entry", "bits")
BITS = 62

#: Where a subscription reads, on its topic's scale. `deleted_*`: its mark-delete position there, to which it rewinds.
READING_ROW = record(
    "known",
    "entries",
    "bytes",
    "deleted_entries",
    "deleted_bytes",
    "consumers",
    "has_passed",  # the cursor has `passed` entries: the next read forgets them
)
NO_READING = blank(READING_ROW)

DISPATCHER_ROW = record(
    "id",
    "topic",  # id of its topic
    "open",
    "opened_at",
    "closed_at",
    "began_complete",
    "losses_at_open",
    "sub_type",
    "batch_mode",  # frozen when the dispatcher was opened
)
NO_DISPATCHER = blank(DISPATCHER_ROW, closed_at=NONE, sub_type=NONE)

# A limiter; what each of its dimensions (messages, bytes) has is [dimension].
_OF_DIMENSION = (
    "rate",  # ≤ 0: the dimension does not exist
    "period_ns",
    "tokens",
    "pending",
    "last_ns",
    "remainder",
    "acquired",
    "tick_ns",  # classic: next tick, NONE while the timer is idle
    "configured",  # a relative rate without the publish average
    "charge",  # the latest one, and when
    "charge_ns",
    "untimely",  # classic: acquired before the latest tick, which the broker's timer may not have reached yet
    "next_rate",  # classic and relative: the rate from the next tick on; 0: the same
)
LIMITER_ROW = record(
    "level",
    "topic",
    "sub",
    "exists",
    "created_at",
    "closed_at",
    "began_complete",
    "losses_at_creation",
    "kind",  # LIMITER_KINDS
    "relative",
    "follows",  # relative, and the publish average is known
    "period_ms",
    **dict.fromkeys(_OF_DIMENSION, (DIMENSION_COUNT,)),
)
NO_LIMITER = blank(LIMITER_ROW)

#: What a connection has many of: producers of topics, consumers of subscriptions.
PRODUCING, CONSUMING = 0, 1
CONNECTION_ROW = record(
    "id",
    "owner",  # always 0
    "open",
    "life",  # `seq` of the event at which it began: distinguishes one life of an id from the next
    "opened_at",
    "closed_at",
    "began_complete",
    "losses_at_open",
    "writable",
    "pending_bytes",  # at its last `writability`, NONE before the first
    endpoints=(2,),  # producers and consumers, [kind]
    targets=(2,),  # topics that it has producers of and subscriptions that it has consumers of, [kind]
    first_attachment=(2,),  # head of the chain of them, [kind]
)
NO_CONNECTION = blank(CONNECTION_ROW, closed_at=NONE, writable=1, pending_bytes=NONE, first_attachment=NONE)
#: All connections together.
CONNECTIVITY_ROW = record(
    "open",
    "unwritable",
    "unwritable_ids",  # exclusive or of their ids: the id, if there is one
    "changes",  # how often one became writable again
)
#: A connection's producers of one topic, or its consumers of one subscription; `owner` is the connection's id, or −1 − id for consumers.
ATTACHMENT_ROW = record(
    "id",  # of the topic or subscription
    "owner",
    "connection",
    "target",
    "endpoints",
    "first_endpoint",
    "next_of_connection",
    "previous_of_connection",
    "next_of_target",
    "previous_of_target",
)
NO_ATTACHMENT = blank(
    ATTACHMENT_ROW,
    first_endpoint=NONE,
    next_of_connection=NONE,
    previous_of_connection=NONE,
    next_of_target=NONE,
    previous_of_target=NONE,
)
#: A producer or a consumer, whose id is unique in its connection; `owner` as above.
ENDPOINT_ROW = record("id", "owner", "attachment", "next", "previous")
NO_ENDPOINT = blank(ENDPOINT_ROW, attachment=NONE, next=NONE, previous=NONE)
