"""What a lane asks of a machine. A machine knows one broker's one epoch; the lane knows order, time and loss.

The lane hands events over in `seq` order, all of one window at a time, and says when a window closes, when events were lost, and when the
epoch is over. A machine returns outcomes as values and does nothing else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.machines.array import Array

#: Stands for null in an outcome row: no value of ours is the smallest int64.
NULL = -(2**63)


@dataclass(frozen=True)
class Window:
    """A window that closes. Times in µs.

    `border_ns` is the broker's monotonic clock at the next event applied, or at the last one if none follows. `applied` and `missing` are
    events of the broker seen and not seen (lost, quarantined) in it.
    """

    epoch: int
    start_us: int
    end_us: int
    clock_segment: int
    border_ns: int
    applied: int
    missing: int


@dataclass(frozen=True)
class Rows:
    """Rows for one table, as named int64 columns (or scalars) of `count` rows; see pipeline/lanes/outcomes.py for their encoding."""

    table: str
    columns: dict[str, Array | int]
    count: int
    payload: bytes = b""  # of a single row: what is no number


class Machine(Protocol):
    """One machine's state for one epoch, and its rules."""

    name: str
    version: int  # of the arrays that `arrays()` gives: those of another version are refused with the command that rebuilds

    def fold(self, events: Array) -> Sequence[Rows]:
        """Apply events: int64 [n, LANE_COLUMNS], in order, all in the open window. Returns rows that do not wait for its end."""

    def lose(self) -> None:
        """Events were lost here: what is alive is no longer complete."""

    def close_window(self, window: Window) -> Iterable[Rows]:
        """Rows of the window; its counters start again."""

    def has_running_time(self, until_ns: int) -> bool:
        """Whether a window without any event must be closed too, because something lasts into it (such as a blocked read)."""

    def step_clock(self, ts_us: int, ns: int) -> None:
        """The broker's wall clock was set: from here on (ts_us, ns) is one instant."""

    def end_epoch(self, ts_us: int, ns: int) -> None:
        """The broker process is gone: everything that lives ends at (ts_us, ns). The open window is closed afterwards."""

    def end_log(self, ts_us: int, ns: int) -> None:
        """Nothing more will come after (ts_us, ns), though the process may live. The open window is closed afterwards."""

    def waits(self, before_us: int) -> bool:
        """Whether a row of a time before `before_us` may still come, though that time is over."""

    def arrays(self) -> dict[str, Array]:
        """The whole state as named arrays, compacted: what `restore` of the same version takes."""

    def ordered_arrays(self) -> dict[str, Array]:
        """As `arrays()`, in an order that follows from what is in them: equal states have equal arrays."""
