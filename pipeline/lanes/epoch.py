"""One epoch of one broker: events in `seq` order, gaps held, repeats recognised, what is lost or late reported.

Invariants. A contiguous event is applied at once. Every event that comes is exactly one of applied, held, a duplicate, late, or a
tombstone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pipeline.lanes.closed_places import END_OF_SEQ, EPOCH_OVER, LOST, QUARANTINED, GivenUp
from pipeline.lanes.windows import US_PER_DAY, EpochTime
from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows
from pipeline.rules.row_scans import Glance, glance
from schemas.events import TOMBSTONE_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS
from schemas.outcomes import NULL

SEQ, TS, NS, TYPE, INGEST_BATCH, ARRIVAL = (COLUMN[c] for c in ("seq", "ts", "ns", "type_code", "ingest_batch", "arrival"))
OPEN, ENDED, DRAINED = range(3)
#: Waiting rows are gathered and applied in slices of this many, so that a large backlog is never copied whole.
SLICE_ROWS = 16_384


@dataclass
class Counts:
    """What became of the rows that came, of one lane in one micro-batch; `held` is the change, `newest_ts` their greatest `ts` (µs).

    `reached_ts`: where the time of `reached_epoch` is, the newest epoch of which a row was applied; NULL where none was.
    """

    rows_in: int = 0
    quarantined: int = 0
    applied: int = 0
    duplicates: int = 0
    late: int = 0
    held: int = 0
    lost: int = 0
    newest_ts: int = 0
    repeats_first_epoch: int = 0
    repeats_last_epoch: int = 0
    repeats_first_seq: int = 0
    repeats_last_seq: int = 0
    reached_epoch: int = NULL
    reached_ts: int = NULL

    def reach(self, epoch: int, ts: int) -> None:
        """The time of the epoch is at `ts` (µs). An older epoch than one that is reached does not count."""
        if epoch >= self.reached_epoch:
            self.reached_epoch, self.reached_ts = epoch, ts

    def repeat(self, epoch: int, seqs: Array) -> None:
        """Events with these `seq` were left out: their places were taken. `repeats_…` are the bounds of all of them; 0 without any."""
        if not len(seqs):
            return
        self.duplicates += len(seqs)
        first, last = int(seqs.min()), int(seqs.max())
        if not self.repeats_last_seq:
            self.repeats_first_epoch, self.repeats_first_seq = epoch, first
        self.repeats_first_epoch, self.repeats_last_epoch = min(self.repeats_first_epoch, epoch), max(self.repeats_last_epoch, epoch)
        self.repeats_first_seq, self.repeats_last_seq = min(self.repeats_first_seq, first), max(self.repeats_last_seq, last)


@dataclass
class Epoch:
    """State of one (broker, epoch). `time` drives the rules; it is None once the epoch is over."""

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
    held: Array = field(default_factory=lambda: np.empty((0, len(LANE_COLUMNS)), dtype=np.int64))
    _waiting: list[Array] = field(default_factory=list)

    def offer(self, rows: Array, seen: Glance, at_once: bool = True) -> None:
        """Take rows of this epoch (`seen` of them), in any order: contiguous ones are applied `at_once`, others wait for `settle`."""
        self.counts.rows_in += len(rows)
        self.counts.newest_ts = max(self.counts.newest_ts, seen.newest_ts)
        self.last_batch = max(self.last_batch, seen.newest_batch)
        is_next = self.phase == OPEN and seen.is_contiguous and rows[0, SEQ] == self.next_seq
        if is_next and at_once and not self._waiting and not len(self.held):
            self._apply(rows, seen)
        else:
            self._waiting.append(rows)

    def settle(self) -> None:
        """Sort what waits, report repeats and late events, apply what is contiguous, hold the rest. Rows are gathered slice by slice."""
        if not self._waiting:
            return
        held_before = len(self.held)
        parts = [self.held, *self._waiting]
        self._waiting, self.held = [], self.held[:0]
        order, repeats = _order_by_seq(parts)
        self.counts.repeat(self.epoch, repeats)
        done = 0
        while done < len(order) and len(self.held) == 0:
            self.held = _gathered(parts, order[done : done + SLICE_ROWS])
            done += len(self.held)
            self._release()
        if done < len(order):
            self.held = np.concatenate((self.held, _gathered(parts, order[done:])))
        self.counts.held += len(self.held) - held_before

    def give_up_gaps(self, is_lost: Callable[[Array], bool]) -> None:
        """Give up the gap before what is held as long as `is_lost(held)`, applying what then is contiguous."""
        held_before = len(self.held)
        while self.phase == OPEN and len(self.held) and is_lost(self.held):
            self._lose_until(self.held[0])
            self._release()
        self.counts.held += len(self.held) - held_before

    def end(self) -> None:
        """The process is over (`broker_stop`, or a newer epoch is old enough): gaps are lost, everything alive ends."""
        self._finish(ENDED)

    def drain(self) -> None:
        """The log ends here: gaps are lost and windows close, but the process may live on."""
        self._finish(DRAINED)

    def _finish(self, phase: int) -> None:
        self.give_up_gaps(lambda held: True)
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
        self._report_past(self.held[:past])
        rest = self.held[past:]
        seq = rest[:, SEQ]
        expected = np.arange(self.next_seq, self.next_seq + len(rest))
        breaks = np.flatnonzero(seq != expected)
        run = int(breaks[0]) if len(breaks) else len(rest)
        self.held = rest[run:].copy() if run else rest
        for start in range(0, run, SLICE_ROWS):
            part = rest[start : min(start + SLICE_ROWS, run)]
            self._apply(part, glance(part))
        if self.phase != OPEN and len(self.held):
            beyond, self.held = self.held, self.held[:0]
            self._report_past(beyond)

    def _apply(self, rows: Array, seen: Glance) -> None:
        """Apply a contiguous run that begins at `next_seq`; nothing follows a `broker_stop`."""
        if self.time is None:
            self._report_past(rows)
            return
        now = rows[: seen.stop + 1]
        self.time.apply(now)
        self.counts.reach(self.epoch, self.time.time_us)
        tombstones = now[now[:, TYPE] == TOMBSTONE_CODE, SEQ].tolist() if seen.tombstones else []
        for seq in tombstones:
            self.given_up.add(seq, seq, QUARANTINED)
        self.counts.quarantined += len(tombstones)
        self.counts.applied += len(now) - len(tombstones)
        self.next_seq = int(now[-1, SEQ]) + 1
        if seen.stop < len(rows):
            self.time.end()
            self._shut(ENDED)
            self._report_past(rows[len(now) :])

    def _lose_until(self, first_held: Array) -> None:
        last_lost = int(first_held[SEQ]) - 1
        self.counts.lost += last_lost - self.next_seq + 1
        if self.time is not None:
            self.time.lose(self.next_seq, last_lost, int(first_held[TS]))
        self.given_up.add(self.next_seq, last_lost, LOST)
        self.next_seq = last_lost + 1

    def _report_past(self, rows: Array) -> None:
        """Rows whose place is behind us: the first for a given-up place is late, all others are repeats."""
        repeats = []
        for row in rows:
            reason = None if row[TYPE] == TOMBSTONE_CODE else self.given_up.take(int(row[SEQ]))
            if reason is None:
                repeats.append(int(row[SEQ]))
                continue
            self.counts.late += 1
            columns: dict[str, Array | int] = {
                "epoch": self.epoch, "seq": int(row[SEQ]), "event_date": int(row[TS]) // US_PER_DAY, "ts": int(row[TS]),
                "type_code": int(row[TYPE]), "reason": reason, "ingest_batch": int(row[INGEST_BATCH]),
            }  # fmt: skip
            self.emit(Rows("late_events", columns, 1))
        self.counts.repeat(self.epoch, np.array(repeats, dtype=np.int64))


def _order_by_seq(parts: list[Array]) -> tuple[Array, Array]:
    """Positions (over all parts, one after the other) of the rows to take, by seq, and the seq of the repeats that are left out.

    Of repeats the real event is taken before a tombstone, the earlier ingest batch before the later, the earlier arrival before the later.
    """
    seq = np.concatenate([part[:, SEQ] for part in parts])
    order = np.argsort(seq)
    seq.sort()  # in place: a lane may have millions of rows
    if not bool(np.any(seq[1:] == seq[:-1])):
        return order, seq[:0]
    is_tombstone = np.concatenate([part[:, TYPE] == TOMBSTONE_CODE for part in parts])
    batch = np.concatenate([part[:, INGEST_BATCH] for part in parts])
    arrival = np.concatenate([part[:, ARRIVAL] for part in parts])
    order = order[np.lexsort((arrival[order], batch[order], is_tombstone[order], seq))]
    is_first = np.concatenate(([True], seq[1:] != seq[:-1]))
    return order[is_first], seq[~is_first]


def _gathered(parts: list[Array], positions: Array) -> Array:
    """The rows at `positions`, in that order."""
    ends = np.cumsum([len(part) for part in parts])
    part_of = np.searchsorted(ends, positions, side="right")
    rows = np.empty((len(positions), len(LANE_COLUMNS)), dtype=np.int64)
    for number in np.unique(part_of):
        chosen = part_of == number
        rows[chosen] = parts[number][positions[chosen] - (ends[number] - len(parts[number]))]
    return rows
