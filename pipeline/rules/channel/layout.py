"""The rows that the channel package keeps beside the broker's connections and topics.

Two trackers stand beside each other. The *believed* one is what happened: the outbound buffer by rule, the cooldown by its `throttle`
events where the log carries such events, all else by the log. The *modelled* one decides on both by rule and is compared with the log.
docs/design/channels.md has the reasons.
"""

from pipeline.rules.broker.layout import CONNECTION_ROW, NONE
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.package import Beside, Listed, Single, Store
from pipeline.rules.records import blank, record
from schemas.events import THROTTLE_TYPES

TYPE_COUNT = len(THROTTLE_TYPES)
TOPIC_PUBLISH_RATE, RESOURCE_GROUP_PUBLISH_RATE, OUTBOUND_BUFFER, COOLDOWN_RATE = (
    THROTTLE_TYPES.index(name)
    for name in (
        "TopicPublishRate",
        "ResourceGroupPublishRate",
        "ConnectionOutboundBufferFull",
        "ConnectionPauseReceivingCooldownRateLimit",
    )
)  # fmt: skip
#: The two types of PIP-434 are the last ones, and are compared: [type − FIRST_COMPARED].
FIRST_COMPARED = OUTBOUND_BUFFER
#: Stretches of time that a channel may be in; from FIRST_TYPE on one for each throttle type.
UNWRITABLE, PAUSED, COOLDOWN, FIRST_TYPE = range(4)
STRETCH_COUNT = FIRST_TYPE + TYPE_COUNT

SHIPPED, PIP, DEFAULT = range(3)  # SETTINGS_VOCABULARIES
#: Netty's own low water mark: a high mark below it is refused while a channel is initialised (C2).
NETTY_LOW_MARK = 32_768
CHANNEL_SETTINGS_ROW = record(
    "vocabulary",
    "marks_usable",
    "high_mark",
    "low_mark",
    "pause_enabled",
    "cooldown_ms",
    "permits",
    "period_ms",
    "carries_throttles",  # the log of this epoch has had a `throttle` event
)

#: Timers: the pause after a refused request ends, the cooldown ends. Of one instant the first kind comes first.
PAUSE_ENDS, COOLDOWN_ENDS = 0, 1
TIMER_ROW = record("due_ns", "conn", "kind", "connection")
CLOCK_ROW = record("next_due_ns")  # of all timers

#: What happened to a connection. Counters of the open window but for the rest listed in LASTING.
CHANNEL_ROW = record(
    "life",  # of the connection (broker/layout.py): a row of another life has no meaning
    "touched",  # something happened in this window
    # The limiter (§3.3).
    "remaining",
    "last_reset_ms",
    "close_at_ms",
    "close_at_us",
    "cooldown_end_ns",
    # The pause after a refused request, modelled.
    "paused_by_cooldown",
    "due_ns",
    "marked_ts",
    "marked_ns",
    "by_rule",  # the believed tracker has that reason from the rule, too
    "throttled",  # sum of the believed tracker's reasons
    "modelled_throttled",
    "paused_count",
    "resumed_count",
    "modelled_paused_count",
    "modelled_resumed_count",
    "unwritable_count",
    "writability_repeats",
    "mark_mismatches",
    "marks_dropped",
    "requests",
    "requests_limited",
    "pending_bytes_max",  # NONE before the first `writability`
    "pending_bytes_at_least",
    "producers_paused_max",
    "topics_paused_max",
    "consumers_unwritable_max",
    "subscriptions_unwritable_max",
    believed=(TYPE_COUNT,),
    modelled=(TYPE_COUNT,),
    expected=(2,),  # the modelled change that the log has yet to show: 1 on, 0 off, NONE
    agreed=(2,),
    only_logged=(2,),
    only_modelled=(2,),
    running=(STRETCH_COUNT,),
    began_ts=(STRETCH_COUNT,),
    began_ns=(STRETCH_COUNT,),
    lasted_ns=(STRETCH_COUNT,),
    queued_ns=(2,),  # when a timer of this kind is looked at, NONE: there is none
)
NO_CHANNEL = blank(CHANNEL_ROW, pending_bytes_max=NONE, expected=NONE, queued_ns=NONE)
#: What starts again with each window.
OF_WINDOW = (
    "touched",
    "paused_count",
    "resumed_count",
    "modelled_paused_count",
    "modelled_resumed_count",
    "unwritable_count",
    "writability_repeats",
    "mark_mismatches",
    "marks_dropped",
    "requests",
    "requests_limited",
    "agreed",
    "only_logged",
    "only_modelled",
    "lasted_ns",
)

#: A topic whose producers are made to wait. Zeros: none is.
TOPIC_PAUSE_ROW = record(
    "paused_connections",  # with producers of the topic
    "began_ts",
    "began_ns",
    "connections_paused_max",
    "producers_paused_ns",
    "publish_limited_times",
)

#: What is known of the level of all write buffers together, in the open window.
MEMORY_ROW = record(
    "reported",  # by heartbeats
    "reported_bytes",
    "reported_at",
    "bounded",  # from below, by `writability`
    "bound_bytes",
    "bound_at",
    "max_bytes",
    "max_exact",
)

TRANSITION_ROW = record(
    "epoch",
    "seq",
    "conn",
    "ts",
    "ns",
    "change",
    "throttle_type",
    "cause",
    "auto_read",
    "throttle_count",
    "changed_connection",
    "pending_bytes",
)

STORES: tuple[Store, ...] = (
    Single(
        "channel_settings",
        CHANNEL_SETTINGS_ROW,
        first=(
            ("vocabulary", DEFAULT),
            ("marks_usable", 1),
            ("high_mark", 65_536),
            ("low_mark", 32_768),
            ("cooldown_ms", 5_000),
            ("permits", 5),
            ("period_ms", 10),
        ),
    ),
    Single("channel_clock", CLOCK_ROW, first=(("next_due_ns", INT64_MAX),)),
    Single("write_buffers", MEMORY_ROW),
    Beside("channels", "channel_row", CHANNEL_ROW, of="connections"),
    Beside("topic_pauses", "topic_pause", TOPIC_PAUSE_ROW, of="topics"),
    Listed("timers", TIMER_ROW),
    # Connections that ended in the open window.
    Listed("closed_connections", CONNECTION_ROW),
    Listed("closed_channels", CHANNEL_ROW, beside="closed_connections"),
    Listed("out_transitions", TRANSITION_ROW, table="channel_transitions"),
)
