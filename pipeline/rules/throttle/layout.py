"""The rows that the throttle package keeps beside the broker's dispatchers and limiters."""

from pipeline.rules.broker.layout import DIMENSION_COUNT, DISPATCHER_ROW, LEVEL_COUNT, LIMITER_ROW, NONE
from pipeline.rules.package import Beside, Listed, Single, Store
from pipeline.rules.records import blank, record

_SIX = (DIMENSION_COUNT, LEVEL_COUNT)

#: What limiters did to a dispatcher. Counters of the open window but for those of its latest read and `…_since_open`.
THROTTLING_ROW = record(
    "touched",  # something happened in this window
    "blocked_level",  # level that blocked the latest read, or NONE
    "blocked_at_ns",  # since when not yet charged
    "blocked_at_ts",
    "granted_entries",  # by the latest read that was not blocked, or NONE
    "granted_bytes",
    "reads",
    "reads_modelled",
    "reads_shrunk",
    "reads_blocked",
    "reads_binding",
    "reads_nominal",
    "reads_by_unwritable_channel",
    "left_mismatches",
    "blocked_ns",
    "dispatches",
    "dispatched_entries",
    "dispatched_msgs",
    "dispatched_bytes",
    "uncharged_msgs",
    "oversized_dispatches",
    "waiting_entries",  # filled in when a window or an incarnation ends
    "waiting_bytes",
    throttled=_SIX,  # the six counters of PIP-406, [dimension, level]
    throttled_since_open=_SIX,
    modelled=_SIX,
    modelled_since_open=_SIX,
    decisive=_SIX,
    charged=_SIX,
    reads_blocked_by=(LEVEL_COUNT,),
    blocked_ns_by=(LEVEL_COUNT,),
)
NO_THROTTLING = blank(THROTTLING_ROW, blocked_level=NONE, granted_entries=NONE, granted_bytes=NONE)
#: What lasts beyond a window; everything else starts again with each.
LASTING = (
    "blocked_level",
    "blocked_at_ns",
    "blocked_at_ts",
    "granted_entries",
    "granted_bytes",
    "throttled_since_open",
    "modelled_since_open",
)

#: What was asked of a limiter in the open window, [dimension].
USE_FIELDS = (
    "shown_rate",  # last rate > 0 in this window, 0 if there was none
    "permits_start",
    "applied",
    "used",
    "over_delivered",
    "asks_modelled",
    "asks",
    "asks_shrunk",
    "asks_blocked",
    "asks_binding",
    "compared",
    "exact",
    "within_clock_step",
    "different",
    "largest_difference",
)
USE_ROW = record(**dict.fromkeys(USE_FIELDS, (DIMENSION_COUNT,)))
NO_USE = blank(USE_ROW)

#: Space for one read's working. The first axis of `answers` and `present`: OBSERVED, MODELLED.
OBSERVED, MODELLED = 0, 1
WORKING_ROW = record(
    answers=(2, LEVEL_COUNT, DIMENSION_COUNT),  # what limiters answered
    present=(2, LEVEL_COUNT),  # 1 if the level takes part in the walk
    lowered=(LEVEL_COUNT, DIMENSION_COUNT),  # 1 if the level lowered what is read
)

STORES: tuple[Store, ...] = (
    Beside("throttlings", "throttling", THROTTLING_ROW, of="subscriptions"),
    Single("broker_limiter_use", USE_ROW),
    Beside("topic_limiter_uses", "topic_limiter_use", USE_ROW, of="topics"),
    Beside("subscription_limiter_uses", "subscription_limiter_use", USE_ROW, of="subscriptions"),
    # Incarnations that ended in the open window.
    Listed("closed_dispatchers", DISPATCHER_ROW),
    Listed("closed_throttlings", THROTTLING_ROW, beside="closed_dispatchers"),
    Listed("closed_limiters", LIMITER_ROW),
    Listed("closed_limiter_uses", USE_ROW, beside="closed_limiters"),
    Single("working", WORKING_ROW, kept=False),
)
