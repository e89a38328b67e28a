"""What limiters did to each subscription, per window."""

from schemas.completeness import completeness_of_life
from schemas.field import Field, Table, count_field
from schemas.packages.throttle.columns import DIMENSIONS, LEVELS, throttled_events
from schemas.window_columns import COMPLETENESS, WINDOW

#: Where the broker charges entries, a batch counts as one message.
_CHARGED = {"msg": "messages", "bytes": "bytes"}

SUBSCRIPTION_THROTTLE = Table(
    "subscription_throttle",
    "One row per dispatcher incarnation and window in which something happened to it (an event of its own, or blocked time).",
    grain=("broker", "epoch", "topic", "subscription", "opened_at", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("topic", "string", "full topic name"),
        Field("subscription", "string", "subscription name"),
        Field("opened_at", "timestamp", "ts of its dispatcher_open; without one, of its first event"),
        *WINDOW,
        Field("closed_at", "timestamp", "when the dispatcher ended in this window (closed, topic unloaded, epoch over); null while it is open", nullable=True),
        Field("sub_type", "string", "subscription type; null if neither its dispatcher_open nor its state was in the log", nullable=True,
              check="sub_type IN ('Exclusive', 'Shared', 'Failover', 'Key_Shared')"),
        *completeness_of_life("false: its beginning was not in the log, or events of the broker were lost or quarantined since"),
        COMPLETENESS,
        Field("source", "string", "observed: the log had every read's answers; modelled: none; mixed; none: no reads in the window",
              check="source IN ('observed', 'modelled', 'mixed', 'none')"),
        *throttled_events("", "", "in the window"),
        *throttled_events("", "_since_open", "Pulsar's own counter after the last event of the dispatcher in the window"),
        *throttled_events("modelled_", "", "in the window, by the modelled limiters"),
        *throttled_events("modelled_", "_since_open", "since the dispatcher was opened, by the modelled limiters"),
        count_field("reads", "evaluations of the read limits", "reads"),
        count_field("reads_modelled", "of them without answers in the log: the model's were used", "reads"),
        count_field("reads_shrunk", "of them lowered by a limiter but not blocked", "reads"),
        count_field("reads_blocked", "of them left with nothing (−1/−1)", "reads"),
        *(count_field(f"reads_blocked_by_{level}_limit", f"blocked by the {level} limiter", "reads") for level in LEVELS),
        count_field("reads_binding", "shrunk or blocked while more entries or bytes waited than were granted", "reads"),
        count_field("reads_nominal", "shrunk or blocked though nobody needed the rest", "reads"),
        count_field("reads_by_unwritable_channel", "reads of a single entry, because no consumer's connection was writable (PIP-434)", "reads"),
        *(
            count_field(f"decisive_{dimension}_by_{level}_limit", f"reads whose {dimension} the {level} limiter was the last to lower", "reads")
            for dimension in DIMENSIONS
            for level in LEVELS
        ),
        count_field("left_mismatches", "reads whose logged left_* differ from the walk over the logged answers", "reads"),
        count_field("blocked_ns", "time in which the latest read was blocked", "ns"),
        *(count_field(f"blocked_ns_by_{level}_limit", f"of it, charged to the {level} limiter", "ns") for level in LEVELS),
        count_field("dispatches", "deliveries"),
        count_field("dispatched_entries", "entries delivered", "entries"),
        count_field("dispatched_msgs", "messages delivered", "messages"),
        count_field("dispatched_bytes", "bytes delivered", "bytes"),
        count_field("uncharged_msgs", "messages delivered without charging any limiter", "messages"),
        *(
            Field(f"charged_{dimension}_by_{level}_limit", "long",
                  f"{_CHARGED[dimension]} that the {level} limiter was charged for its deliveries; null: an earlier version wrote the row",
                  _CHARGED[dimension], nullable=True, added=True)
            for dimension in DIMENSIONS
            for level in LEVELS
        ),
        count_field("oversized_dispatches", "deliveries of more messages or bytes than the latest read was left with"),
        count_field("waiting_entries", "entries beyond the read position at the end of the window", "entries"),
        count_field("waiting_bytes", "bytes beyond the read position at the end of the window", "bytes"),
    ),
)  # fmt: skip
