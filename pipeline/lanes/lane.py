"""A lane: all epochs of one broker, side by side. Takes rows in any order, gives outcomes; the same whatever way the rows were cut.

`offer` as often as rows come, then `finish` once per micro-batch.
"""

from dataclasses import asdict, dataclass

import numpy as np

from pipeline.faults import BadWarehouse
from pipeline.lanes.epoch import OPEN, Counts, Epoch
from pipeline.lanes.hold import HELD, LAPSED, REFUSED, RELEASED, SEEDED, Hold
from pipeline.lanes.kept import opened_snapshot
from pipeline.lanes.orders import Orders, Seed
from pipeline.lanes.windows import EpochTime
from pipeline.machines.array import Array
from pipeline.machines.model import BrokerModel
from pipeline.machines.outcome import Rows
from pipeline.machines.passes import Glance, glance
from schemas.events import TOMBSTONE_CODE
from schemas.lane_columns import COLUMN
from schemas.outcomes import LANE_REPORT

EPOCH, NS, TYPE, INGEST_BATCH = (COLUMN[c] for c in ("epoch", "ns", "type_code", "ingest_batch"))
NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class LaneSettings:
    """What a lane must know."""

    lateness_ms: int
    window_ms: int
    clock_step_ms: int
    hold_ms: int

    @property
    def window_us(self) -> int:
        """Length of a window."""
        return self.window_ms * 1000

    @property
    def lateness_ns(self) -> int:
        """Lateness on the monotonic clock."""
        return self.lateness_ms * NS_PER_MS

    @property
    def hold_ns(self) -> int:
        """How long a lane holds, on the monotonic clock of what waits."""
        return self.hold_ms * NS_PER_MS


class Lane:
    """State of one broker between micro-batches; `epochs` by their number, `newest_batch` the newest ingest batch taken from bronze."""

    def __init__(self, settings: LaneSettings) -> None:
        self.settings = settings
        self.epochs: dict[int, Epoch] = {}
        self.newest_batch = -1
        self.hold = Hold()
        self._counts = Counts()
        self._outcomes: list[Rows] = []
        self._orders = Orders()

    def offer(self, rows: Array, *, at_once: bool = True) -> None:
        """Rows of this lane in any order: int64 [n, LANE_COLUMNS]; control rows among them but tombstones take effect in `finish`.

        `at_once`: no other rows of this micro-batch have a place in common with these, so that they need not wait for those.
        """
        seen = glance(rows)
        if seen.orders:
            is_order = rows[:, TYPE] > TOMBSTONE_CODE
            self._orders.add(rows[is_order])
            rows = rows[~is_order]
            seen = glance(rows)
        if self.hold:
            self.hold.add(rows)
            self._counts.rows_in += len(rows)
            self._counts.held += len(rows)
        else:
            self._take(rows, seen, at_once)

    def _take(self, rows: Array, seen: Glance, at_once: bool) -> None:
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

    def finish(self) -> list[Rows]:
        """Settle what came, give up what is lost, end what is over; returns all outcomes and a report of what became of the rows."""
        orders, self._orders = self._orders, Orders()
        self._drain = orders.drain
        self._end_hold(orders)
        for number in sorted(self.epochs):
            epoch = self.epochs[number]
            epoch.settle()
            epoch.give_up_holes(self._is_lost if not self._drain else lambda held: True)
            self._note_maturity(epoch)
        self._end_superseded()
        if self._drain:
            for number in sorted(self.epochs):
                self.epochs[number].drain()
        self._begin_hold(orders.hold)
        report: dict[str, Array | int] = {**asdict(self._counts), "state_bytes": 0}
        outcomes = [*self._outcomes, Rows(LANE_REPORT, report, 1)]
        self._outcomes = []
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

    def _begin_hold(self, request: int) -> None:
        """Let what comes from now on wait. One that waits already waits for the new request."""
        if request == 0 or self._drain:
            return
        self.hold.request = request
        self._answer_of_all(HELD, request)

    def _end_hold(self, orders: Orders) -> None:
        """Go on: from the states that came, or as the lane is, because it was ordered to, or because too much waits."""
        request, seeds = self.hold.request, list(orders.seeds())
        for seed in seeds:
            taken = seed.request == request and self._plant(seed)
            self._answer(SEEDED if taken else REFUSED, seed.request, seed.epoch, seed.next_seq)
        if not self.hold:
            return
        seeded, released = any(seed.request == request for seed in seeds), request in orders.released
        standing = {number: epoch.next_seq for number, epoch in self.epochs.items()}
        lapsed = not (seeded or released) and (self._drain or self.hold.is_too_long(self.settings.hold_ns, standing))
        if not (seeded or released or lapsed):
            return
        if not seeded:
            self._answer_of_all(RELEASED if released else LAPSED, request)
        if lapsed:
            for epoch in self._open_epochs():
                if epoch.time is not None:
                    epoch.time.break_chain()
        rows = self.hold.end()
        self._counts.rows_in -= len(rows)  # they were counted when they came
        self._counts.held -= len(rows)
        self._take(rows, glance(rows), at_once=True)

    def _plant(self, seed: Seed) -> bool:
        """Let an epoch go on from the state, if it is for where the epoch stands, and of this version."""
        epoch = self.epochs.get(seed.epoch)
        if epoch is None or epoch.phase != OPEN or epoch.next_seq != seed.next_seq:
            return False
        try:
            numbers, model = opened_snapshot(seed.state, self.settings.window_us)
        except BadWarehouse:  # of another version: answered with `refused`
            return False
        epoch.time = self.new_time(seed.epoch, model)
        epoch.time.restore(numbers)
        return True

    def _open_epochs(self) -> list[Epoch]:
        return [epoch for _, epoch in sorted(self.epochs.items()) if epoch.phase == OPEN]

    def _answer_of_all(self, answer: int, request: int) -> None:
        """The same answer of every open epoch; of none, if there is none."""
        standing = self._open_epochs()
        for epoch in standing:
            self._answer(answer, request, epoch.epoch, epoch.next_seq)
        if not standing:
            self._answer(answer, request, 0, 0)

    def _answer(self, answer: int, request: int, epoch: int, next_seq: int) -> None:
        columns: dict[str, Array | int] = {"epoch": epoch, "request": request, "answer": answer, "next_seq": next_seq}
        self._outcomes_append(Rows("lane_answers", columns, 1))

    def _outcomes_append(self, rows: Rows) -> None:
        if rows.count:
            self._outcomes.append(rows)

    def _is_lost(self, held: Array) -> bool:
        """Is the hole before `held` lost? docs/architecture.md, "Lanes": only complete ingest batches testify."""
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
