"""What one broker's topics and subscriptions look like at an instant: the same lane and the same model, asked between two checks.

Nothing of a running job is touched: a probe folds the events of an epoch from its start. Limiters have no rows at an instant:
only backlogs are reported.
"""

from collections.abc import Iterator

import pandas as pd

from pipeline.faults import invariant
from pipeline.lanes.lane import Lane, LaneSettings
from pipeline.lanes.operator import output_frame, runs_of
from pipeline.machines.array import Array
from pipeline.machines.outcome import Rows
from schemas.lane_columns import COLUMN

EPOCH = COLUMN["epoch"]


class Probe:
    """One epoch of one broker, as far as its events were offered."""

    def __init__(self, epoch: int, settings: LaneSettings) -> None:
        self._lane = Lane(settings)
        self._epoch = self._lane.epoch(epoch)

    def offer(self, rows: Array) -> None:
        """Events of the epoch in any order: int64 [n, LANE_COLUMNS]. What follows without a hole is applied now."""
        invariant(bool((rows[:, EPOCH] == self._epoch.epoch).all()), f"rows of another epoch than {self._epoch.epoch}")
        self._lane.offer(rows)
        self._lane.finish()  # rows of checks are in the tables already

    def at(self, now_us: int) -> list[Rows]:
        """Rows of `topic_backlog` and `subscription_backlog` of every loaded topic, as if checked at `now_us` without any action.

        Holes are given up as at a drain, since nothing more comes; otherwise this changes nothing, so it may be asked again and again.
        Nothing once the process has ended.
        """
        self._epoch.give_up_holes(lambda held: True)
        return [] if self._epoch.time is None else self._epoch.time.model.probe(now_us, self._epoch.epoch)


def probe_lanes(chunks: Iterator[pd.DataFrame], now_us: int, settings: LaneSettings) -> Iterator[pd.DataFrame]:
    """Lane rows (LANE_KEY, LANE_COLUMNS) of one epoch per lane, sorted by lane and `seq`, to operator output: the rows of a probe.

    For `mapInPandas` over partitions that hold whole lanes: rows stream by, one lane's state is in memory at a time.
    """
    broker_id, probe = 0, None
    for lane, rows in runs_of(chunks):
        if probe is None or lane != broker_id:
            yield from _probe_frames(broker_id, probe, now_us)
            broker_id, probe = lane, Probe(int(rows[0, EPOCH]), settings)
        probe.offer(rows)
    yield from _probe_frames(broker_id, probe, now_us)


def _probe_frames(broker_id: int, probe: Probe | None, now_us: int) -> Iterator[pd.DataFrame]:
    for rows in probe.at(now_us) if probe is not None else ():
        yield output_frame(broker_id, rows)
