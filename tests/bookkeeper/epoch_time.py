"""Time of one epoch in the books: windows, gaps, steps of the wall clock (docs/design/architecture.md). What lives in it: a subclass."""

from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
Row = dict[str, Any]


@dataclass
class Window:
    """The open window. `ended` are the rows of what ended in it, by table."""

    start: int
    end: int
    segment: int
    applied: int = 0
    missing: int = 0
    ended: dict[str, list[Row]] = field(default_factory=dict)

    @property
    def completeness(self) -> float:
        """Share of the events of this window that were seen."""
        total = self.applied + self.missing
        return self.applied / total if total else 1.0

    def end_rows(self, table: str, rows: list[Row]) -> None:
        """Rows of something that ended in this window."""
        self.ended.setdefault(table, []).extend(rows)


def ns_of(event: Event) -> int:
    """Monotonic time of an event; a log without it runs on ts."""
    ns = event.get("ns")
    return int(event["ts"]) * 1000 if ns is None else int(ns)


class EpochTime:
    """Feed it `lose` and `apply` in seq order, then `end` or `drain`; `rows` has the tables.

    A subclass handles events (`_on_<type>(event, ts, ns)`) and says what time does to what lives in it: the methods that raise here.
    """

    def __init__(self, broker: str, epoch: int, window_ms: int, clock_step_ms: int, tables: tuple[str, ...]) -> None:
        self.broker, self.epoch = broker, epoch
        self.window_us, self.clock_step_us = window_ms * 1000, clock_step_ms * 1000
        self.rows: dict[str, list[Row]] = {table: [] for table in (*tables, "log_gaps")}
        self.window: Window | None = None
        self.segment = 0
        self.last_ts: int | None = None
        self.last_ns = 0
        self.lost_before = 0

    # ---- what a subclass says --------------------------------------------------------------------------------------------------

    def _make_incomplete(self) -> None:
        """An event is missing: what is alive is incomplete."""
        raise NotImplementedError

    def _split(self, border: int, ts: int, ns: int, seq: int) -> None:
        """The open window ends at `border`; the event that comes next is at (`ts`, `ns`)."""
        raise NotImplementedError

    def _split_at_step(self, ts: int, ns: int, seq: int) -> None:
        """The wall clock was set before the event at (`ts`, `ns`): open stretches are charged until `ns` and go on from there."""
        raise NotImplementedError

    def _lasts_until(self, ts: int, ns: int) -> bool:
        """Whether anything alive has time to charge, or something to do, between the last border and (`ts`, `ns`)."""
        raise NotImplementedError

    def _rows_of_window(self, ns: int) -> dict[str, list[Row]]:
        """The window ends: rows of what is alive, by table."""
        raise NotImplementedError

    def _end_all(self, ts: int, ns: int) -> None:
        """The epoch is over with its last event, at (`ts`, `ns`)."""
        raise NotImplementedError

    def _stop_stretches(self, ns: int) -> None:
        """The log is over with its last event, at `ns`; what is alive stays so."""
        raise NotImplementedError

    # ---- what is missing -------------------------------------------------------------------------------------------------------

    def lose(self, first: int, last: int, ts_after: int) -> None:
        """The range first..last of seq is lost; the event at `ts_after` comes next."""
        self.lost_before = last - first + 1
        self._gap("lost", first, last, self.lost_before, ts_after, 0)
        self._make_incomplete()

    def _gap(self, kind: str, first: int, last: int, events: int, ts_after: int, step_us: int) -> None:
        gap = {"kind": kind, "from_seq": first, "to_seq": last, "events": events}
        times = {"ts_before": self.last_ts, "ts_after": ts_after, "step_us": step_us}
        self.rows["log_gaps"].append({"broker": self.broker, "epoch": self.epoch, **gap, **times})

    # ---- time ------------------------------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """The next event in seq order, or a tombstone."""
        ts, ns = int(event["ts"]), ns_of(event)
        self._move_time(ts, ns, int(event["seq"]))
        assert self.window is not None
        self.last_ts, self.last_ns, self.lost_before = ts, ns, 0
        if event.get("tombstone"):
            self.window.missing += 1
            self._make_incomplete()
            return
        self.window.applied += 1
        handler = getattr(self, f"_on_{event['type']}", None)
        if handler is not None:
            handler(event, ts, ns)

    def _move_time(self, ts: int, ns: int, seq: int) -> None:
        if self.window is None or self.last_ts is None:
            self._open_window(ts)
            return
        self.window.missing += self.lost_before
        step_us = (ts - self.last_ts) - (ns - self.last_ns) // 1000
        stepped = abs(step_us) > self.clock_step_us
        if stepped:
            self._gap("clock_step", seq, seq, 0, ts, step_us)
            self._split_at_step(ts, ns, seq)
        if stepped and step_us < 0:
            self._close_window(ns)
            self.segment += 1
            self._open_window(ts)
        else:
            segment_at_ts = self.segment + stepped
            self._pass_borders(ts, ns, seq, segment_at_ts)
            self.segment = segment_at_ts
            if stepped:
                self._split_at_step(ts, ns, seq)

    def _pass_borders(self, ts: int, ns: int, seq: int, segment_at_ts: int) -> None:
        """Close the windows that end at or before `ts`. Between two events only what lasts can have rows."""
        assert self.window is not None
        while ts >= self.window.end:
            border = self.window.end
            self._split(border, ts, ns, seq)
            self._close_window(ns)
            here = border if self._lasts_until(ts, ns) else ts - ts % self.window_us
            if here == ts - ts % self.window_us:
                self.segment = segment_at_ts
            self._open_window(here)

    def _open_window(self, ts: int) -> None:
        start = ts - ts % self.window_us
        self.window = Window(start, start + self.window_us, self.segment, missing=self.lost_before)

    def _close_window(self, ns: int) -> None:
        window = self.window
        assert window is not None
        own = {"broker": self.broker, "epoch": self.epoch, "window_start": window.start, "window_end": window.end}
        own |= {"clock_segment": window.segment, "completeness": window.completeness}
        for table, rows in self._rows_of_window(ns).items():
            window.end_rows(table, rows)
        for table, rows in window.ended.items():
            self.rows[table] += [{**own, **row} for row in rows]

    # ---- the end ---------------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """The epoch is over: what is alive ends with its last event."""
        if self.window is not None and self.last_ts is not None:
            self._end_all(self.last_ts, self.last_ns)
            self._close_window(self.last_ns)

    def drain(self) -> None:
        """The log is over, the epoch is not: its window closes; what lasts did so until the last event, and stays open."""
        if self.window is not None:
            self._stop_stretches(self.last_ns)
            self._close_window(self.last_ns)
