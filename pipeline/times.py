"""Instants and lengths of time as people write them: ISO 8601 with a zone; a number and its unit."""

import re
from datetime import UTC, datetime, timedelta

from pipeline.faults import BadConfig

#: How far back an answer about one subscription looks, if nobody says.
USUAL_WINDOW = "10m"
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


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


def span_of(option: str, text: str) -> timedelta:
    """A length of time. Raises BadConfig for what is none."""
    found = re.fullmatch(r"(\d+)(s|m|min|h|d)", text)
    if found is None or int(found[1]) == 0:
        raise BadConfig(f"{option} {text}: expected a number and its unit, as 90s, 10m, 2h or 1d")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])
