"""One epoch's time: which window is open, when it closes, what the wall clock did. Drives the broker's model.

Invariants. The lane's time is the greatest `ts` of the clock segment; a window closes when it passes. Durations are `ns`. Only events in
`seq` order come here, so nothing depends on files, commits or micro-batches.

Without `ns` an event comes with `ts` × 1000 in its place (docs/reference/event-log.md). When such a `ts` falls back, the wall clock was
set: the monotonic clock that is made of it goes on from where it was, and leads `ts` × 1000 by that much from then on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from pipeline.lanes.snapshot import snapshot
from pipeline.lanes.state_layout import TIME_NUMBERS
from pipeline.rules.array import Array
from pipeline.rules.model import BrokerModel
from pipeline.rules.outcome import Rows, Window, window_columns
from pipeline.rules.row_scans import until_clock_step, until_next_window
from schemas.lane_columns import COLUMN
from schemas.outcomes import NULL

SEQ, TS, NS = (COLUMN[c] for c in ("seq", "ts", "ns"))
LOST_RANGE, CLOCK_STEP = 0, 1
NS_PER_US = 1_000
US_PER_DAY = 86_400_000_000
#: MILESTONES: the state at a day's end; all rows of the day are out; the epoch is over; its log is.
DAY, SETTLED, ENDED, DRAINED = range(4)


@dataclass
class EpochTime:
    """Everything here is plain state; NULL where nothing has happened yet."""

    epoch: int
    window_us: int
    clock_step_us: int
    model: BrokerModel
    emit: Callable[[Rows], None]
    started: int = 0
    last_seq: int = 0
    last_ts: int = NULL
    last_ns: int = 0
    first_ns: int = 0
    clock_segment: int = 0
    time_us: int = NULL
    window: int = NULL  # start of the open window
    window_segment: int = 0  # clock segment in which it was opened
    applied: int = 0
    missing: int = 0
    carry: int = 0  # events lost just before the next one: they may belong to its window too
    day: int = NULL  # greatest date reached, in days since 1970
    settled_day: int = NULL  # greatest date of which all rows are out
    chain: int = 0  # digest of the latest snapshot; 0 before the first
    ns_lead: int = 0  # how far a monotonic clock that is made of `ts` is before `ts` × 1000; 0 until `ts` first falls back

    def apply(self, rows: Array) -> None:
        """Apply rows (int64 [n, LANE_COLUMNS], contiguous in seq) after those applied before."""
        if len(rows) == 0:
            return
        if not self.started:
            self.started = 1
            self.first_ns = int(rows[0, NS])
            self.last_ts, self.last_ns = int(rows[0, TS]), self.first_ns
        rows = self._led(rows, 0, self.ns_lead)
        start = 0
        while start < len(rows):
            rows = self._never_back(rows, start)
            jump_us = int(rows[start, TS]) - self.last_ts - (int(rows[start, NS]) - self.last_ns) // NS_PER_US
            if abs(jump_us) > self.clock_step_us:
                self._step_clock(rows[start], jump_us)
            stop = until_clock_step(rows, start, self.clock_step_us)
            self._apply_segment(rows[start:stop])
            start = stop

    def _never_back(self, rows: Array, start: int) -> Array:
        """The rows, from `start` on with a lead that lets the monotonic clock stand where a wall clock that makes it was set back."""
        ts, ns = int(rows[start, TS]), int(rows[start, NS])
        fallen_ns = self.last_ns - ns
        is_made = ns == ts * NS_PER_US + self.ns_lead and self.last_ns == self.last_ts * NS_PER_US + self.ns_lead
        if not is_made or fallen_ns <= self.clock_step_us * NS_PER_US:
            return rows
        led = self._led(rows, self.ns_lead, fallen_ns)
        self.ns_lead += fallen_ns
        return led

    @staticmethod
    def _led(rows: Array, lead_ns: int, more_ns: int) -> Array:
        """The rows; where `ns` is `ts` × 1000 and the lead, it has `more_ns` as well."""
        if more_ns == 0:
            return rows
        led = rows.copy()
        led[led[:, NS] == led[:, TS] * NS_PER_US + lead_ns, NS] += more_ns
        return led

    def lose(self, first_seq: int, last_seq: int, next_ts: int) -> None:
        """Events [first_seq, last_seq] will not come; the next one applied has `next_ts`."""
        lost = last_seq - first_seq + 1
        ts_before = self.last_ts if self.started else NULL
        self._emit_gap(LOST_RANGE, first_seq, last_seq, lost, ts_before, next_ts, 0)
        if self.window != NULL:
            self.missing += lost
        self.carry = lost
        self.model.lose(lost)

    def close(self) -> None:
        """The log is over: the open window is closed at the last event applied, what lasts is charged until then."""
        self._close_last_window()
        self._emit_snapshot(DRAINED, self.day, self.last_seq + 1)

    def _close_last_window(self) -> None:
        if self.window != NULL:
            self._charge_until(self.last_ts, self.last_ns, self.last_seq)
            self._emit_all(self.model.end_log(self.epoch, self.last_ts, self.last_ns))
            self._close_window(self.last_ns, self.last_seq, self.time_us)

    def end(self) -> None:
        """The process is over: everything alive ends at its last event."""
        if self.started:
            self._emit_all(self.model.end_epoch(self.epoch, self.last_ts, self.last_ns))
        self._close_last_window()
        self._emit_snapshot(ENDED, self.day, self.last_seq + 1)

    def _apply_segment(self, rows: Array) -> None:
        start = 0
        while start < len(rows):
            stop, window, time_us, tombstones = until_next_window(rows, start, self.time_us, self.window_us)
            run = rows[start:stop]
            day = window // US_PER_DAY
            if day > self.day:
                self._end_day(int(run[0, SEQ]))
                self.day = day
            self._enter(window, run[0])
            self._emit_all(self.model.fold(run))
            self.applied += len(run) - tombstones
            self.missing += tombstones
            self.time_us = time_us
            self.last_seq, self.last_ts, self.last_ns = int(run[-1, SEQ]), int(run[-1, TS]), int(run[-1, NS])
            start = stop

    def _enter(self, window: int, event: Array) -> None:
        """The window of the next event: it is opened, unless it is open."""
        if window == self.window:
            self.carry = 0
            return
        next_seq, next_ns = int(event[SEQ]), int(event[NS])
        if self.window != NULL:
            between = self.window + self.window_us
            self._close_window(next_ns, next_seq, between)
            while between < window and self.model.has_running_time(next_ns):
                self.window, self.window_segment, self.missing = between, self.clock_segment, self.carry
                between += self.window_us
                self._close_window(next_ns, next_seq, between)
        self.window, self.window_segment = window, self.clock_segment
        self.missing += self.carry
        self.carry = 0
        self._settle_day(next_seq)

    def _end_day(self, next_seq: int) -> None:
        """The first event of a later date comes: emit the state before it."""
        if self.day == NULL:
            return
        chain, self.chain = self.chain, 0  # the state is the same whatever it came from
        state = snapshot(self.numbers, self.model, self.window_us)
        digest = int.from_bytes(sha256(state).digest()[:8], "little", signed=True)
        self.chain = chain
        self._emit_snapshot(DAY, self.day, next_seq, digest, state)
        self.chain = digest

    def _settle_day(self, next_seq: int) -> None:
        """Emit once that all rows of the dates before `day` are out. Asked where a window begins, so that no cut of the log matters."""
        if self.settled_day < self.day - 1 and self.chain and self.is_past(self.day - 1):
            self.settled_day = self.day - 1
            self._emit_snapshot(SETTLED, self.settled_day, next_seq)

    def is_past(self, day: int) -> bool:
        """Whether rows of `day` (since 1970) or before come no more, unless the clock goes back."""
        return self.window >= (day + 1) * US_PER_DAY and not self.model.waits((day + 1) * US_PER_DAY)

    def _emit_snapshot(self, milestone: int, day: int, next_seq: int, digest: int = 0, state: bytes = b"") -> None:
        if not self.started:
            return
        columns: dict[str, Array | int] = {
            "epoch": self.epoch, "milestone": milestone, "event_date": day, "next_seq": next_seq, "digest": digest,
            "began_from": self.chain,
        }  # fmt: skip
        self.emit(Rows("lane_snapshots", columns, 1, state))

    def _close_window(self, border_ns: int, border_seq: int, until_us: int) -> None:
        """`until_us`: up to when the log has the window."""
        end = self.window + self.window_us
        closing = Window(self.epoch, self.window, end, self.window_segment, border_ns, self.applied, self.missing, border_seq, self.last_ts)
        self._emit_all(self.model.close_window(closing))
        last_us = self.time_us if self.window <= self.time_us < end else NULL
        reached: dict[str, Array | int] = {**window_columns(closing), "log_until": until_us, "last_event_at": last_us}
        self.emit(Rows("broker_windows", {**reached, "events": self.applied, "lost_events": self.missing}, 1))
        self.window, self.applied, self.missing = NULL, 0, 0

    def _step_clock(self, event: Array, jump_us: int) -> None:
        seq, ts, ns = int(event[SEQ]), int(event[TS]), int(event[NS])
        self._emit_gap(CLOCK_STEP, seq, seq, 0, self.last_ts, ts, jump_us)
        self._charge_until(ts, ns, seq)
        self.clock_segment += 1
        if jump_us < 0:
            if self.window != NULL:
                self._close_window(ns, seq, self.time_us)
                self._charge_until(ts, ns, seq)  # what lasts goes on from the new time, not from the border of a window that was cut short
            self.time_us = NULL

    def _charge_until(self, ts: int, ns: int, seq: int) -> None:
        self.model.step_clock(ts, ns, seq)

    def _emit_gap(self, kind: int, first_seq: int, last_seq: int, events: int, ts_before: int, ts_after: int, step_us: int) -> None:
        columns: dict[str, Array | int] = {
            "epoch": self.epoch, "kind": kind, "from_seq": first_seq, "to_seq": last_seq, "events": events,
            "ts_before": ts_before, "ts_after": ts_after, "step_us": step_us,
        }  # fmt: skip
        self.emit(Rows("log_gaps", columns, 1))

    def _emit_all(self, outcomes: Iterable[Rows]) -> None:
        for rows in outcomes:
            self.emit(rows)

    @property
    def numbers(self) -> Array:
        """The scalar state, in the order of TIME_NUMBERS."""
        return np.array([getattr(self, name) for name in TIME_NUMBERS], dtype=np.int64)

    def restore(self, numbers: Array) -> None:
        """Take back what `numbers` gave."""
        for name, value in zip(TIME_NUMBERS, numbers.tolist(), strict=True):
            setattr(self, name, value)
