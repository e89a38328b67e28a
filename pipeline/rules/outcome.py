"""What goes out of the rules: rows of tables, and the windows that they speak of."""

from dataclasses import dataclass

from pipeline.rules.array import Array


@dataclass(frozen=True)
class Window:
    """A window that closes. Times in µs.

    `border_ns` is the broker's monotonic clock at the next event applied, or at the last one if none follows; `border_seq` its number.
    `last_us` is the wall clock at the last event before the border.
    `applied` and `missing` are
    events of the broker seen and not seen (lost, quarantined) in it.
    """

    epoch: int
    start_us: int
    end_us: int
    clock_segment: int
    border_ns: int
    applied: int
    missing: int
    border_seq: int
    last_us: int


@dataclass(frozen=True)
class Rows:
    """Rows for one table, as named int64 columns (or scalars) of `count` rows; see pipeline/lanes/outcomes.py for their encoding."""

    table: str
    columns: dict[str, Array | int]
    count: int
    payload: bytes = b""  # of a single row: what is no number


def window_columns(window: Window) -> dict[str, Array | int]:
    """What every row of a window has."""
    return {
        "epoch": window.epoch,
        "window_start": window.start_us,
        "window_end": window.end_us,
        "clock_segment": window.clock_segment,
        "window_applied": window.applied,
        "window_missing": window.missing,
    }
