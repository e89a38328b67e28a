"""Rows of a closed window, from the arrays of the throttle machine."""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.machine import NULL, Rows, Window
from pipeline.machines.throttle.layout import (
    D_BEGAN_COMPLETE,
    D_CLOSED_AT,
    D_ID,
    D_OPENED_AT,
    D_READS,
    D_READS_MODELLED,
    D_SUB_TYPE,
    D_THROTTLED,
    D_TOPIC,
    DIMENSION_WIDTH,
    DISPATCHER_COUNTERS,
    L_APPLIED,
    L_ASKS,
    L_ASKS_MODELLED,
    L_BEGAN_COMPLETE,
    L_CLOSED_AT,
    L_COMPARED,
    L_CREATED_AT,
    L_KIND,
    L_LEVEL,
    L_OVER_DELIVERED,
    L_PERIOD_MS,
    L_PERMITS_START,
    L_RELATIVE,
    L_SHOWN_RATE,
    L_SUB,
    L_TOPIC,
    L_USED,
    LIMITER_COUNTERS,
    NONE,
)

_OBSERVED, _MODELLED, _MIXED, _NO_READS = range(4)


def _source(asked: Array, modelled: Array) -> Array:
    partly = np.where(modelled == 0, _OBSERVED, np.where(modelled == asked, _MODELLED, _MIXED))
    return np.where(asked == 0, _NO_READS, partly)


def _window_columns(window: Window) -> dict[str, Array | int]:
    return {
        "epoch": window.epoch,
        "window_start": window.start_us,
        "window_end": window.end_us,
        "clock_segment": window.clock_segment,
        "window_applied": window.applied,
        "window_missing": window.missing,
    }


def _or_null(values: Array) -> Array:
    return np.where(values == NONE, NULL, values)


def subscription_rows(dispatchers: Array, window: Window) -> Rows:
    """Rows of `subscription_throttle` from dispatcher rows whose `began_complete` already says whether anything was lost since."""
    columns = _window_columns(window)
    columns |= {
        "topic_id": dispatchers[:, D_TOPIC],
        "sub_id": dispatchers[:, D_ID],
        "opened_at": dispatchers[:, D_OPENED_AT],
        "closed_at": _or_null(dispatchers[:, D_CLOSED_AT]),
        "sub_type": _or_null(dispatchers[:, D_SUB_TYPE]),
        "complete": dispatchers[:, D_BEGAN_COMPLETE],
        "source": _source(dispatchers[:, D_READS], dispatchers[:, D_READS_MODELLED]),
    }
    columns |= {name: dispatchers[:, D_THROTTLED + k] for k, name in enumerate(DISPATCHER_COUNTERS)}
    return Rows("subscription_throttle", columns, len(dispatchers))


def limiter_rows(limiters: Array, permits_end: Array, dimension: int, window: Window) -> Rows:
    """Rows of `limiter_windows` for one dimension; `permits_end` is each limiter's balance of it."""
    base = dimension * DIMENSION_WIDTH
    worth = (limiters[:, base + L_SHOWN_RATE] > 0) & (
        (limiters[:, base + L_APPLIED] > 0)
        | (limiters[:, base + L_ASKS] > 0)
        | (limiters[:, base + L_COMPARED] > 0)
        | (limiters[:, base + L_USED] > 0)
        | (limiters[:, L_CLOSED_AT] != NONE)
    )
    shown = limiters[worth]
    columns = _window_columns(window)
    columns |= {
        "level": shown[:, L_LEVEL],
        "topic_id": shown[:, L_TOPIC],
        "sub_id": shown[:, L_SUB],
        "dimension": dimension,
        "created_at": shown[:, L_CREATED_AT],
        "closed_at": _or_null(shown[:, L_CLOSED_AT]),
        "limiter": shown[:, L_KIND],
        "rate": shown[:, base + L_SHOWN_RATE],
        "period_ms": shown[:, L_PERIOD_MS],
        "relative": shown[:, L_RELATIVE],
        "applied": shown[:, base + L_APPLIED],
        "permits_start": shown[:, base + L_PERMITS_START],
        "permits_end": permits_end[worth],
        "used": shown[:, base + L_USED],
        "over_delivered": shown[:, base + L_OVER_DELIVERED],
        "debt": np.maximum(0, -permits_end[worth]),
        "complete": shown[:, L_BEGAN_COMPLETE],
        "source": _source(shown[:, base + L_ASKS], shown[:, base + L_ASKS_MODELLED]),
    }
    columns |= {name: shown[:, base + L_ASKS + k] for k, name in enumerate(LIMITER_COUNTERS)}
    return Rows("limiter_windows", columns, len(shown))
