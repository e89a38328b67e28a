"""The families of columns by level and dimension."""

from schemas.field import Field

LEVELS = ("broker", "topic", "subscription")
DIMENSIONS = ("msg", "bytes")


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
