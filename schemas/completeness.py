"""Whether a row could be known, and if not, why: the two columns that rows about something that lives have."""

from schemas.field import Field

INCOMPLETE_REASONS = {
    "points_missing": "the broker's version lacks points of the collector that the row needs (`missing_points` of its `broker_start`)",
    "beginning_not_seen": "the beginning of the thing that the row describes was not in the log",
    "events_lost": "events of the broker were lost or quarantined since",
    "deletions_unknown": "the log has how many entries behind a cursor were deleted before, not which ones",
}


def completeness_of_life(meaning: str) -> tuple[Field, Field]:
    """`complete`, with what makes it false, and the reason."""
    reasons = ", ".join(INCOMPLETE_REASONS)
    return (
        Field("complete", "boolean", meaning),
        Field("incomplete_reason", "string", f"why `complete` is false, the first that holds of {reasons}; null: it is true", nullable=True,
              added=True),
    )  # fmt: skip
