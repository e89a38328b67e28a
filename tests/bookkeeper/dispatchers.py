"""One dispatcher incarnation and its rows of `subscription_throttle` (docs/design/throttling.md)."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bookkeeper.longs import DIMENSIONS, LEVELS, saturated
from bookkeeper.walk import Walk

Row = dict[str, Any]

#: Columns that count what happened in a window.
COUNTED = (
    "reads",
    "reads_modelled",
    "reads_shrunk",
    "reads_blocked",
    *(f"reads_blocked_by_{level}_limit" for level in LEVELS),
    "reads_binding",
    "reads_nominal",
    *(f"decisive_{dimension}_by_{level}_limit" for dimension in DIMENSIONS for level in LEVELS),
    "left_mismatches",
    "blocked_ns",
    *(f"blocked_ns_by_{level}_limit" for level in LEVELS),
    "dispatches",
    "dispatched_entries",
    "dispatched_msgs",
    "dispatched_bytes",
    "uncharged_msgs",
    *(f"charged_{dimension}_by_{level}_limit" for dimension in DIMENSIONS for level in LEVELS),
    "oversized_dispatches",
)


def throttled(level: str, dimension: str, prefix: str = "") -> str:
    """Column of one of the six counters."""
    return f"{prefix}dispatch_throttled_{dimension}_events_by_{level}_limit"


SIX = tuple((level, dimension) for dimension in DIMENSIONS for level in LEVELS)


@dataclass
class Stretch:
    """Blocked since (`ts`, `ns`), charged to `level`."""

    level: str
    ts: int
    ns: int


@dataclass
class Dispatcher:
    """An open dispatcher. `begun` is whether its beginning was in the log, `left` what its latest read was left with."""

    topic: str
    subscription: str
    opened_at: int
    begun: bool
    batch_mode: bool
    sub_type: str | None = None
    complete: bool = True
    left: tuple[int, int] | None = None
    stretch: Stretch | None = None
    touched: bool = False
    window: Counter[str] = field(default_factory=Counter)
    since_open: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.complete = self.begun

    def count(self, name: str, n: int = 1) -> None:
        """Add to a column of the open window."""
        self.window[name] = saturated(self.window[name] + n)

    def count_throttled(self, read: Walk, prefix: str) -> None:
        """The six counters of one walk."""
        for level, dimension, _ in read.lowered:
            name = throttled(level, dimension, prefix)
            self.window[name] += 1
            self.since_open[name] += 1

    def count_walk(self, read: Walk, binding: dict[str, bool]) -> None:
        """What the counting walk says about one read."""
        self.count("reads")
        self.count_throttled(read, "")
        for dimension in DIMENSIONS:
            decisive = read.decisive(dimension)
            if decisive:
                self.count(f"decisive_{dimension}_by_{decisive}_limit")
        if read.blocked_by:
            self.count("reads_blocked")
            self.count(f"reads_blocked_by_{read.blocked_by}_limit")
        elif read.lowered:
            self.count("reads_shrunk")
        if read.blocked_by or read.lowered:
            self.count("reads_binding" if any(binding.values()) else "reads_nominal")

    def block(self, level: str, ts: int, ns: int) -> None:
        """A read was left with nothing."""
        self.stretch = Stretch(level, ts, ns)

    def unblock(self, ns: int) -> None:
        """The next read, or the end of the dispatcher."""
        if self.stretch is not None:
            self._charge(self.stretch, ns)
        self.stretch = None

    def split(self, border_ts: int, limit_ns: int) -> None:
        """The window ends at `border_ts` while blocked: its part is charged. `limit_ns` is the ns of the event applied next."""
        if self.stretch is None:
            return
        border_ns = self.stretch.ns + (border_ts - self.stretch.ts) * 1000
        border_ns = max(self.stretch.ns, min(border_ns, limit_ns))
        self._charge(self.stretch, border_ns)
        self.stretch = Stretch(self.stretch.level, border_ts, border_ns)

    def split_at_step(self, ts: int, ns: int) -> None:
        """The clock went back: all the time until the event that shows it belongs to the window that it closes."""
        if self.stretch is not None:
            self._charge(self.stretch, ns)
            self.stretch = Stretch(self.stretch.level, ts, ns)

    def _charge(self, stretch: Stretch, ns: int) -> None:
        spent = max(0, ns - stretch.ns)
        self.count("blocked_ns", spent)
        self.count(f"blocked_ns_by_{stretch.level}_limit", spent)

    @property
    def source(self) -> str:
        """Over the reads of the window: observed, modelled, mixed or none."""
        reads, modelled = self.window["reads"], self.window["reads_modelled"]
        if reads == 0:
            return "none"
        if modelled == 0:
            return "observed"
        return "modelled" if modelled == reads else "mixed"

    def close_window(self, waiting: tuple[int, int], closed_at: int | None = None) -> list[Row]:
        """The row of the window that ends, if there is something to tell, and empty columns for the next one."""
        rows = []
        if self.touched or self.window["blocked_ns"] > 0 or closed_at is not None:
            rows.append(self._row(waiting, closed_at))
        self.touched = False
        self.window = Counter()
        return rows

    def _row(self, waiting: tuple[int, int], closed_at: int | None) -> Row:
        row: Row = {
            "topic": self.topic,
            "subscription": self.subscription,
            "opened_at": self.opened_at,
            "closed_at": closed_at,
            "sub_type": self.sub_type,
            "complete": self.complete,
            "source": self.source,
            "waiting_entries": waiting[0],
            "waiting_bytes": waiting[1],
            **{name: self.window[name] for name in COUNTED},
        }
        for prefix in ("", "modelled_"):
            for level, dimension in SIX:
                name = throttled(level, dimension, prefix)
                row[name] = self.window[name]
                row[f"{name}_since_open"] = self.since_open[name]
        return row
