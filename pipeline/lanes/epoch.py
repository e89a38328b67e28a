"""One epoch of one broker: events in `seq` order, holes held, repeats recognised, what is lost or late said so.

Laws. A contiguous event is applied at once. Every event that comes is applied, held, a duplicate, late, or a tombstone: exactly one of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pipeline.lanes.given_up import END_OF_SEQ, EPOCH_OVER, LOST, QUARANTINED, GivenUp
from pipeline.lanes.windows import EpochTime
from pipeline.machines.machine import Rows
from schemas.events import CODES, TOMBSTONE_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS

SEQ, TS, NS, TYPE, INGEST_BATCH = (COLUMN[c] for c in ("seq", "ts", "ns", "type_code", "ingest_batch"))
OPEN, ENDED, DRAINED = range(3)
US_PER_DAY = 86_400_000_000
#: Held rows are gathered and applied in slices of this many, so that a large backlog is never copied whole.
SLICE_ROWS = 65_536


@dataclass
class Counts:
    """What became of the rows that came, of one lane in one micro-batch; `held` is the change."""

    rows_in: int = 0
    quarantined: int = 0
    applied: int = 0
    duplicates: int = 0
    late: int = 0
    held: int = 0
    lost: int = 0


@dataclass
class Epoch:
    """State of one (broker, epoch). `time` drives the machines; it is None once the epoch is over."""

    epoch: int
    counts: Counts
    emit: Callable[[Rows], None]
    time: EpochTime | None
    phase: int = OPEN
    next_seq: int = 1
    mature_batch: int = -1  # ingest batch of the event that made this epoch `lateness` old, or -1
    last_batch: int = -1  # newest ingest batch that brought anything of this epoch
    lived_ns: int = 0  # from its first to its last event, once it is over
    given_up: GivenUp = field(default_factory=GivenUp)
    held: np.ndarray = field(default_factory=lambda: np.empty((0, len(LANE_COLUMNS)), dtype=np.int64))
    _waiting: list[np.ndarray] = field(default_factory=list)

    def offer(self, rows: np.ndarray) -> None:
        """Take rows of this epoch, in any order: contiguous ones are applied now, others wait for `settle`."""
        self.counts.rows_in += len(rows)
        self.last_batch = max(self.last_batch, int(rows[:, INGEST_BATCH].max()))
        seq = rows[:, SEQ]
        in_order = seq[0] == self.next_seq and seq[-1] - seq[0] == len(rows) - 1 and bool(np.all(np.diff(seq) == 1))
        if self.phase == OPEN and in_order and not self._waiting:
            self._apply(rows)
        else:
            self._waiting.append(rows)

    def settle(self) -> None:
        """Sort what waits, tell repeats and late events, apply what is contiguous, hold the rest."""
        if not self._waiting:
            return
        held_before = len(self.held)
        rows = _sorted_by_seq([self.held, *self._waiting])
        self._waiting = []
        is_first = np.concatenate(([True], np.diff(rows[:, SEQ]) != 0))
        self.counts.duplicates += int(len(rows) - np.count_nonzero(is_first))
        self.held = rows[is_first] if not is_first.all() else rows
        self._release()
        self.counts.held += len(self.held) - held_before

    def give_up_holes(self, is_lost: Callable[[np.ndarray], bool]) -> None:
        """Give up the hole before what is held as long as `is_lost(held)` says so, applying what then is contiguous."""
        held_before = len(self.held)
        while self.phase == OPEN and len(self.held) and is_lost(self.held):
            self._lose_until(self.held[0])
            self._release()
        self.counts.held += len(self.held) - held_before

    def end(self) -> None:
        """The process is over (`broker_stop`, or a newer epoch is old enough): holes are lost, everything alive ends."""
        self._finish(ENDED)

    def drain(self) -> None:
        """The log ends here: holes are lost and windows close, but nothing says that the process ended."""
        self._finish(DRAINED)

    def _finish(self, phase: int) -> None:
        self.give_up_holes(lambda held: True)
        if self.phase != OPEN:
            return
        if self.time is not None:
            if phase == ENDED:
                self.time.end()
            else:
                self.time.close()
        self._shut(phase)

    def age_ns(self) -> int:
        """From the first to the last event applied."""
        return self.lived_ns if self.time is None else self.time.last_ns - self.time.first_ns

    def _shut(self, phase: int) -> None:
        self.lived_ns = self.age_ns()
        self.phase = phase
        self.time = None
        self.given_up.add(self.next_seq, END_OF_SEQ, EPOCH_OVER)

    def _release(self) -> None:
        """Out of `held`: late and repeated rows first, then the contiguous run."""
        past = int(np.searchsorted(self.held[:, SEQ], self.next_seq)) if self.phase == OPEN else len(self.held)
        self._tell_past(self.held[:past])
        rest = self.held[past:]
        seq = rest[:, SEQ]
        expected = np.arange(self.next_seq, self.next_seq + len(rest))
        breaks = np.flatnonzero(seq != expected)
        run = int(breaks[0]) if len(breaks) else len(rest)
        self.held = rest[run:].copy() if run else rest
        for start in range(0, run, SLICE_ROWS):
            self._apply(rest[start : min(start + SLICE_ROWS, run)])
        if self.phase != OPEN and len(self.held):
            beyond, self.held = self.held, self.held[:0]
            self._tell_past(beyond)

    def _apply(self, rows: np.ndarray) -> None:
        """Apply a contiguous run that begins at `next_seq`; nothing follows a `broker_stop`."""
        if self.time is None:
            self._tell_past(rows)
            return
        stops = np.flatnonzero(rows[:, TYPE] == CODES["broker_stop"])
        now = rows[: stops[0] + 1] if len(stops) else rows
        self.time.apply(now)
        tombstones = now[now[:, TYPE] == TOMBSTONE_CODE, SEQ]
        for seq in tombstones.tolist():
            self.given_up.add(seq, seq, QUARANTINED)
        self.counts.quarantined += len(tombstones)
        self.counts.applied += len(now) - len(tombstones)
        self.next_seq = int(now[-1, SEQ]) + 1
        if len(stops):
            self.time.end()
            self._shut(ENDED)
            self._tell_past(rows[len(now) :])

    def _lose_until(self, first_held: np.ndarray) -> None:
        last_lost = int(first_held[SEQ]) - 1
        self.counts.lost += last_lost - self.next_seq + 1
        if self.time is not None:
            self.time.lose(self.next_seq, last_lost, int(first_held[TS]))
        self.given_up.add(self.next_seq, last_lost, LOST)
        self.next_seq = last_lost + 1

    def _tell_past(self, rows: np.ndarray) -> None:
        """Rows whose place is behind us: the first for a given-up place is late, all others are repeats."""
        for row in rows:
            reason = None if row[TYPE] == TOMBSTONE_CODE else self.given_up.take(int(row[SEQ]))
            if reason is None:
                self.counts.duplicates += 1
                continue
            self.counts.late += 1
            columns: dict[str, np.ndarray | int] = {
                "epoch": self.epoch, "seq": int(row[SEQ]), "event_date": int(row[TS]) // US_PER_DAY, "ts": int(row[TS]),
                "type_code": int(row[TYPE]), "reason": reason, "ingest_batch": int(row[INGEST_BATCH]),
            }  # fmt: skip
            self.emit(Rows("late_events", columns, 1))


def _sorted_by_seq(parts: list[np.ndarray]) -> np.ndarray:
    """All rows by seq; of repeats the real event comes before a tombstone, the earlier ingest batch before the later."""
    rows = np.concatenate(parts) if len(parts) > 1 else parts[0]
    order = np.lexsort((rows[:, INGEST_BATCH], rows[:, TYPE] == TOMBSTONE_CODE, rows[:, SEQ]))
    return rows if bool(np.all(np.diff(order) == 1)) else rows[order]
