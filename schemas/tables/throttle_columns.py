"""Columns that both throttle tables share, and the families of columns by level and dimension."""

from schemas.field import Field

LEVELS = ("broker", "topic", "subscription")
DIMENSIONS = ("msg", "bytes")

WINDOW = (
    Field("window_start", "timestamp", "start of the window, aligned to UTC"),
    Field("window_end", "timestamp", "its end, exclusive"),
    Field("clock_segment", "int", "steps of the broker's wall clock before it in the epoch; 0 unless the host's clock was set"),
)
COMPLETENESS = Field(
    "completeness", "double", "share of the broker's events of this window that were seen; < 1 where some were lost or quarantined",
    check="completeness >= 0 AND completeness <= 1",
)  # fmt: skip


def throttled_events(prefix: str, suffix: str, meaning: str) -> tuple[Field, ...]:
    """The six PIP-406 counters: `{prefix}dispatch_throttled_{msg|bytes}_events_by_{level}_limit{suffix}`."""
    return tuple(
        Field(
            f"{prefix}dispatch_throttled_{dimension}_events_by_{level}_limit{suffix}",
            "long",
            f"{meaning}: reads whose {'messages' if dimension == 'msg' else 'bytes'} the {level} limiter lowered",
            "reads",
            pulsar="" if prefix else f"pulsar_subscription_dispatch_throttled_{dimension}_events{{reason={level}}}",
        )
        for dimension in DIMENSIONS
        for level in LEVELS
    )
