"""Instants as people write them: ISO 8601 with a zone."""

from datetime import UTC, datetime

from pipeline.faults import BadConfig


def time_of(option: str, text: str) -> datetime:
    """An instant in UTC; BadConfig for what is none, or has no zone."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise BadConfig(
            f"{option} {text}: expected an ISO 8601 time with its zone, as 2026-11-21T11:30:05.5Z or 2026-11-21T12:30:05.5+01:00"
        )
    return at.astimezone(UTC)
