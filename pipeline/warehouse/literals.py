"""Times in Spark's SQL, for queries of the room. Predicates of delta-rs have texts (backfill/slices.py)."""

from datetime import datetime


def instant(at: datetime) -> str:
    """A time with its zone, to the microsecond."""
    return f"timestamp_micros({int(at.timestamp()) * 1_000_000 + at.microsecond})"
