"""What the demo prints first: who is behind and why, a line each, by the view `why`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from console.shown import aligned
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.words import REASONS, cause_words
from pipeline.query.views.status_words import WELL
from pipeline.query.views.why_at import why_sql
from pipeline.warehouse.look import Queries

COLUMNS = ("subscription", "topic", "status", "entries", "since", "why, and its share of the backlog")


def answer_words(look: Queries, at: datetime | None) -> str:
    """The rows of `why` now, or as of the window of `at`, without topics of Pulsar itself."""
    rows = [row for row in look.rows(why_sql(at)) if "/__" not in row["topic"]]
    if not rows:
        return "no subscription is in the tables"
    behind = [row for row in rows if row["status"] not in WELL]
    as_of = time_words(max(row["as_of"] for row in rows))
    head = f"Who is behind, and why: {len(behind):,} of {len(rows):,} subscriptions, as of {as_of}"
    return f"{head}\n\n{aligned(COLUMNS, [_cells(row) for row in behind])}" if behind else head


def _cells(row: dict[str, Any]) -> Sequence[Any]:
    topic = row["topic"].removeprefix("persistent://")
    since = "" if row["since_s"] is None else duration(row["since_s"])
    return (row["subscription"], topic, row["status"], row["backlog"], since, _reason(row))


def _reason(row: dict[str, Any]) -> str:
    if row["status"] == "unknown":
        return f"not known: {REASONS[row['unknown_reason']]}"
    if row["cause"] is None:
        return ""
    share = "" if row["share"] is None else f", {row['share']:.0%}"
    return f"{cause_words(row)}{share}"
