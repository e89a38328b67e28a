"""The throttle machine: owns the State, makes room for the compiled fold, turns window ends into rows."""

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.machine import Rows, Window
from pipeline.machines.throttle.fold import fold
from pipeline.machines.throttle.incarnations import close_all
from pipeline.machines.throttle.layout import (
    D_BEGAN_COMPLETE,
    D_LOSSES_AT_OPEN,
    D_MODELLED,
    D_MODELLED_SINCE_OPEN,
    D_OPEN,
    D_THROTTLED_SINCE_OPEN,
    D_TOUCHED,
    DISPATCHER_COLUMNS,
    FIRST_COUNTER,
    L_BEGAN_COMPLETE,
    L_EXISTS,
    L_LOSSES_AT_CREATION,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LOSSES,
    S_TOPICS,
)
from pipeline.machines.throttle.room import compacted, ordered, with_room, with_room_to_end
from pipeline.machines.throttle.rows import limiter_rows, subscription_rows
from pipeline.machines.throttle.state import empty_state, restored_state, saved_arrays
from pipeline.machines.throttle.window_end import balances, charge_blocked_until, has_blocked, pass_border, restart_limiters

#: Counters that live as long as the dispatcher; all others start again with each window.
_SINCE_OPEN = (*range(D_THROTTLED_SINCE_OPEN, D_MODELLED), *range(D_MODELLED_SINCE_OPEN, D_MODELLED_SINCE_OPEN + 6))
_OF_WINDOW = np.array([c for c in range(FIRST_COUNTER, len(DISPATCHER_COLUMNS)) if c not in _SINCE_OPEN])


class ThrottleMachine:
    """Implements pipeline.machines.machine.Machine for limiters and the PIP-406 counters."""

    name = "throttle"
    version = 1

    def __init__(self) -> None:
        self._state = empty_state()

    def fold(self, events: Array) -> Sequence[Rows]:
        """Apply events in order: int64 [n, LANE_COLUMNS]. All rows wait for the end of the window."""
        events = np.ascontiguousarray(events)  # any other layout would be compiled for anew
        done = 0
        while done < len(events):
            done = fold(self._state, events, done)
            if done < len(events):
                self._state = with_room(self._state)
        return ()

    def lose(self) -> None:
        """Events were lost: nothing that is alive is complete any more."""
        self._state.scalars[S_LOSSES] += 1

    def has_running_time(self, until_ns: int) -> bool:
        """Whether a blocked read lasts until `until_ns`."""
        return has_blocked(self._state, until_ns)

    def step_clock(self, ts_us: int, ns: int) -> None:
        """The wall clock was set."""
        charge_blocked_until(self._state, ts_us, ns)

    def close_window(self, window: Window) -> Iterator[Rows]:
        """Rows of `subscription_throttle` and `limiter_windows`, then counters start again."""
        pass_border(self._state, window.end_us, window.border_ns)
        used = self._state.scalars
        dispatchers = self._state.dispatchers[: used[S_DISPATCHERS]]
        touched = dispatchers[(dispatchers[:, D_OPEN] == 1) & (dispatchers[:, D_TOUCHED] == 1)]
        touched[:, D_BEGAN_COMPLETE] &= touched[:, D_LOSSES_AT_OPEN] == used[S_LOSSES]
        closed = self._state.closed_dispatchers[: used[S_CLOSED_DISPATCHERS]]
        yield subscription_rows(np.concatenate((closed, touched)), window)
        yield from self._limiter_rows(window)
        again = np.flatnonzero(dispatchers[:, D_TOUCHED] == 1)
        dispatchers[np.ix_(again, _OF_WINDOW)] = 0
        dispatchers[again, D_TOUCHED] = 0
        used[S_CLOSED_DISPATCHERS] = 0
        used[S_CLOSED_LIMITERS] = 0

    def end_epoch(self, ts_us: int, ns: int) -> None:
        """The process is gone: every topic ends, and the broker's limiter."""
        self._state = with_room_to_end(self._state)
        close_all(self._state, ts_us, ns)

    def end_log(self, ts_us: int, ns: int) -> None:
        """Dispatchers and limiters stay as they are."""

    def arrays(self) -> dict[str, Array]:
        """The state without rows that say nothing (unloaded topics, gone subscriptions, trimmed ledgers)."""
        self._state = compacted(self._state)
        return saved_arrays(self._state)

    def waits(self, before_us: int) -> bool:
        """All rows come when their window closes."""
        return False

    def ordered_arrays(self) -> dict[str, Array]:
        """As `arrays()`, in order of ids."""
        self._state = ordered(compacted(self._state))
        return saved_arrays(self._state)

    @classmethod
    def restore(cls, arrays: dict[str, Array]) -> "ThrottleMachine":
        """A machine that goes on where `arrays()` was taken."""
        machine = cls()
        machine._state = restored_state(arrays)
        return machine

    def _limiter_rows(self, window: Window) -> Iterator[Rows]:
        state, used = self._state, self._state.scalars
        closed = state.closed_limiters[: used[S_CLOSED_LIMITERS]]
        parts = [closed]
        ends = [balances(closed, len(closed), 0)]  # their books were settled when they ended
        for limiters, count in (
            (state.broker_limiter, 1),
            (state.topic_limiters, int(used[S_TOPICS])),
            (state.dispatcher_limiters, int(used[S_DISPATCHERS])),
        ):
            end = balances(limiters, count, window.border_ns)
            alive = limiters[:count, L_EXISTS] == 1
            part = limiters[:count][alive]
            part[:, L_BEGAN_COMPLETE] &= part[:, L_LOSSES_AT_CREATION] == used[S_LOSSES]
            parts.append(part)
            ends.append(end[alive])
            restart_limiters(limiters, count, end)
        together, permits_end = np.concatenate(parts), np.concatenate(ends)
        for dimension in range(2):
            yield limiter_rows(together, permits_end[:, dimension], dimension, window)
