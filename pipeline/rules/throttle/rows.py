"""Rows of a closed window, from the rows of dispatchers and limiters."""

from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.completeness import incomplete_reasons, needed_by
from pipeline.rules.broker.layout import NONE
from pipeline.rules.outcome import Rows, Window, window_columns
from pipeline.rules.records import Record, Records
from pipeline.rules.throttle.layout import THROTTLING_ROW
from schemas.outcomes import NULL
from schemas.packages.throttle.columns import DIMENSIONS, LEVELS
from schemas.packages.throttle.limiter_windows import LIMITER_WINDOWS
from schemas.packages.throttle.subscription_throttle import SUBSCRIPTION_THROTTLE

_OBSERVED, _MODELLED, _MIXED, _NO_READS = range(4)
#: Families of columns by dimension and level: how the table names them, and the field that holds them.
_SIX = {
    "dispatch_throttled_{dimension}_events_by_{level}_limit": "throttled",
    "dispatch_throttled_{dimension}_events_by_{level}_limit_since_open": "throttled_since_open",
    "modelled_dispatch_throttled_{dimension}_events_by_{level}_limit": "modelled",
    "modelled_dispatch_throttled_{dimension}_events_by_{level}_limit_since_open": "modelled_since_open",
    "decisive_{dimension}_by_{level}_limit": "decisive",
    "charged_{dimension}_by_{level}_limit": "charged",
}
_BY_LEVEL = {"reads_blocked_by_{level}_limit": "reads_blocked_by", "blocked_ns_by_{level}_limit": "blocked_ns_by"}
#: Name of each of these columns, its field, and its place in it.
_PLACES: list[tuple[str, str, Any]] = [
    *((name.format(level=level), field, np.s_[:, position]) for name, field in _BY_LEVEL.items() for position, level in enumerate(LEVELS)),
    *(
        (name.format(dimension=dimension_name, level=level), field, np.s_[:, dimension, position])
        for name, field in _SIX.items()
        for dimension, dimension_name in enumerate(DIMENSIONS)
        for position, level in enumerate(LEVELS)
    ),
]
#: Columns that are called as their fields.
_SAME = set(SUBSCRIPTION_THROTTLE.names) & set(THROTTLING_ROW.names or ())
_LIMITER_COUNTERS = LIMITER_WINDOWS.names[LIMITER_WINDOWS.names.index("asks") : LIMITER_WINDOWS.names.index("complete")]

_OF_THROTTLE, _OF_LIMITERS = needed_by(SUBSCRIPTION_THROTTLE.name), needed_by(LIMITER_WINDOWS.name)


def _source(asked: Array, modelled: Array) -> Array:
    partly = np.where(modelled == 0, _OBSERVED, np.where(modelled == asked, _MODELLED, _MIXED))
    return np.where(asked == 0, _NO_READS, partly)


def _or_null(values: Array) -> Array:
    return np.where(values == NONE, NULL, values)


def subscription_rows(dispatchers: Records, throttlings: Records, settings: Record, window: Window) -> Rows:
    """Rows of `subscription_throttle`, of dispatchers whose `losses_at_open` is LOST if anything was lost since."""
    reasons = incomplete_reasons(settings.missing_events, _OF_THROTTLE, dispatchers["began_complete"], dispatchers["losses_at_open"])
    columns = window_columns(window)
    columns |= {
        "topic_id": dispatchers["topic"],
        "sub_id": dispatchers["id"],
        "opened_at": dispatchers["opened_at"],
        "closed_at": _or_null(dispatchers["closed_at"]),
        "sub_type": _or_null(dispatchers["sub_type"]),
        "complete": reasons == NULL,
        "incomplete_reason": reasons,
        "source": _source(throttlings["reads"], throttlings["reads_modelled"]),
    }
    columns |= {name: throttlings[field][place] for name, field, place in _PLACES}
    columns |= {name: throttlings[name] for name in _SAME}
    return Rows("subscription_throttle", columns, len(dispatchers))


def limiter_rows(limiters: Records, uses: Records, permits_end: Array, dimension: int, settings: Record, window: Window) -> Rows:
    """Rows of `limiter_windows` for one dimension; `permits_end` is each limiter's balance of it. LOST: in `losses_at_creation`."""
    was_used = (uses[name][:, dimension] > 0 for name in ("applied", "asks", "compared", "used"))
    worth = (uses["shown_rate"][:, dimension] > 0) & reduce(or_, was_used, limiters["closed_at"] != NONE)
    if not worth.any():
        return Rows("limiter_windows", {}, 0)
    shown, end = limiters[worth], permits_end[worth]
    asked = {name: uses[name][worth, dimension] for name in uses.dtype.names or ()}
    reasons = incomplete_reasons(settings.missing_events, _OF_LIMITERS, shown["began_complete"], shown["losses_at_creation"])
    columns = window_columns(window)
    columns |= {
        "level": shown["level"],
        "topic_id": shown["topic"],
        "sub_id": shown["sub"],
        "dimension": dimension,
        "created_at": shown["created_at"],
        "closed_at": _or_null(shown["closed_at"]),
        "limiter": shown["kind"],
        "rate": asked["shown_rate"],
        "period_ms": shown["period_ms"],
        "relative": shown["relative"],
        "permits_end": end,
        "debt": np.maximum(0, -end),
        "complete": reasons == NULL,
        "incomplete_reason": reasons,
        "source": _source(asked["asks"], asked["asks_modelled"]),
    }
    columns |= {name: asked[name] for name in ("applied", "permits_start", "used", "over_delivered", *_LIMITER_COUNTERS)}
    return Rows("limiter_windows", columns, len(shown))
