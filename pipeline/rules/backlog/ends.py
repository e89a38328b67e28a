"""Windows and epochs of the backlog package: durations of checks when a window closes, decisions that end with the log."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline.rules.backlog.check import probe_all
from pipeline.rules.backlog.decisions import resolve_all
from pipeline.rules.backlog.rows import check_duration_rows
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.package import Ends, State


class BacklogEnds(Ends):
    """Nothing lasts through a window here: backlogs are reported at checks."""

    def close_window(self, state: State, window: Window) -> Iterator[Rows]:
        """A row of `quota_checks` if there were any."""
        backlog, counts = state.group("backlog"), state.counts
        checking = backlog.checking[0]
        if counts.durations or checking.rounds:
            yield check_duration_rows(checking, backlog.durations["duration_us"][: counts.durations].copy(), window)
        counts.durations, checking.rounds = 0, 0

    def end_log(self, state: State, ts_us: int, ns: int) -> None:
        """What the broker did until now is what it did."""
        resolve_all(state.group("broker"), state.group("backlog"), state.counts, ts_us)

    def waits(self, state: State, before_us: int) -> bool:
        """A decision waits for what the broker does about it."""
        pending = state.group("backlog").pending_decisions[: state.counts.topics]
        waiting = (pending["decision"] != 0) | (pending["broker_quota"] != 0)
        return bool((waiting & (pending["decided_at"] < before_us)).any())

    def keeps(self, state: State) -> dict[str, "np.ndarray[Any, np.dtype[np.bool_]]"]:
        """Topics of which a counter or a decision is left."""
        backlog, topics = state.group("backlog"), state.counts.topics
        check, pending = backlog.topic_checks[:topics], backlog.pending_decisions[:topics]
        durable = (check["evictions_size_durable"] != 0) | (check["evictions_time_durable"] != 0)
        return {"topics": durable | (check["decided"] != 0) | (pending["decision"] != 0) | (pending["broker_quota"] != 0)}


def probe(state: State, now_us: int) -> None:
    """Put rows as of a check of every topic at this moment on their way out, without a decision."""
    probe_all(state.group("broker"), state.group("backlog"), state.counts, now_us)
