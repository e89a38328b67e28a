"""What one broker's topics and subscriptions look like at an instant: the same lane and the same model, asked between two checks.

Nothing of a running job is touched: a probe folds the events of an epoch from its start. Limiters have no rows at an instant:
only backlogs are reported.
"""

from pipeline.faults import invariant
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows
from schemas.lane_columns import COLUMN

EPOCH = COLUMN["epoch"]


class Probe:
    """One epoch of one broker, as far as its events were offered."""

    def __init__(self, epoch: int, settings: LaneTiming) -> None:
        self._lane = Lane(settings)
        self._epoch = self._lane.epoch(epoch)

    def offer(self, rows: Array) -> None:
        """Events of the epoch in any order: int64 [n, LANE_COLUMNS]. What follows without a gap is applied now."""
        invariant(bool((rows[:, EPOCH] == self._epoch.epoch).all()), f"rows of another epoch than {self._epoch.epoch}")
        self._lane.offer(rows)
        self._lane.finish()  # rows of checks are in the tables already

    def at(self, now_us: int) -> list[Rows]:
        """Rows of `topic_backlog` and `subscription_backlog` of every loaded topic, as if checked at `now_us` without any action.

        Gaps are given up as at a drain, since nothing more comes; otherwise this changes nothing, so it may be asked again and again.
        Nothing once the process has ended.
        """
        self._epoch.give_up_gaps(lambda held: True)
        return [] if self._epoch.time is None else self._epoch.time.model.probe(now_us, self._epoch.epoch)
