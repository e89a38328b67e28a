"""The rows that the cause package keeps beside the broker's subscriptions and topics. docs/design/causes.md has the rules."""

from pipeline.rules.broker.layout import DIMENSION_COUNT, LEVEL_COUNT, NONE
from pipeline.rules.package import Beside, Family, Listed, Single, Store
from pipeline.rules.records import blank, record
from schemas.packages.cause.causes import ACCOUNTS, CAUSES, UNKNOWN_REASONS

ACCOUNT_COUNT = len(ACCOUNTS)


def _account(cause: str, reason: str | None = None) -> int:
    """The first account of a cause."""
    return next(k for k, account in enumerate(ACCOUNTS) if account[0] == cause and account[3] == reason)


(
    NO_CONSUMER,
    THROTTLED,  # the first of six: level · 2 + dimension
    CHANNEL,
    UNACKED_LIMIT,  # the first of three, by the cap: UNACKED_CAPS
    NO_PERMITS,
    NO_FLOW,
    KEYS_BLOCKED,
    TRANSACTION,
    REDELIVERY,
    IN_FLIGHT,
    DELAYED,
    READING,
    CATCHING_UP,
    STUCK,  # the first of four: no cap is on, or one of UNACKED_CAPS is left on
) = (_account(cause) for cause in CAUSES if cause != "unknown")
#: Time that goes to an account of the table once it is proven which, and before the window ends.
DOUBTED = ACCOUNT_COUNT
EVENTS_LOST, BEGINNING_NOT_SEEN, NOT_IN_THIS_LOG = (_account("unknown", reason) for reason in UNKNOWN_REASONS)
CONSUMER_CAP, SUBSCRIPTION_CAP, BROKER_CAP = range(3)  # UNACKED_CAPS
SHARED, KEY_SHARED = 1, 3  # SUB_TYPES
#: Of a read: it is out; nothing waited when it went out; all that waited had been read, and lay aside.
OUT, PARKED, BEYOND = 1, 2, 3
#: The permits of the latest read: not in the log; those that the dispatcher looks at; those of consumers that it may not ask any more.
PERMITS_UNKNOWN, PERMITS_KNOWN, PERMITS_STALE = range(3)
#: Of a topic: no transaction was seen; some were, and no one is known to be open; one is open.
NO_TRANSACTION, ENDED, OPEN = range(3)
#: The latest read that came back: with new entries, with none, or with entries that had been read before.
FRESH, EMPTY_READ, REPLAYED = range(3)
#: In place of the next row of a chain: the row is not in the chain.
APART = -2

#: So long after an event of its own, or a `state`, a subscription is taken to be what it was then, whatever is lost: whoever is blocked
#: asks again within a second (`MESSAGE_RATE_BACKOFF_MS`), and most changes come with several events. docs/design/causes.md has how
#: often that is wrong.
PROOF_LASTS_NS = 1_500_000_000
#: A dispatcher that a limiter blocked asks again after 1,000 ms (`MESSAGE_RATE_BACKOFF_MS`, §1.2 step 4). After this many of them without
#: any sign of life it does not ask any more.
STALL_NS = 5 * 1_000_000_000
#: BookKeeper's client gives a read up after 30 s (`bookkeeperClientTimeoutInSeconds`), and asks another bookie. A read that neither came
#: back nor failed in twice that time is no read of storage any more.
LOST_READ_NS = 60 * 1_000_000_000
#: For so long a read of this broker that was slow, or failed, is evidence that storage is slow.
SLOW_EVIDENCE_NS = 60 * 1_000_000_000
#: A Key_Shared dispatcher asks again after 10 ms at most while keys are blocked (`dispatcherRetryBackoffMaxTimeInMs`), with the permits
#: that it had. Asking so often without a read shows that it does not read.
ASKED_IN_VAIN = 3
#: So many reads that come back without anything to deliver are no accident: a read that gets nothing once is usual with transactions.
FRUITLESS = 2
#: Redeliveries weigh down on a subscription for so long after the latest. Clients wait for a minute before they give back
#: (`negativeAckRedeliveryDelay`).
REPEATS_LAST_NS = 120 * 1_000_000_000
#: Each entry that is with consumers, or was given back, was delivered again this often on average. No more than the second number count:
#: consumers that acknowledge again make up for a storm, however long it was.
REPEATS_OF_ENTRY, MOST_REPEATS_OF_ENTRY = 2, 4

#: What is known of a subscription, and the accounts of its open window. Eight numbers are a line of the processor's cache. What is looked
#: at together lies together: each of the first five groups below is such a line.
CHARGE_ROW = record(
    # 1. The stretch of time that is not charged yet, and the dispatcher: is anything due?
    "running",  # there is a backlog
    "account",
    "charged_to",  # where its time goes: the same, or to where most of the backlog is
    "losses",  # how often events of the broker were lost, when its latest own event came
    "moved_ns",  # the latest sign of life: since when the next one is due
    "is_out",  # a read that was granted something has not come back: OUT, PARKED, BEYOND
    "placed",  # its cursor's position is known: opened in the log, or moved since it was met
    "offset",  # what the backlog has beyond its waterfall (0, but in a damaged log)
    # 2. What waits.
    "backlog_seen",  # entries, when the stretch began
    "delivered",  # entries delivered and not acknowledged
    "acknowledged_seen",
    "removed_seen",  # evicted or expired
    "is_redelivered",  # entries were asked for again: the reading says nothing about what waits any more
    "delayed",  # entries held for later delivery
    "next_in_chain",  # of subscriptions of the topic for which nothing waits
    "next_in_window",  # of the broker's subscriptions with a backlog in the open window, or a main cause
    # 3. What lets the dispatcher wait.
    "blocked",  # account of the limiter that blocked the latest read, or NONE
    "permits_known",  # PERMITS_UNKNOWN, PERMITS_KNOWN, PERMITS_STALE
    "permits",  # of the latest read, less what was delivered since
    "is_attached",  # it has a consumer whose opening is not in the log
    "consumers_capped",  # at least
    "is_capped",  # by the cap of the subscription or of the broker: bits; CONSUMER_CAP: maybe more consumers than are counted
    "certain_lost",  # events of the broker lost, when it was last certain what waits
    "granted",  # by flow, less what was delivered, since there was no consumer; a thinned flow comes late
    # 4. Where the stretch began.
    "since_ns",
    "since_us",  # the same, on the monotonic clock of the topic's area
    "since_ts",
    "gone_seen",  # of the topic's scale, then: what is no more in the backlog
    "area_seen",  # of the topic, then
    "granted_known",
    "had_consumer",  # since its cursor was opened
    "backlog_since_ns",  # of the time in which there is a backlog, whatever the cause
    # 5. What was tried since something was delivered or acknowledged, and what was delivered before.
    "progress_ns",  # the latest delivery, acknowledgement, or other end of a wait
    "fruitless",  # reads that came back since, with nothing to deliver
    "asked_again",  # reads asked for since the one that is out, with the same permits
    "aside",  # entries that storage gave and nobody took
    "done",  # the latest read that came back: FRESH, EMPTY_READ, REPLAYED
    "again",  # entries that were given back and not delivered again
    "repeats",  # entries delivered again, less two for each that was acknowledged
    "repeats_seen",  # acknowledged entries, then
    # 6. The open window.
    "repeated_ns",  # the latest delivery of entries that had been delivered
    "backlog_ns",
    "backlog_end",  # entries, filled in when the window ends
    "waiting_end",
    "incomplete",  # its cursor was met in mid-life, or events were lost since
    # The run of windows with one main cause.
    "main",  # account, or NONE
    "main_since",
    "main_window_end",
    # What a loss makes doubtful, and what proves it (doubt.py).
    "proven_ns",  # the latest event of its own, or `state`
    "was_certain",  # at the last border: nothing was unknown of it
    "stated",  # how often events of the broker were lost, when a `state` last said what the broker holds; NONE: never
    # What holds it now (majority.py).
    "holding",  # account; NONE: no backlog
    "rival",  # account that got more of the latest time than all others that do not hold it; NONE
    "rival_ns",  # so much more
    "rival_since",  # its first time of this
    "voted_ns",  # time up to here is counted
    "next_to_look",  # of the broker's subscriptions for which another cause may hold soon
    # What was charged in the open window, [account, TIME or AREA]: ns, and entries in the backlog × time in entry-µs. The last is DOUBTED.
    charged=(ACCOUNT_COUNT + 1, 2),
    first_at=(ACCOUNT_COUNT + 1,),
    # The next row begins at a line, too.
    padding=(3,),
)
TIME, AREA = range(2)
NO_CHARGE = blank(
    CHARGE_ROW,
    account=NONE,
    charged_to=NONE,
    blocked=NONE,
    next_in_chain=APART,
    next_in_window=APART,
    main=NONE,
    stated=NONE,
    holding=NONE,
    rival=NONE,
    next_to_look=APART,
)
#: Of a topic.
CHAIN_ROW = record(
    "first_in_chain",  # of subscriptions for which nothing waits: the next publish looks at them, and at no others
    # The integral of its scale over time, in entry-µs, since the last border: what backlogs × time are computed from.
    "area",
    "area_us",  # up to when, on the monotonic clock
    "base_entries",  # at the border
    "has_grown",  # its scale may have changed since the border
    "transaction",  # NO_TRANSACTION, ENDED, OPEN
    "counts_transactions",  # the log has how many are open: from version 1.2 on
)
NO_CHAIN = blank(CHAIN_ROW, first_in_chain=NONE)

BUCKET_COUNT = 48
#: How long this broker takes from a read to its delivery, where something waited: counts by ⌊log2(ns)⌋.
PACE_ROW = record(
    "tells_deliveries",  # the log has flow, read_done and the like
    "tells_states",  # the log has what the broker holds, again and again
    "largest_read",  # entries that a read asked for
    "losses_at_border",
    "is_over",  # the epoch
    "measured",
    "next_look",
    "normal_ns",  # 0: not known yet
    "due_ns",  # this, or STALL_NS: sooner after the latest sign of life nothing is due
    "first_in_window",  # of the chain of subscriptions with a backlog in the open window, or a main cause
    "slow_ns",  # when a read last came back late, or failed; NONE: never
    "good_ns",  # when one last came back in time; NONE: never
    "first_to_look",  # of the chain of subscriptions for which another cause may hold soon
    "look_ns",  # never before this
    turnarounds=(BUCKET_COUNT,),
)

#: Reads of one subscription that one limiter blocked in the open window, and that another one would have bound next. `owner`: the
#: subscription's id; `id`: limiter that blocked · 7 + limiter that binds next, each level · 2 + dimension; 6: none binds.
MARGIN_ROW = record(
    "id",
    "owner",
    "topic_id",
    "reads",
    "wanted_entries",
    "wanted_bytes",
    "granted_entries",  # what these reads would have got without this limiter
    "granted_bytes",
    "incomplete",
)
LIMITER_COUNT = LEVEL_COUNT * DIMENSION_COUNT

#: Another cause holds a subscription, or none does any more.
TRANSITION_ROW = record(
    "epoch", "seq", "topic_id", "sub_id", "noticed_at", "cause", "level", "dimension", "unknown_reason", "cap", "since", "backlog",
    "waiting", "open", "complete",
)  # fmt: skip

STORES: tuple[Store, ...] = (
    Beside("charges", "charge", CHARGE_ROW, of="subscriptions"),
    Beside("chains", "chain", CHAIN_ROW, of="topics"),
    Single("pace", PACE_ROW, first=(("first_in_window", NONE), ("slow_ns", NONE), ("good_ns", NONE), ("first_to_look", NONE))),
    Family("margins", "margin", MARGIN_ROW),
    Listed("out_causes", TRANSITION_ROW, table="cause_transitions"),
)
