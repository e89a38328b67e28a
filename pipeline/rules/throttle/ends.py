"""Windows and epochs of the throttle package: rows when a window closes, blocked time that lasts through windows without events."""

from collections.abc import Iterator

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.completeness import note_losses
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.package import Ends, State
from pipeline.rules.records import Records, together
from pipeline.rules.throttle.closing import close_limiter
from pipeline.rules.throttle.layout import LASTING, NO_USE, THROTTLING_ROW
from pipeline.rules.throttle.rows import limiter_rows, subscription_rows
from pipeline.rules.throttle.window_end import balances, charge_blocked_until, has_blocked, pass_border

_OF_WINDOW = tuple(name for name in THROTTLING_ROW.names or () if name not in LASTING)


class ThrottleEnds(Ends):
    """What lasts is blocked time."""

    def close_window(self, state: State, window: Window) -> Iterator[Rows]:
        """Rows of `subscription_throttle` and `limiter_windows`, then counters start again."""
        broker, throttle, counts = state.group("broker"), state.group("throttle"), state.counts
        shown = pass_border(broker, throttle.throttlings, counts, window.end_us, window.border_ns)
        alive = broker.dispatchers.take(shown)
        note_losses(alive, "losses_at_open", broker.settings[0].losses)
        closed = counts.closed_dispatchers
        yield subscription_rows(
            together((throttle.closed_dispatchers[:closed], alive)),
            together((throttle.closed_throttlings[:closed], throttle.throttlings.take(shown))),
            broker.settings[0],
            window,
        )
        yield from self._limiter_rows(state, window)
        for name in _OF_WINDOW:
            throttle.throttlings[name][shown] = 0
        counts.closed_dispatchers, counts.closed_limiters = 0, 0

    def has_running_time(self, state: State, until_ns: int) -> bool:
        """Whether a blocked read lasts until `until_ns`."""
        return has_blocked(state.group("broker").dispatchers, state.group("throttle").throttlings, state.counts.subscriptions, until_ns)

    def step_clock(self, state: State, ts_us: int, ns: int, seq: int) -> None:
        """The wall clock was set: blocked time goes on from there."""
        throttlings = state.group("throttle").throttlings
        charge_blocked_until(state.group("broker").dispatchers, throttlings, state.counts.subscriptions, ts_us, ns)

    def end_epoch(self, state: State, ts_us: int, ns: int) -> None:
        """The broker's limiter ends; topics' ended when they were unloaded."""
        broker, throttle = state.group("broker"), state.group("throttle")
        losses = broker.settings[0].losses
        close_limiter(throttle, state.counts, broker.broker_limiter, throttle.broker_limiter_use, 0, losses, ts_us, ns)
        broker.broker_limiter[0].exists = 0

    def keeps(self, state: State) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]:
        """Open dispatchers, known readings, and topics with a limiter."""
        broker, counts = state.group("broker"), state.counts
        return {
            "subscriptions": (broker.dispatchers["open"] == 1)[: counts.subscriptions],
            "topics": (broker.topic_limiters["exists"] == 1)[: counts.topics],
        }

    def _limiter_rows(self, state: State, window: Window) -> Iterator[Rows]:
        broker, throttle, counts = state.group("broker"), state.group("throttle"), state.counts
        closed = throttle.closed_limiters[: counts.closed_limiters]
        limiters, uses = [closed], [throttle.closed_limiter_uses[: counts.closed_limiters]]
        ends = [balances(closed, 0)]  # their books were settled when they ended
        for rows, used, count in (
            (broker.broker_limiter, throttle.broker_limiter_use, 1),
            (broker.topic_limiters, throttle.topic_limiter_uses, int(counts.topics)),
            (broker.subscription_limiters, throttle.subscription_limiter_uses, int(counts.subscriptions)),
        ):
            alive = np.flatnonzero(rows["exists"][:count] == 1)
            part = rows.take(alive)
            note_losses(part, "losses_at_creation", broker.settings[0].losses)
            end = balances(part, window.border_ns)
            limiters.append(part)
            uses.append(used.take(alive))
            ends.append(end)
            _restart(used, rows, alive, end)
        all_limiters, all_uses, permits_end = together(limiters), together(uses), np.concatenate(ends)
        for dimension in range(permits_end.shape[1]):
            yield limiter_rows(all_limiters, all_uses, permits_end[:, dimension], dimension, broker.settings[0], window)


def _restart(uses: Records, limiters: Records, alive: Array, permits: Array) -> None:
    """A new window: counters at 0, the balances at the border (`permits`) carried over."""
    uses[alive] = NO_USE[0]
    uses["shown_rate"][alive] = limiters["rate"][alive]
    uses["permits_start"][alive] = permits
