"""What every subscription's backlog is charged to, and the changes of its main cause."""

from schemas.events import LIMITER_LEVELS, UNACKED_CAPS
from schemas.field import Field, Table, count_field
from schemas.packages.cause.causes import CAUSES, DIMENSIONS, UNKNOWN_REASONS
from schemas.window_columns import COMPLETENESS, WINDOW


def _one_of(name: str, values: tuple[str, ...], meaning: str, nullable: bool = True) -> Field:
    listed = ", ".join(f"'{value}'" for value in values)
    return Field(name, "string", meaning, nullable=nullable, check=f"{name} IN ({listed})")


_SUBSCRIPTION = (
    Field("broker", "string", "broker"),
    Field("epoch", "long", "epoch of the broker", "ms since 1970"),
    Field("topic", "string", "full topic name"),
    Field("subscription", "string", "subscription name"),
)
_CAUSE = (
    _one_of("cause", CAUSES, "the cause that held it back", nullable=False),
    _one_of("level", LIMITER_LEVELS, "throttled: whose limiter; else null"),
    _one_of("dimension", DIMENSIONS, "throttled: the dimension that ran out; else null"),
    _one_of("unknown_reason", UNKNOWN_REASONS, "unknown: why; else null"),
    _one_of("cap", UNACKED_CAPS, "unacked_limit: which cap is reached; stuck: which cap is on though nothing is unacknowledged; else null"),
)


SUBSCRIPTION_CAUSES = Table(
    "subscription_causes",
    "One row per subscription, window and cause that held it back: all time in which it had a backlog, charged to exactly one cause.",
    grain=("broker", "epoch", "topic", "subscription", "window_start", "clock_segment", "cause", "level", "dimension", "unknown_reason", "cap"),
    age_by="window_start",
    fields=(
        *_SUBSCRIPTION,
        *WINDOW,
        *_CAUSE,
        Field("ns", "long", "time charged to this cause", "ns", check="ns > 0"),
        count_field("backlog_ns", "time in the window in which the subscription had a backlog: the sum of `ns` over its causes", "ns"),
        count_field("entry_us", "entries in the backlog × time charged to this cause; entries that are acknowledged between two charges are assumed to go at an even rate", "entry-µs"),
        Field("first_at", "timestamp", "when this cause was first charged in the window"),
        Field("is_main", "boolean", "whether more entries × time of the window were charged to it than to any other cause"),
        Field("main_since", "timestamp", "since when the cause with is_main is the main one, through windows that touch"),
        count_field("backlog_end", "entries in the backlog at the end of the window", "entries"),
        count_field("waiting_end", "of them neither delivered nor held for later delivery", "entries"),
        Field("complete", "boolean", "false: its cursor was met without its beginning, or events of the broker were lost or quarantined "
              "since. True again in a window without a loss, once the log has the state of the broker (`state`)"),
        COMPLETENESS,
    ),
)  # fmt: skip

CAUSE_TRANSITIONS = Table(
    "cause_transitions",
    "One row for each new cause that holds a subscription. A short interruption has no row.",
    grain=("broker", "epoch", "topic", "subscription", "seq"),
    age_by="noticed_at",
    fields=(
        *_SUBSCRIPTION,
        Field("seq", "long", "the event before which the change was noticed"),
        Field("noticed_at", "timestamp", "time of that event: the row has the state of this instant"),
        _one_of("cause", CAUSES, "the cause that got most of the latest time; null: no backlog any more"),
        *_CAUSE[1:],
        Field("since", "timestamp", "since when most of the time went to it"),
        count_field("backlog", "entries in the backlog at noticed_at", "entries"),
        count_field("waiting", "of them neither delivered nor held for later delivery", "entries"),
        Field("open", "boolean", "whether its cursor is open at noticed_at: false where the topic was unloaded, or the subscription deleted"),
        Field("complete", "boolean", "false: its cursor was met without its beginning, or events of the broker were lost or quarantined, and "
              "no state of the broker (`state`) was in the log since"),
    ),
)  # fmt: skip

LIMITER_MARGINS = Table(
    "limiter_margins",
    "Entries that reads would have got without the limiter that blocked them. One row per subscription, window, limiter that blocked, and limiter that "
    "is next. A read counts only if something waited (cause `throttled`).",
    grain=("broker", "epoch", "topic", "subscription", "window_start", "clock_segment", "level", "dimension", "next_level", "next_dimension"),
    age_by="window_start",
    fields=(
        *_SUBSCRIPTION,
        *WINDOW,
        _one_of("level", LIMITER_LEVELS, "whose limiter blocked them", nullable=False),
        _one_of("dimension", DIMENSIONS, "the dimension that ran out: of both the messages", nullable=False),
        _one_of("next_level", LIMITER_LEVELS, "whose limiter binds without it; null: none, all that waits or was asked for is granted"),
        _one_of("next_dimension", DIMENSIONS, "the dimension of that limiter that runs out; null: none"),
        Field("reads", "long", "blocked reads", "reads", check="reads > 0"),
        count_field("wanted_entries", "entries that they asked for", "entries"),
        count_field("wanted_bytes", "the same", "bytes"),
        Field(
            "granted_entries", "long", "entries that they would have got without this limiter, each read by itself: 0 where the next one blocks, too", "entries",
            check="granted_entries >= 0",
        ),
        Field("granted_bytes", "long", "the same", "bytes", check="granted_bytes >= 0"),
        Field("complete", "boolean", "false: its cursor was met without its beginning, or events of the broker were lost or quarantined since"),
        COMPLETENESS,
    ),
)  # fmt: skip
