"""Rows of a closed window: what was charged, and what other limiters would have granted."""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import DIMENSION_COUNT
from pipeline.rules.cause.layout import AREA, LIMITER_COUNT, TIME
from pipeline.rules.outcome import Rows, Window, window_columns
from pipeline.rules.records import Records
from schemas.events import LIMITER_LEVELS, UNACKED_CAPS
from schemas.outcomes import NULL
from schemas.packages.cause.causes import ACCOUNTS, CAUSES, DIMENSIONS, UNKNOWN_REASONS

_TEXTS = (CAUSES, LIMITER_LEVELS, DIMENSIONS, UNKNOWN_REASONS, UNACKED_CAPS)
#: Per account: positions of cause, level, dimension, reason and cap in their vocabularies, [account, 5].
CAUSE_POSITIONS = np.array(
    [[NULL if text is None else texts.index(text) for text, texts in zip(account, _TEXTS, strict=True)] for account in ACCOUNTS],
    dtype=np.int64,
)


#: Sums over the reads of a row of `limiter_margins`.
MARGIN_SUMS = ("wanted_entries", "wanted_bytes", "granted_entries", "granted_bytes")


def _cause_columns(accounts: Array) -> dict[str, Array | int]:
    return {name: CAUSE_POSITIONS[accounts, k] for k, name in enumerate(("cause", "level", "dimension", "unknown_reason", "cap"))}


def cause_rows(subscriptions: Records, charges: Records, rows: Array, window: Window) -> Rows:
    """Rows of `subscription_causes`, of the subscriptions in `rows`: one for each account with time in it.

    The runs of main causes know this window already.
    """
    at, accounts = np.nonzero(charges["charged"][rows, :, TIME])
    found = rows[at]
    columns = window_columns(window) | {
        "topic_id": subscriptions["owner"][found],
        "sub_id": subscriptions["id"][found],
        **_cause_columns(accounts),
        "ns": charges["charged"][found, accounts, TIME],
        "backlog_ns": charges["backlog_ns"][found],
        "entry_us": charges["charged"][found, accounts, AREA],
        "first_at": charges["first_at"][found, accounts],
        "is_main": (accounts == charges["main"][found]).astype(np.int64),
        "main_since": charges["main_since"][found],
        "backlog_end": charges["backlog_end"][found],
        "waiting_end": charges["waiting_end"][found],
        "complete": 1 - charges["incomplete"][found],
    }
    return Rows("subscription_causes", columns, len(found))


def margin_rows(margins: Records, window: Window) -> Rows:
    """Rows of `limiter_margins`."""
    blocked, following = np.divmod(margins["id"], LIMITER_COUNT + 1)
    is_bound = following < LIMITER_COUNT
    columns = window_columns(window) | {
        "topic_id": margins["topic_id"],
        "sub_id": margins["owner"],
        "level": blocked // DIMENSION_COUNT,
        "dimension": blocked % DIMENSION_COUNT,
        "next_level": np.where(is_bound, following // DIMENSION_COUNT, NULL),
        "next_dimension": np.where(is_bound, following % DIMENSION_COUNT, NULL),
        **{name: margins[name] for name in ("reads", *MARGIN_SUMS)},
        "complete": 1 - margins["incomplete"],
    }
    return Rows("limiter_margins", columns, len(margins))
