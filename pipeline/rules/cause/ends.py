"""Windows and epochs of the cause package: rows when a window closes, backlogs that last through windows without events."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.chains import chain_anew, rows_of_topics
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.layout import APART
from pipeline.rules.cause.rows import MARGIN_SUMS, cause_rows, margin_rows
from pipeline.rules.cause.runs import begin_or_go_on, begin_window, main_accounts
from pipeline.rules.cause.window_end import charge_until, lasts_until, pass_border, rows_in_window
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.package import Ends, State
from pipeline.rules.records import Records


class CauseEnds(Ends):
    """What lasts is a backlog."""

    def close_window(self, state: State, window: Window) -> Iterator[Rows]:
        """Rows of `subscription_causes` and `limiter_margins`, then accounts start again."""
        yield from _rows_of_causes(state, window)
        yield from _rows_of_margins(state, window)

    def has_running_time(self, state: State, until_ns: int) -> bool:
        """Whether a backlog lasts until `until_ns`."""
        cause = state.group("cause")
        return bool(lasts_until(cause.charges, cause.pace[0], until_ns))

    def step_clock(self, state: State, ts_us: int, ns: int, seq: int) -> None:
        """The wall clock was set: backlogs go on from there."""
        charge_until(state.group("broker"), state.group("cause"), ts_us, ns)

    def end_epoch(self, state: State, ts_us: int, ns: int) -> None:
        """Backlogs ended with their topics; runs of main causes end with the window."""
        state.group("cause").pace[0].is_over = 1

    def keeps(self, state: State) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]:
        """Subscriptions with time in the open window, or a cause of a window or of now; what limiters held back in the open window."""
        cause, counts = state.group("cause"), state.counts
        charges = cause.charges[: counts.subscriptions]
        return {
            "subscriptions": _is_in_window(charges) | (charges["holding"] != NONE) | (charges["next_to_look"] != APART),
            "margins": cause.margins["reads"][: counts.margins] > 0,
        }

    def renumber(self, state: State, new_rows: dict[str, Array]) -> None:
        """Chains have numbers of rows: they are made anew, in the order of rows."""
        broker, cause, counts = state.group("broker"), state.group("cause"), state.counts
        charges, chains = cause.charges[: counts.subscriptions], cause.chains[: counts.topics]
        chained = np.flatnonzero(charges["next_in_chain"] != APART)
        chains["first_in_chain"] = NONE
        owners = rows_of_topics(broker.topics[: counts.topics], broker.subscriptions[chained])
        chain_anew(chains["first_in_chain"], charges["next_in_chain"], chained, owners)
        in_window = np.flatnonzero(_is_in_window(charges))
        charges["next_in_window"] = APART
        _chain_window(cause, in_window)
        looked_at = np.flatnonzero(charges["next_to_look"] != APART)
        charges["next_to_look"][looked_at] = np.append(looked_at[1:], NONE)[: len(looked_at)]
        cause.pace["first_to_look"] = looked_at[0] if len(looked_at) else NONE


def _chain_window(cause: Any, rows: Array) -> None:
    """Only these `rows` may have a backlog in the open window, or a main cause; all others are apart."""
    cause.charges["next_in_window"][rows] = np.append(rows[1:], NONE)[: len(rows)]
    cause.pace["first_in_window"] = rows[0] if len(rows) else NONE


def _is_in_window(charges: Records) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Which of the subscriptions have a backlog, now or in the open window, or a main cause."""
    flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (
        (charges["backlog_ns"] > 0) | (charges["main"] != NONE) | (charges["running"] == 1)
    )
    return flags


def _rows_of_causes(state: State, window: Window) -> Iterator[Rows]:
    broker, cause, counts = state.group("broker"), state.group("cause"), state.counts
    charges, subscriptions = cause.charges, broker.subscriptions
    rows = np.empty(counts.subscriptions, dtype=np.int64)
    rows = np.sort(rows[: rows_in_window(charges, cause.pace[0], rows)])
    rows = rows[: pass_border(broker, cause, counts, window.end_us, window.border_ns, rows)]
    _chain_window(cause, rows)
    mains = np.empty_like(rows)
    shown = main_accounts(charges, rows, mains)
    rows, mains = rows[:shown], mains[:shown]
    begin_or_go_on(charges, rows, mains, window.start_us, window.end_us)
    if shown:
        yield cause_rows(subscriptions, charges, rows, window)
    if cause.pace[0].is_over == 1:
        charges["main"][rows] = NONE
    begin_window(charges, rows)


def _rows_of_margins(state: State, window: Window) -> Iterator[Rows]:
    margins = state.group("cause").margins[: state.counts.margins]
    read = margins["reads"] > 0
    if read.any():
        yield margin_rows(margins[read], window)
        for name in ("reads", "incomplete", *MARGIN_SUMS):
            margins[name] = 0
