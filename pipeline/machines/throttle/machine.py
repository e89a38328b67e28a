"""The throttle machine: owns the arrays, makes room for the compiled fold, turns window ends into rows."""

from collections.abc import Iterator

import numpy as np

from pipeline.faults import invariant
from pipeline.machines.index import fill, new_index
from pipeline.machines.machine import Rows, Window
from pipeline.machines.throttle.fold import fold
from pipeline.machines.throttle.incarnations import close_limiter, close_topic
from pipeline.machines.throttle.layout import (
    D_BEGAN_COMPLETE,
    D_CURSOR_KNOWN,
    D_ID,
    D_LOSSES_AT_OPEN,
    D_MODELLED,
    D_MODELLED_SINCE_OPEN,
    D_NEXT_OF_TOPIC,
    D_OPEN,
    D_THROTTLED,
    D_THROTTLED_SINCE_OPEN,
    D_TOPIC,
    D_TOUCHED,
    DISPATCHER_COLUMNS,
    G_GENERATION,
    G_LEDGER,
    G_TOPIC,
    L_BEGAN_COMPLETE,
    L_EXISTS,
    L_LOSSES_AT_CREATION,
    LEDGER_COLUMNS,
    LIMITER_COLUMNS,
    NONE,
    S_CLOSED_DISPATCHERS,
    S_CLOSED_LIMITERS,
    S_DISPATCHERS,
    S_LEDGERS,
    S_LOSSES,
    S_TOPICS,
    SCALARS,
    T_FIRST_DISPATCHER,
    T_GENERATION,
    T_ID,
    T_LOADED,
    T_PUBLISHED_ENTRIES,
    T_ZERO,
    TOPIC_COLUMNS,
)
from pipeline.machines.throttle.rows import limiter_rows, subscription_rows
from pipeline.machines.throttle.window_end import balances, charge_blocked_until, has_blocked, pass_border, restart_limiters

NAME = "throttle"
#: Of the arrays below. A blob of another version is refused with the command that rebuilds.
VERSION = 1
_FIRST_CAPACITY = 16
#: Counters that live as long as the dispatcher; all others start again with each window.
_SINCE_OPEN = (*range(D_THROTTLED_SINCE_OPEN, D_MODELLED), *range(D_MODELLED_SINCE_OPEN, D_MODELLED_SINCE_OPEN + 6))
_OF_WINDOW = np.array([c for c in range(D_THROTTLED, len(DISPATCHER_COLUMNS)) if c not in _SINCE_OPEN])


def _grown(rows: np.ndarray, capacity: int) -> np.ndarray:
    larger = np.zeros((capacity, rows.shape[1]), dtype=np.int64)
    larger[: len(rows)] = rows
    return larger


class ThrottleMachine:
    """Implements pipeline.machines.machine.Machine for limiters and the PIP-406 counters."""

    def __init__(self) -> None:
        self._scalars = np.zeros(len(SCALARS), dtype=np.int64)
        self._broker_limiter = np.zeros((1, len(LIMITER_COLUMNS)), dtype=np.int64)
        self._topics = np.zeros((_FIRST_CAPACITY, len(TOPIC_COLUMNS)), dtype=np.int64)
        self._topic_limiters = np.zeros((_FIRST_CAPACITY, len(LIMITER_COLUMNS)), dtype=np.int64)
        self._dispatchers = np.zeros((_FIRST_CAPACITY, len(DISPATCHER_COLUMNS)), dtype=np.int64)
        self._dispatcher_limiters = np.zeros((_FIRST_CAPACITY, len(LIMITER_COLUMNS)), dtype=np.int64)
        self._ledgers = np.zeros((_FIRST_CAPACITY, len(LEDGER_COLUMNS)), dtype=np.int64)
        self._closed_dispatchers = np.zeros((_FIRST_CAPACITY, len(DISPATCHER_COLUMNS)), dtype=np.int64)
        self._closed_limiters = np.zeros((_FIRST_CAPACITY, len(LIMITER_COLUMNS)), dtype=np.int64)
        self._index_all()
        self._answers = np.zeros((2, 3, 2), dtype=np.int64)
        self._present = np.zeros((2, 3), dtype=np.int64)
        self._lowered = np.zeros((3, 2), dtype=np.int64)

    def fold(self, events: np.ndarray) -> None:
        """Apply events in order: int64 [n, LANE_COLUMNS]."""
        done = 0
        while done < len(events):
            reached = fold(
                events, done, self._scalars, self._broker_limiter, self._topics, self._topic_limiters, self._dispatchers,
                self._dispatcher_limiters, self._ledgers, self._closed_dispatchers, self._closed_limiters,
                self._topic_index, self._dispatcher_index, self._ledger_index, self._answers, self._present, self._lowered,
            )  # fmt: skip
            if reached < len(events):
                self._make_room()
            done = reached

    def lose(self) -> None:
        """Events were lost: nothing that is alive is complete any more."""
        self._scalars[S_LOSSES] += 1

    def has_running_time(self, until_ns: int) -> bool:
        """Whether a blocked read lasts until `until_ns`."""
        return bool(has_blocked(self._dispatchers, self._scalars[S_DISPATCHERS], until_ns))

    def step_clock(self, ts_us: int, ns: int) -> None:
        """The wall clock was set."""
        charge_blocked_until(self._dispatchers, self._scalars[S_DISPATCHERS], ts_us, ns)

    def close_window(self, window: Window) -> Iterator[Rows]:
        """Rows of `subscription_throttle` and `limiter_windows`, then counters start again."""
        count = int(self._scalars[S_DISPATCHERS])
        pass_border(self._dispatchers, count, self._topics, self._topic_index, window.end_us, window.border_ns)
        touched = self._dispatchers[:count][(self._dispatchers[:count, D_OPEN] == 1) & (self._dispatchers[:count, D_TOUCHED] == 1)]
        touched[:, D_BEGAN_COMPLETE] &= touched[:, D_LOSSES_AT_OPEN] == self._scalars[S_LOSSES]
        closed = self._closed_dispatchers[: self._scalars[S_CLOSED_DISPATCHERS]]
        yield subscription_rows(np.concatenate((closed, touched)), window)
        yield from self._limiter_rows(window)
        again = np.flatnonzero(self._dispatchers[:count, D_TOUCHED] == 1)
        self._dispatchers[np.ix_(again, _OF_WINDOW)] = 0
        self._dispatchers[again, D_TOUCHED] = 0
        self._scalars[S_CLOSED_DISPATCHERS] = 0
        self._scalars[S_CLOSED_LIMITERS] = 0

    def end_epoch(self, ts_us: int, ns: int) -> None:
        """The process is gone: every topic ends, and the broker's limiter."""
        while self._scalars[S_CLOSED_DISPATCHERS] + self._scalars[S_DISPATCHERS] > len(self._closed_dispatchers) or (
            self._scalars[S_CLOSED_LIMITERS] + self._scalars[S_TOPICS] + self._scalars[S_DISPATCHERS] + 1 > len(self._closed_limiters)
        ):
            self._make_room()
        for t in range(self._scalars[S_TOPICS]):
            close_topic(
                self._scalars, self._topics, self._topic_limiters, t, self._dispatchers, self._dispatcher_limiters,
                self._closed_dispatchers, self._closed_limiters, ts_us, ns,
            )  # fmt: skip
        close_limiter(self._scalars, self._broker_limiter, 0, self._closed_limiters, ts_us, ns)

    def arrays(self) -> dict[str, np.ndarray]:
        """The state without rows that say nothing (unloaded topics, gone subscriptions, trimmed ledgers)."""
        self._compact()
        used = self._scalars
        return {
            "scalars": used.copy(),
            "broker_limiter": self._broker_limiter.copy(),
            "topics": self._topics[: used[S_TOPICS]].copy(),
            "topic_limiters": self._topic_limiters[: used[S_TOPICS]].copy(),
            "dispatchers": self._dispatchers[: used[S_DISPATCHERS]].copy(),
            "dispatcher_limiters": self._dispatcher_limiters[: used[S_DISPATCHERS]].copy(),
            "ledgers": self._ledgers[: used[S_LEDGERS]].copy(),
            "closed_dispatchers": self._closed_dispatchers[: used[S_CLOSED_DISPATCHERS]].copy(),
            "closed_limiters": self._closed_limiters[: used[S_CLOSED_LIMITERS]].copy(),
        }

    @classmethod
    def restore(cls, arrays: dict[str, np.ndarray]) -> "ThrottleMachine":
        """A machine that goes on where `arrays()` was taken."""
        machine = cls()
        machine._scalars = arrays["scalars"].copy()
        machine._broker_limiter = arrays["broker_limiter"].copy()
        for name in ("topics", "topic_limiters", "dispatchers", "dispatcher_limiters", "ledgers", "closed_dispatchers", "closed_limiters"):
            rows = arrays[name]
            width = getattr(machine, f"_{name}").shape[1]
            invariant(rows.ndim == 2 and rows.shape[1] == width, f"state array {name} has shape {rows.shape}, expected (n, {width})")
            setattr(machine, f"_{name}", _grown(rows, max(_FIRST_CAPACITY, len(rows) + len(rows) // 4)))
        machine._topic_limiters = _grown(arrays["topic_limiters"], len(machine._topics))
        machine._dispatcher_limiters = _grown(arrays["dispatcher_limiters"], len(machine._dispatchers))
        machine._index_all()
        return machine

    def _limiter_rows(self, window: Window) -> Iterator[Rows]:
        closed = self._closed_limiters[: self._scalars[S_CLOSED_LIMITERS]]
        parts = [closed]
        ends = [balances(closed, len(closed), 0)]  # their books were settled when they ended
        for limiters, count in (
            (self._broker_limiter, 1),
            (self._topic_limiters, int(self._scalars[S_TOPICS])),
            (self._dispatcher_limiters, int(self._scalars[S_DISPATCHERS])),
        ):
            end = balances(limiters, count, window.border_ns)
            alive = limiters[:count, L_EXISTS] == 1
            part = limiters[:count][alive]
            part[:, L_BEGAN_COMPLETE] &= part[:, L_LOSSES_AT_CREATION] == self._scalars[S_LOSSES]
            parts.append(part)
            ends.append(end[alive])
            restart_limiters(limiters, count, end)
        together, permits_end = np.concatenate(parts), np.concatenate(ends)
        for dimension in range(2):
            yield limiter_rows(together, permits_end[:, dimension], dimension, window)

    def _make_room(self) -> None:
        """Double whatever is nearly full; rows keep their numbers."""
        used = self._scalars
        if used[S_TOPICS] >= len(self._topics):
            self._topics = _grown(self._topics, 2 * len(self._topics))
            self._topic_limiters = _grown(self._topic_limiters, len(self._topics))
        elif used[S_DISPATCHERS] >= len(self._dispatchers):
            self._dispatchers = _grown(self._dispatchers, 2 * len(self._dispatchers))
            self._dispatcher_limiters = _grown(self._dispatcher_limiters, len(self._dispatchers))
        elif used[S_LEDGERS] >= len(self._ledgers):
            self._ledgers = _grown(self._ledgers, 2 * len(self._ledgers))
        else:
            self._closed_dispatchers = _grown(self._closed_dispatchers, 2 * len(self._closed_dispatchers))
            self._closed_limiters = _grown(self._closed_limiters, 2 * len(self._closed_limiters))
        self._index_all()

    def _index_all(self) -> None:
        self._topic_index = new_index(len(self._topics))
        self._dispatcher_index = new_index(len(self._dispatchers))
        self._ledger_index = new_index(len(self._ledgers))
        fill(self._topic_index, self._topics, self._scalars[S_TOPICS], T_ID, T_ZERO)
        fill(self._dispatcher_index, self._dispatchers, self._scalars[S_DISPATCHERS], D_ID, D_TOPIC)
        fill(self._ledger_index, self._ledgers, self._scalars[S_LEDGERS], G_TOPIC, G_LEDGER)

    def _compact(self) -> None:
        """Drop rows that carry no information; what remains behaves the same."""
        topics, dispatchers, ledgers = (
            self._topics[: self._scalars[S_TOPICS]],
            self._dispatchers[: self._scalars[S_DISPATCHERS]],
            self._ledgers[: self._scalars[S_LEDGERS]],
        )
        keep_dispatcher = (dispatchers[:, D_OPEN] == 1) | (dispatchers[:, D_CURSOR_KNOWN] == 1)
        has_dispatcher = np.isin(topics[:, T_ID], dispatchers[keep_dispatcher, D_TOPIC])
        has_limiter = self._topic_limiters[: len(topics), L_EXISTS] == 1
        keep_topic = has_dispatcher | has_limiter | (topics[:, T_LOADED] == 1) | (topics[:, T_PUBLISHED_ENTRIES] > 0)
        generations = dict(zip(topics[keep_topic, T_ID].tolist(), topics[keep_topic, T_GENERATION].tolist(), strict=True))
        ledger_generation = np.array([generations.get(t, NONE - 1) for t in ledgers[:, G_TOPIC].tolist()], dtype=np.int64)
        keep_ledger = ledgers[:, G_GENERATION] == ledger_generation
        if keep_dispatcher.all() and keep_topic.all() and keep_ledger.all():
            return
        self._topic_limiters = _compacted(self._topic_limiters, keep_topic)
        self._dispatcher_limiters = _compacted(self._dispatcher_limiters, keep_dispatcher)
        self._topics, self._dispatchers, self._ledgers = (
            _compacted(self._topics, keep_topic),
            _compacted(self._dispatchers, keep_dispatcher),
            _compacted(self._ledgers, keep_ledger),
        )
        for scalar, keep in ((S_TOPICS, keep_topic), (S_DISPATCHERS, keep_dispatcher), (S_LEDGERS, keep_ledger)):
            self._scalars[scalar] = keep.sum()
        self._chain_dispatchers()
        self._index_all()

    def _chain_dispatchers(self) -> None:
        """Rebuild each topic's chain of dispatchers after rows moved."""
        row_of_topic = {int(topic): t for t, topic in enumerate(self._topics[: self._scalars[S_TOPICS], T_ID])}
        self._topics[:, T_FIRST_DISPATCHER] = NONE
        for d in range(self._scalars[S_DISPATCHERS]):
            t = row_of_topic[int(self._dispatchers[d, D_TOPIC])]
            self._dispatchers[d, D_NEXT_OF_TOPIC] = self._topics[t, T_FIRST_DISPATCHER]
            self._topics[t, T_FIRST_DISPATCHER] = d


def _compacted(rows: np.ndarray, keep: np.ndarray) -> np.ndarray:
    kept = rows[: len(keep)][keep]
    return _grown(kept, max(_FIRST_CAPACITY, len(kept) + len(kept) // 4))
