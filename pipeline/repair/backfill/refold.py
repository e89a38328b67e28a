"""Folds a stretch of an epoch again: the same epoch, time and model as in a lane, over events that are all there and in order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

import pandas as pd

from pipeline.faults import invariant
from pipeline.lanes.epoch import Counts, Epoch
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.lanes.operator import runs_of
from pipeline.lanes.outcome_frames import packet_frame
from pipeline.lanes.snapshot import opened_snapshot
from pipeline.repair.backfill.stretch import Stretch
from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows
from pipeline.rules.row_scans import glance
from schemas.lane_columns import COLUMN
from schemas.outcomes import LANE_REPORT

EPOCH = COLUMN["epoch"]
#: Rows that record when events came. A backfill does not change them.
TABLES_OF_ARRIVAL = (LANE_REPORT, "late_events")


class Refold:
    """One stretch. `offer` its rows in order, then `finish`; each returns outcomes, also of other dates than `last_date` and before."""

    def __init__(self, stretch: Stretch, state: bytes, last_date: date, settings: LaneTiming) -> None:
        self._stretch = stretch
        self._last_day = (last_date - date(1970, 1, 1)).days
        self._lane = Lane(settings)
        if state:
            numbers, model = opened_snapshot(state, settings.window_us)
            time = self._lane.new_time(stretch.span.epoch, model)
            time.restore(numbers)
            epoch = Epoch(stretch.span.epoch, Counts(), lambda rows: None, time, next_seq=stretch.first_seq)
            self._lane.adopt(epoch)
        self._epoch = self._lane.epoch(stretch.span.epoch)

    def offer(self, rows: Array) -> list[Rows]:
        """Events of the epoch, in order of seq: int64 [n, LANE_COLUMNS]. A place without an event is lost."""
        if self._is_done():
            return []
        self._epoch.offer(rows, glance(rows))
        self._epoch.settle()
        self._epoch.give_up_gaps(lambda held: True)
        return self._taken()

    def finish(self) -> list[Rows]:
        """No more events will come. Raises BrokenInvariant if rows of the dates still wait for some."""
        if self._stretch.end == "ended":
            self._epoch.end()
        elif self._stretch.end == "drained":
            self._epoch.drain()
        outcomes = self._taken()
        span = self._stretch.span
        invariant(self._is_done(), f"{span.broker}, epoch {span.epoch}: the events in dispatch_events do not close the dates")
        return outcomes

    def _taken(self) -> list[Rows]:
        return [rows for rows in self._lane.finish() if rows.table not in TABLES_OF_ARRIVAL]

    def _is_done(self) -> bool:
        """Whether all rows of the dates are out."""
        time = self._epoch.time
        if time is None or self._stretch.end:
            return time is None
        return self._epoch.next_seq > self._stretch.needed_seq + 1 and time.is_past(self._last_day)


def refold(
    chunks: Iterable[pd.DataFrame], stretches: Mapping[tuple[int, int], tuple[Stretch, bytes, date]], settings: LaneTiming
) -> Iterator[pd.DataFrame]:
    """Sorted lane rows (LANE_KEY, LANE_COLUMNS) of stretches, by (broker id, epoch) with their states and last dates, to PACKETS_TYPE.

    For `mapInPandas` over partitions that hold whole epochs: rows stream by, one epoch's state is in memory at a time.
    """
    current, fold = None, None
    for broker_id, rows in runs_of(chunks):
        key = (broker_id, int(rows[0, EPOCH]))
        if fold is None or key != current:
            if fold is not None and current is not None:
                yield from _frames(current[0], fold.finish())
            current, fold = key, Refold(*stretches[key], settings)
        yield from _frames(broker_id, fold.offer(rows))
    if fold is not None and current is not None:
        yield from _frames(current[0], fold.finish())


def _frames(broker_id: int, outcomes: Sequence[Rows]) -> Iterator[pd.DataFrame]:
    if outcomes:
        yield packet_frame(broker_id, outcomes)
