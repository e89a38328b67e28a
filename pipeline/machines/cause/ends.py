"""Windows and epochs of the cause package: rows when a window closes, backlogs that last through windows without events."""

from collections.abc import Iterator

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.broker.layout import NONE
from pipeline.machines.cause.rows import MARGIN_SUMS, cause_rows, main_accounts, margin_rows, status_rows
from pipeline.machines.cause.window_end import charge_until, pass_border
from pipeline.machines.outcome import Rows, Window
from pipeline.machines.package import Ends, State

_OF_WINDOW = ("backlog_ns", "incomplete", "charged_ns", "entry_us", "first_at")


class CauseEnds(Ends):
    """What lasts is a backlog."""

    def close_window(self, state: State, window: Window) -> Iterator[Rows]:
        """Rows of `subscription_causes` and `subscription_status`, then accounts start again."""
        broker, cause, counts = state.group("broker"), state.group("cause"), state.counts
        pass_border(broker, cause, counts, window.end_us, window.border_ns)
        charges = cause.charges[: counts.subscriptions]
        shown = np.flatnonzero(charges["charged_ns"].any(axis=1) | (charges["main"] != NONE))
        if len(shown):
            charged, subscriptions = charges[shown], broker.subscriptions[shown]
            mains = main_accounts(charged)
            goes_on = (charged["main"] == mains) & (charged["main_window_end"] >= window.start_us)
            over = (charged["main"] != NONE) & ~goes_on
            if over.any():
                until = np.where(mains[over] != NONE, _of(charged["first_at"], mains)[over], charged["since_ts"][over])
                yield status_rows(subscriptions[over], charged[over], until, window)
            begins = ~goes_on
            charged["main_since"] = np.where(begins, _of(charged["first_at"], mains), charged["main_since"])
            for name in ("main_windows", "main_ns", "main_backlog_ns"):
                charged[name][begins] = 0
            charged["main"], charged["main_window_end"] = mains, window.end_us
            charged["main_windows"] += 1
            charged["main_ns"] += _of(charged["charged_ns"], mains)
            charged["main_backlog_ns"] += charged["backlog_ns"]
            yield cause_rows(subscriptions, charged, window)
            if cause.pace[0].is_over == 1:
                last = charged["main"] != NONE
                yield status_rows(subscriptions[last], charged[last], charged["since_ts"][last], window)
                charged["main"] = NONE
            for name in _OF_WINDOW:
                charged[name] = 0
            charges[shown] = charged
        margins = cause.margins[: counts.margins]
        read = margins["reads"] > 0
        if read.any():
            yield margin_rows(margins[read], window)
            for name in ("reads", "incomplete", *MARGIN_SUMS):
                margins[name] = 0

    def has_running_time(self, state: State, until_ns: int) -> bool:
        """Whether a backlog lasts until `until_ns`."""
        charges = state.group("cause").charges[: state.counts.subscriptions]
        return bool(((charges["running"] == 1) & (charges["since_ns"] < until_ns)).any())

    def step_clock(self, state: State, ts_us: int, ns: int, seq: int) -> None:
        """The wall clock was set: backlogs go on from there."""
        charge_until(state.group("broker"), state.group("cause"), state.counts, ts_us, ns)

    def end_epoch(self, state: State, ts_us: int, ns: int) -> None:
        """Backlogs ended with their topics; runs of main causes end with the window."""
        state.group("cause").pace[0].is_over = 1

    def keeps(self, state: State) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]:
        """Subscriptions with time in the open window, or a main cause; what limiters held back in the open window."""
        cause, counts = state.group("cause"), state.counts
        charges = cause.charges[: counts.subscriptions]
        return {
            "subscriptions": charges["charged_ns"].any(axis=1) | (charges["main"] != NONE) | (charges["running"] == 1),
            "margins": cause.margins["reads"][: counts.margins] > 0,
        }

    def renumber(self, state: State, new_rows: dict[str, Array]) -> None:
        """Chains hold numbers of rows: they are made anew, in the order of rows."""
        broker, cause, counts = state.group("broker"), state.group("cause"), state.counts
        charges, chains = cause.charges[: counts.subscriptions], cause.chains[: counts.topics]
        charges["next_in_chain"], chains["first_in_chain"] = NONE, NONE
        chained = np.flatnonzero(charges["in_chain"] == 1)
        topics = {int(topic): row for row, topic in enumerate(broker.topics["id"][: counts.topics])} if len(chained) else {}
        for s in chained[::-1]:
            t = topics[int(broker.subscriptions["owner"][s])]
            charges["next_in_chain"][s] = chains["first_in_chain"][t]
            chains["first_in_chain"][t] = s


def _of(values: Array, accounts: Array) -> Array:
    """`values` [n, account] of each row's account [n]; 0 where that is NONE."""
    taken: Array = np.where(accounts == NONE, 0, values[np.arange(len(accounts)), np.maximum(accounts, 0)])
    return taken
