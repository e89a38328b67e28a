"""The backlog machine: owns the State, makes room for the compiled fold, turns what goes out into rows."""

from collections.abc import Iterator

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.backlog.check import probe_all
from pipeline.machines.backlog.decisions import resolve
from pipeline.machines.backlog.fold import fold
from pipeline.machines.backlog.layout import (
    C_CLOSED_AT,
    C_DELETED,
    C_OPEN,
    C_WORDS,
    CHECK_ROW,
    CURSOR_ROW,
    DECISION_ROW,
    MOVE_ROW,
    S_CURSORS,
    S_DURATIONS,
    S_LOSSES,
    S_OUT_CHECKS,
    S_OUT_CURSORS,
    S_OUT_DECISIONS,
    S_OUT_MOVES,
    S_ROUNDS,
    S_TOPICS,
    T_BROKER_QUOTA,
    T_DECIDED_AT,
    T_DECISION,
    T_MARK_COUNT,
    T_MARK_WITHIN_MS,
    T_MARKS,
    T_MARKS_USED,
    T_UNLOADED_AT,
)
from pipeline.machines.backlog.life import unload_topic
from pipeline.machines.backlog.room import compacted, ordered, with_room
from pipeline.machines.backlog.rows import check_duration_rows
from pipeline.machines.backlog.state import State, empty_state, restored_state, saved_arrays
from pipeline.machines.blocks import clear
from pipeline.machines.machine import Rows, Window
from schemas.lane_columns import COLUMN

#: Tables of what goes out: the array that holds it, how many rows it has, its columns.
_OUT = {
    "topic_backlog": ("out_checks", S_OUT_CHECKS, CHECK_ROW),
    "subscription_backlog": ("out_cursors", S_OUT_CURSORS, CURSOR_ROW),
    "quota_evictions": ("out_decisions", S_OUT_DECISIONS, DECISION_ROW),
    "quota_eviction_moves": ("out_moves", S_OUT_MOVES, MOVE_ROW),
}
EPOCH = COLUMN["epoch"]
#: How long what is known of a topic that was unloaded is kept for its return.
UNLOADED_FOR_US = 600_000_000


class BacklogMachine:
    """Implements pipeline.machines.machine.Machine for backlogs and their quotas."""

    name = "backlog"
    version = 2

    def __init__(self) -> None:
        self._state = empty_state()

    def fold(self, events: Array) -> list[Rows]:
        """Apply events in order: int64 [n, LANE_COLUMNS]. Returns the checks and decisions that they tell."""
        events = np.ascontiguousarray(events)  # any other layout would be compiled for anew
        rows: list[Rows] = []
        done = 0
        while done < len(events):
            done = fold(self._state, events, done)
            rows += self._taken(int(events[0, EPOCH]))
            if done < len(events):
                self._state = with_room(self._state)
        return rows

    def lose(self) -> None:
        """Events were lost: nothing that is alive is complete any more."""
        self._state.scalars[S_LOSSES] += 1

    def has_running_time(self, until_ns: int) -> bool:
        """Nothing lasts here: backlogs are told at checks."""
        return False

    def step_clock(self, ts_us: int, ns: int) -> None:
        """Times here are what the events say."""

    def close_window(self, window: Window) -> Iterator[Rows]:
        """A row of `quota_checks` if there were any. What is known of topics that went long ago is forgotten."""
        yield from self._taken(window.epoch)
        used = self._state.scalars
        if used[S_DURATIONS] or used[S_ROUNDS]:
            yield check_duration_rows(used, self._state.durations[: used[S_DURATIONS]], window)
        used[S_DURATIONS], used[S_ROUNDS] = 0, 0
        self._forget_unloaded(window.start_us - UNLOADED_FOR_US)

    def end_epoch(self, ts_us: int, ns: int) -> None:
        """The process is gone: every topic ends."""
        self._resolve_all(ts_us, unload=True)

    def end_log(self, ts_us: int, ns: int) -> None:
        """Nothing more will come: what the broker did until now is what it did."""
        self._resolve_all(ts_us, unload=False)

    def probe(self, now_us: int, epoch: int) -> list[Rows]:
        """Rows as of a check of every topic at this moment, without a decision; changes nothing but the room for rows that go out."""
        self._state = with_room(self._state)
        probe_all(self._state, now_us)
        return self._taken(epoch)

    def waits(self, before_us: int) -> bool:
        """A decision waits for what the broker does about it."""
        topics = self._state.topics[: self._state.scalars[S_TOPICS]]
        waiting = (topics[:, T_DECISION] != 0) | (topics[:, T_BROKER_QUOTA] != 0)
        return bool((waiting & (topics[:, T_DECIDED_AT] < before_us)).any())

    def arrays(self) -> dict[str, Array]:
        """The state without rows that say nothing (unloaded topics, closed cursors)."""
        return self._saved(compacted(self._state))

    def ordered_arrays(self) -> dict[str, Array]:
        """As `arrays()`, in order of ids."""
        return self._saved(ordered(compacted(self._state)))

    def _saved(self, state: State) -> dict[str, Array]:
        arrays = saved_arrays(state)
        self._state = restored_state(arrays)  # packing took the segments' places away
        return arrays

    @classmethod
    def restore(cls, arrays: dict[str, Array]) -> "BacklogMachine":
        """A machine that goes on where `arrays()` was taken."""
        machine = cls()
        machine._state = restored_state(arrays)
        return machine

    def _resolve_all(self, ts_us: int, *, unload: bool) -> None:
        self._state = with_room(self._state)
        for t in range(self._state.scalars[S_TOPICS]):
            if unload:
                unload_topic(self._state, t, ts_us)
            else:
                resolve(self._state, t, ts_us)

    def _forget_unloaded(self, before_us: int) -> None:
        """Publish times of topics, and deleted entries of cursors, that went before that time and did not come back."""
        topics = self._state.topics[: self._state.scalars[S_TOPICS]]
        gone = (topics[:, T_UNLOADED_AT] > 0) & (topics[:, T_UNLOADED_AT] < before_us)
        for t in np.flatnonzero(gone & (topics[:, T_MARKS_USED] > 0)):
            clear(topics[t], T_MARKS, self._state.marks)
            topics[t, T_MARK_COUNT], topics[t, T_MARK_WITHIN_MS] = 0, 0
        cursors = self._state.cursors[: self._state.scalars[S_CURSORS]]
        for c in np.flatnonzero((cursors[:, C_OPEN] == 0) & (cursors[:, C_DELETED] > 0) & (cursors[:, C_CLOSED_AT] < before_us)):
            clear(cursors[c], C_WORDS, self._state.words)
            cursors[c, C_DELETED] = 0

    def _taken(self, epoch: int) -> list[Rows]:
        """What goes out, taken out."""
        taken = []
        for table, (name, count, columns) in _OUT.items():
            used = int(self._state.scalars[count])
            if used:
                rows = getattr(self._state, name)[:used].copy()
                rows[:, columns.index("epoch")] = epoch
                taken.append(Rows(table, dict(zip(columns, rows.T, strict=True)), used))
                self._state.scalars[count] = 0
        return taken
