"""The level of all write buffers together: exact at heartbeats, bounded from below by water marks in between (docs/design/channels.md)."""

from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def report(buffers: Record, size: int, ts_us: int) -> None:
    """A heartbeat reported the level."""
    buffers.reported, buffers.reported_bytes, buffers.reported_at = 1, size, ts_us
    if size >= buffers.max_bytes:
        buffers.max_bytes, buffers.max_exact = size, 1


@compiled_part
def bound(buffers: Record, size: int, ts_us: int) -> None:
    """The level is at least this now."""
    buffers.bounded, buffers.bound_bytes, buffers.bound_at = 1, size, ts_us
    exceed(buffers, size)


@compiled_part
def exceed(buffers: Record, size: int) -> None:
    """The level was at least this."""
    if size > buffers.max_bytes:
        buffers.max_bytes, buffers.max_exact = size, 0
