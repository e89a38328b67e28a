"""What each limiter allowed and was used for, per window, by the model; and how the model compares with the broker's answers."""

from schemas.completeness import completeness_of_life
from schemas.field import Field, Table, count_field
from schemas.window_columns import COMPLETENESS, WINDOW

LIMITER_WINDOWS = Table(
    "limiter_windows",
    "One row per limiter, dimension and window in which it had a rate and was applied, asked or used.",
    grain=("broker", "epoch", "level", "topic", "subscription", "dimension", "created_at", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("level", "string", "whose limiter", check="level IN ('broker', 'topic', 'subscription')"),
        Field("topic", "string", "full topic name; null for the broker's", nullable=True),
        Field("subscription", "string", "subscription name; null unless level is subscription", nullable=True),
        Field("dimension", "string", "the unit that it counts", check="dimension IN ('msg', 'bytes')"),
        Field("created_at", "timestamp", "ts of the dispatch_rate that made the limiter"),
        *WINDOW,
        Field("closed_at", "timestamp", "when the limiter ended in this window (with its topic, dispatcher or epoch); null while it lives", nullable=True),
        Field("limiter", "string", "model", check="limiter IN ('token_bucket', 'classic')"),
        Field("rate", "long", "permits per period at the end of the window", "messages or bytes", check="rate > 0"),
        Field("period_ms", "long", "limiter period", "ms"),
        Field("relative", "boolean", "the rate is added to the publish rate, which the log does not have: not modelled, not compared"),
        count_field("applied", "times the rate was applied in the window (a token bucket starts full again each time)"),
        Field("permits_start", "long", "balance in the limiter's books at the start of the window or when it was made, negative = debt", "messages or bytes"),
        Field("permits_end", "long", "balance in the limiter's books at the end of the window or when it ended", "messages or bytes"),
        count_field("used", "permits consumed by dispatches", "messages or bytes"),
        count_field("over_delivered", "of them beyond the balance at that moment", "messages or bytes"),
        count_field("debt", "how far below zero the balance stood at the end", "messages or bytes"),
        count_field("asks", "reads that asked it", "reads"),
        count_field("asks_shrunk", "asks whose request it lowered, not to zero", "reads"),
        count_field("asks_blocked", "asks whose request it lowered to zero", "reads"),
        count_field("asks_binding", "asks that it lowered while more was waiting than was granted", "reads"),
        count_field("compared", "asks with an answer in the log and in the model", "reads"),
        count_field("exact", "of them equal", "reads"),
        count_field("within_clock_step", "of them apart by at most max(1, ⌈rate · 16 ms / period⌉)", "reads"),
        count_field("different", "of them further apart", "reads"),
        count_field("largest_difference", "largest distance of an answer from the model's", "messages or bytes"),
        *completeness_of_life("false: it was met without its topic's or dispatcher's beginning, or events of the broker were lost or quarantined since"),
        COMPLETENESS,
        Field("source", "string", "as in subscription_throttle, over the asks of this limiter",
              check="source IN ('observed', 'modelled', 'mixed', 'none')"),
    ),
)  # fmt: skip
