"""Rows of a closed window: what was charged, and main causes whose run is over."""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.broker.layout import DIMENSION_COUNT, NONE
from pipeline.machines.cause.layout import LIMITER_COUNT
from pipeline.machines.outcome import Rows, Window, window_columns
from pipeline.machines.records import Records
from schemas.events import LIMITER_LEVELS
from schemas.outcomes import NULL
from schemas.packages.cause.causes import ACCOUNTS, CAUSES, DIMENSIONS, UNKNOWN_REASONS

_TEXTS = (CAUSES, LIMITER_LEVELS, DIMENSIONS, UNKNOWN_REASONS)
#: Per account: positions of cause, level, dimension and reason in their vocabularies, [account, 4].
_POSITIONS = np.array(
    [[NULL if text is None else texts.index(text) for text, texts in zip(account, _TEXTS, strict=True)] for account in ACCOUNTS],
    dtype=np.int64,
)


#: Sums over the reads of a row of `limiter_margins`.
MARGIN_SUMS = ("wanted_entries", "wanted_bytes", "granted_entries", "granted_bytes")


def _cause_columns(accounts: Array) -> dict[str, Array | int]:
    return {name: _POSITIONS[accounts, k] for k, name in enumerate(("cause", "level", "dimension", "unknown_reason"))}


def main_accounts(charges: Records) -> Array:
    """The account that most entries × time of each subscription's window were charged to, of equal ones the first: [n].

    Where that comes to nothing, the one with most time; NONE without a backlog.
    """
    charged, area = charges["charged_ns"], charges["entry_us"]
    most = np.where(area.any(axis=1), area.argmax(axis=1), charged.argmax(axis=1))
    return np.where(charged.any(axis=1), most, NONE)


def cause_rows(subscriptions: Records, charges: Records, window: Window) -> Rows:
    """Rows of `subscription_causes`: one for each account with time in it. The runs of main causes know this window already."""
    at, accounts = np.nonzero(charges["charged_ns"])
    found, owners = charges[at], subscriptions[at]
    columns = window_columns(window) | {
        "topic_id": owners["owner"],
        "sub_id": owners["id"],
        **_cause_columns(accounts),
        "ns": found["charged_ns"][np.arange(len(at)), accounts],
        "backlog_ns": found["backlog_ns"],
        "entry_us": found["entry_us"][np.arange(len(at)), accounts],
        "first_at": found["first_at"][np.arange(len(at)), accounts],
        "is_main": (accounts == found["main"]).astype(np.int64),
        "main_since": found["main_since"],
        "backlog_end": found["backlog_end"],
        "waiting_end": found["waiting_end"],
        "complete": 1 - found["incomplete"],
    }
    return Rows("subscription_causes", columns, len(at))


def status_rows(subscriptions: Records, charges: Records, until: Array, window: Window) -> Rows:
    """Rows of `subscription_status`, of runs that are over."""
    columns: dict[str, Array | int] = {
        "epoch": window.epoch,
        "window_start": window.start_us,
        "clock_segment": window.clock_segment,
        "topic_id": subscriptions["owner"],
        "sub_id": subscriptions["id"],
        **_cause_columns(charges["main"]),
        "since": charges["main_since"],
        "until": until,
        "windows": charges["main_windows"],
        "ns": charges["main_ns"],
        "backlog_ns": charges["main_backlog_ns"],
    }
    return Rows("subscription_status", columns, len(charges))


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
