"""A lane: all epochs of one broker, side by side. Takes rows in any order, gives outcomes; the same whatever way the rows were cut.

`offer` as often as rows come, then `finish` once per micro-batch.
"""

from dataclasses import asdict, dataclass

import numpy as np

from pipeline.lanes.epoch import OPEN, Counts, Epoch
from pipeline.lanes.windows import EpochTime
from pipeline.rules.array import Array
from pipeline.rules.model import BrokerModel
from pipeline.rules.outcome import Rows
from pipeline.rules.row_scans import glance
from schemas.events import DRAIN_CODE
from schemas.lane_columns import COLUMN
from schemas.outcomes import LANE_REPORT

EPOCH, NS, TYPE, INGEST_BATCH = (COLUMN[c] for c in ("epoch", "ns", "type_code", "ingest_batch"))
NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class LaneTiming:
    """The times that a lane goes by (settings of `lanes`)."""

    lateness_ms: int
    window_ms: int
    clock_step_ms: int

    @property
    def window_us(self) -> int:
        """Length of a window."""
        return self.window_ms * 1000

    @property
    def lateness_ns(self) -> int:
        """Lateness on the monotonic clock."""
        return self.lateness_ms * NS_PER_MS


class Lane:
    """State of one broker between micro-batches; `epochs` by their number, `newest_batch` the newest ingest batch taken from bronze."""

    def __init__(self, settings: LaneTiming) -> None:
        self.settings = settings
        self.epochs: dict[int, Epoch] = {}
        self.newest_batch = -1
        self._drain = False
        self._counts = Counts()
        self._outcomes: list[Rows] = []

    def offer(self, rows: Array, *, at_once: bool = True) -> None:
        """Rows of this lane in any order: int64 [n, LANE_COLUMNS]; a drain among them takes effect in `finish`.

        `at_once`: no other rows of this micro-batch have a place in common with these, so that they need not wait for those.
        """
        seen = glance(rows)
        if seen.orders:
            self._drain = True
            rows = rows[rows[:, TYPE] != DRAIN_CODE]
            seen = glance(rows)
        # Control rows may run ahead of bronze, so they never make an ingest batch look complete.
        self.newest_batch = max(self.newest_batch, seen.newest_batch_of_bronze)
        if len(rows) == 0:
            return
        epochs = rows[:, EPOCH]
        if seen.is_of_one_epoch:
            self.epoch(int(epochs[0])).offer(rows, seen, at_once)
            return
        for number in np.unique(epochs).tolist():
            part = rows[epochs == number]
            self.epoch(number).offer(part, glance(part), at_once)

    def settle(self) -> None:
        """All rows with places up to those that came have come: apply them; a gap among them is lost.

        What `finish` and a drain would do then is done now, so that fewer rows wait.
        """
        for number in sorted(self.epochs):
            epoch = self.epochs[number]
            epoch.settle()
            epoch.give_up_gaps(lambda held: True)

    def taken_outcomes(self) -> list[Rows]:
        """Outcomes since they were taken last."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def finish(self) -> list[Rows]:
        """Settle what came, give up what is lost, end what is over; returns all outcomes and a report of what became of the rows."""
        for number in sorted(self.epochs):
            epoch = self.epochs[number]
            epoch.settle()
            epoch.give_up_gaps(self._is_lost if not self._drain else lambda held: True)
            self._note_maturity(epoch)
        self._end_superseded()
        if self._drain:
            for number in sorted(self.epochs):
                self.epochs[number].drain()
            self._drain = False
        report: dict[str, Array | int] = {**asdict(self._counts), "state_bytes": 0}
        outcomes = [*self.taken_outcomes(), Rows(LANE_REPORT, report, 1)]
        vars(self._counts).update(vars(Counts()))
        return outcomes

    def epoch(self, number: int) -> Epoch:
        """The epoch's state, made if it is new."""
        if number not in self.epochs:
            self.epochs[number] = Epoch(number, self._counts, self._outcomes_append, self.new_time(number, BrokerModel()))
        return self.epochs[number]

    def new_time(self, number: int, model: BrokerModel) -> EpochTime:
        """Time of an epoch in which nothing has happened."""
        settings = self.settings
        return EpochTime(number, settings.window_us, settings.clock_step_ms * 1000, model, self._outcomes_append)

    def adopt(self, epoch: Epoch) -> None:
        """Take an epoch that was decoded from a state blob."""
        epoch.counts, epoch.emit = self._counts, self._outcomes_append
        self.epochs[epoch.epoch] = epoch

    def _outcomes_append(self, rows: Rows) -> None:
        if rows.count:
            self._outcomes.append(rows)

    def _is_lost(self, held: Array) -> bool:
        """Is the gap before `held` lost? docs/design/architecture.md, "Lanes": only complete ingest batches testify."""
        complete = held[held[:, INGEST_BATCH] < self.newest_batch]
        if len(complete) == 0 or self.newest_batch < int(held[:, INGEST_BATCH].min()) + 2:
            return False
        return gone_ns(int(held[0, NS]), complete[:, NS], self.settings.clock_step_ms * NS_PER_MS) >= self.settings.lateness_ns

    def _note_maturity(self, epoch: Epoch) -> None:
        """Remember which ingest batch made the epoch `lateness` old: older epochs are then over."""
        if epoch.mature_batch < 0 and epoch.age_ns() >= self.settings.lateness_ns:
            epoch.mature_batch = epoch.last_batch

    def _end_superseded(self) -> None:
        """End open epochs that a newer, mature epoch has replaced; unless drained, a complete later ingest batch must have been seen."""
        newer_mature = -1
        for number in sorted(self.epochs, reverse=True):
            epoch = self.epochs[number]
            if epoch.phase == OPEN and newer_mature >= 0 and (self._drain or self.newest_batch >= max(newer_mature, epoch.last_batch) + 2):
                epoch.end()
            if epoch.mature_batch >= 0:
                newer_mature = epoch.mature_batch if newer_mature < 0 else min(newer_mature, epoch.mature_batch)


def gone_ns(since_ns: int, later_ns: Array, step_ns: int) -> int:
    """How far `later_ns`, in order of `seq`, goes beyond `since_ns` at most. Where it falls back by more than `step_ns`, it stands."""
    steps = np.diff(later_ns, prepend=since_ns)
    steps[steps < -step_ns] = 0
    return int(np.cumsum(steps).max())
