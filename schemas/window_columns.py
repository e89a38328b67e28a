"""Columns that every table of windows has."""

from schemas.field import Field

WINDOW = (
    Field("window_start", "timestamp", "start of the window, aligned to UTC"),
    Field("window_end", "timestamp", "its end, exclusive"),
    Field("clock_segment", "int", "steps of the broker's wall clock before it in the epoch; 0 unless the host's clock was set"),
)
COMPLETENESS = Field(
    "completeness", "double", "share of the broker's events of this window that were seen; < 1 where some were lost or quarantined",
    check="completeness >= 0 AND completeness <= 1",
)  # fmt: skip
