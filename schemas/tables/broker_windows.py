"""How far the log of each broker goes: every window that it reached."""

from schemas.field import Field, Table
from schemas.window_columns import COMPLETENESS, WINDOW

BROKER_WINDOWS = Table(
    "broker_windows",
    "One row per window in which the log of a broker has an event, be it only a heartbeat, and per window between in which something went on. "
    "The stretch between two rows that do not touch is known too: nothing happened in it.",
    grain=("broker", "epoch", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        *WINDOW,
        Field("log_until", "timestamp",
              "up to when the log has it: its end if an event came after it; else ts of its newest event, where the log ended or the clock was set back"),
        Field("last_event_at", "timestamp", "greatest ts of its events; null: it has none", nullable=True),
        Field("events", "long", "events of the broker seen in it", "events", check="events >= 0"),
        Field("lost_events", "long", "events of the broker lost or rejected in it, or just before it", "events", check="lost_events >= 0"),
        COMPLETENESS,
    ),
)  # fmt: skip
