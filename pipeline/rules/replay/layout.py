"""Rows of a replay. A place is the number of an entry on its topic's scale, from 0; times are ns of the broker's monotonic clock.

Everything is counted in rows: `topic.first_entry + place` is an entry's row, `sub.first_ack + place` tells whether the subscription has it.
"""

from typing import NamedTuple

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import DIMENSION_COUNT, LEVEL_COUNT
from pipeline.rules.records import Records, record

#: States of a dispatcher's read: none, one that waits for a publish, one that storage is working on.
IDLE, WAITING, OUT = 0, 1, 2
#: Causes that hold a subscription: first the limiters, by level and dimension.
LIMITER_CAUSES = LEVEL_COUNT * DIMENSION_COUNT
NO_PERMITS, UNACKED_CAP, NO_CONSUMER, CATCHING_UP = range(LIMITER_CAUSES, LIMITER_CAUSES + 4)
CAUSE_COUNT = LIMITER_CAUSES + 4

CLOCK = record(
    "now_ns",
    "order",  # of plans: the first made is the first of those at one instant
    "planned",  # rows of the agenda in use
    "read_ns",  # from asking storage to the delivery
    "wake_ns",  # from a publish to the delivery, of a read that waits
    "retry_ns",  # from a blocked read to the next one
    "grant_ns",  # from a client's grant of permits to the broker
    "max_read_entries",  # dispatcherMaxReadBatchSize
    "max_read_bytes",  # dispatcherMaxReadSizeBytes
    "round_robin_entries",  # dispatcherMaxRoundRobinBatchSize
    "batch_mode",  # dispatchThrottlingOnBatchMessageEnabled
    "precise_check",  # preciseTimeBasedBacklogQuotaCheck
    "version",
    "consumer_cap",  # maxUnackedMessagesPerConsumer
    "subscription_cap",  # maxUnackedMessagesPerSubscription
    "wall_minus_ns",  # what a wall time in ns is above the monotonic one
    "full",  # a list was too small: the replay is worth nothing
)
TOPIC = record(
    "first_entry",
    "published",
    "room",  # entries that it will ever have: the length of rings of places
    "first_ledger",
    "ledgers",  # that have entries by now
    "limiter",
    "size_limit",
    "size_policy",
    "time_limit_s",
    "time_policy",
    "first_sub",
    "subs",
    "held_from_ns",  # when a quota first shut its producers out; NONE: never
)
LEDGER = record("first", "entries", "bytes", "closed", "close_ms")
ENTRY = record("ledger", "msgs", "bytes", "publish_ms")
SUB = record(
    "topic",
    "first_ack",
    "open",
    "durable",
    "is_single",  # Exclusive or Failover: one consumer is active
    "mark",  # entries before it are gone: the mark-delete position
    "read",  # the next one to read
    "deleted",  # acknowledged behind the mark
    "state",
    "life",  # what was planned in an earlier one is void
    "granted_entries",
    "granted_bytes",
    "retry_planned",
    "phase_ns",  # from the first of several blocked reads to its retry; 0: as from the others
    "blocked_ns",  # when a read was blocked last
    "replay_out",
    "replay_first",  # the list of entries to deliver again, a ring as long as the topic
    "replay_used",
    "is_capped",
    "unacked_msgs",
    "first_consumer",
    "consumers",
    "present",  # of them
    "turn",  # the slot after the consumer that got something last
    "taker",  # the consumer whose turn it is in a delivery; NONE: nobody takes more
    "taker_left",  # entries that it still takes
    "limiter",
    "evicted",
    "evictions",
    "cause",
    "since_ns",
    "first_pace",
    "paces",
    "pace",  # the one that is now
    throttled=(LEVEL_COUNT, DIMENSION_COUNT),
    held_ns=(CAUSE_COUNT,),
)
CONSUMER = record(
    "sub",
    "present",
    "life",
    "permits",
    "unacked_msgs",
    "is_capped",
    "receiver_queue",
    "grant_at",  # messages taken before it grants as many permits
    "taken_msgs",
    "is_busy",
    # What it has, a ring: acknowledged up to `acked`, processed up to `done`, delivered up to `got`.
    "first_in_hand",
    "room",
    "acked",
    "done",
    "got",
    "ack_planned",
    "ack_after_ns",
    "speed_ppm",  # of the recorded pace
)
#: How long a message takes a consumer from `from_ns` on; below 0: it takes none.
PACE = record("from_ns", "message_ns")
PLAN = record("at_ns", "order", "kind", "who", "life")
#: Recorded, or set: not of the broker's making. `a` to `e`: see demand.py.
GIVEN = record("at_ns", "kind", "who", "a", "b", "c", "d")


class Replay(NamedTuple):
    """All rows. `acked`, `replays`: one number for each entry of each subscription; `in_hand`: places, of all consumers.

    `samples`: int64 [instants, subscriptions, 2], entries of the backlog and the publish time of the oldest one (ms; 0: none).
    """

    clock: Records
    topics: Records
    ledgers: Records
    entries: Records
    subs: Records
    consumers: Records
    paces: Records
    limiters: Records
    agenda: Records
    given: Records
    acked: Array
    replays: Array
    in_hand: Array
    samples: Array
    answers: Array
    present: Array
    lowered: Array
