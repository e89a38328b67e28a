"""How far the log of each broker goes: every window that it reached."""

from schemas.field import Field, Table
from schemas.window_columns import COMPLETENESS, WINDOW

BROKER_WINDOWS = Table(
    "broker_windows",
    "How far the log of a broker goes: one row per window with an event (a heartbeat is enough), or in which something lasted.",
    grain=("broker", "epoch", "window_start", "clock_segment"),
    age_by="window_start",
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        *WINDOW,
        Field("log_until", "timestamp",
              "up to when the log has the window: its end, if an event came later; else ts of its newest event"),
        Field("last_event_at", "timestamp", "greatest ts of its events; null: it has none", nullable=True),
        Field("events", "long", "events of the broker seen in it", "events", check="events >= 0"),
        Field("lost_events", "long", "events of the broker lost or rejected in it, or since the window before", "events", check="lost_events >= 0"),
        COMPLETENESS,
    ),
)  # fmt: skip
