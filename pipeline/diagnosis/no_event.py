"""What to say where no subscription is in the tables: lines were rejected, or none came."""

from pipeline.sources.parse.no_event import MOST_LINES, Rejected, likely_mistake
from pipeline.warehouse.look import Queries

#: A detail that is shown is cut after so many characters.
_SHOWN = 160


def no_event_words(look: Queries) -> str | None:
    """Why no line that was read is an event: how many were rejected, for which reasons, the likely mistake. None: some line is one.

    None as well where no line was read.
    """
    (read,) = look.rows("SELECT bronze AS events FROM log_balance")
    by_reason = look.rows("SELECT reason, count(*) AS lines FROM quarantine GROUP BY reason ORDER BY lines DESC, reason")
    if read["events"] or not by_reason:
        return None
    first = look.rows(
        f"SELECT reason, detail, raw, source_file, source_line FROM quarantine ORDER BY source_file, source_line LIMIT {MOST_LINES}"
    )
    rejected = sum(row["lines"] for row in by_reason)
    reasons = ", ".join(f"{row['reason']} {row['lines']:,}" for row in by_reason)
    mistake = likely_mistake([Rejected(row["reason"], row["detail"], row["raw"]) for row in first])
    likely = f"the first is {first[0]['reason']}: {first[0]['detail'][:_SHOWN]}" if mistake is None else f"probably {mistake}"
    lines = "the only line was rejected" if rejected == 1 else f"all {rejected:,} lines were rejected"
    return f"no line of the log is an event: {lines} ({reasons}); {likely}. See the table quarantine"


def nothing_words(look: Queries) -> str:
    """Why no subscription is in the tables."""
    return no_event_words(look) or "no subscription is in the log yet"


def why_no_row(look: Queries, at: str | None) -> str:
    """Why `why` has no row; of the instant `at`, as it was asked for."""
    if at is None:
        return nothing_words(look)
    return no_event_words(look) or f"no window of the log begins before {at}, or nobody is in it"
