"""Rows of a query behind `/admin/v2`: those that were asked for, as of now or of an instant, and not more than an answer may have."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.query.views.past import as_of
from pipeline.serving.admin.names import NotFound
from pipeline.serving.admin.queries import REACH
from pipeline.warehouse.look import Queries

#: Brokers of a hundred thousand topics have lists that nobody reads whole.
MOST_ROWS = 20_000
Rows = Sequence[Mapping[str, Any]]


class TooMany(Exception):
    """An answer would have more rows than an answer may."""


class Tables:
    """The tables of a look, as of now (`at` is None) or of an instant. Raises NotFound for an instant that they do not reach."""

    def __init__(self, look: Queries, at: datetime | None) -> None:
        self._look, self._at = look, at
        if at is not None:
            _check_reach(look, at)

    def rows(self, source: str, where: str = "true") -> Rows:
        """Rows of a query of queries.py that keep `where` (SQL over its columns). Raises TooMany."""
        sql = f"{source}\nSELECT * FROM answered WHERE {where} LIMIT {MOST_ROWS + 1}"
        rows = self._look.rows(as_of(sql, self._at))
        if len(rows) > MOST_ROWS:
            raise TooMany(f"the answer would have more than {MOST_ROWS:,} rows")
        return rows


def _check_reach(look: Queries, at: datetime) -> None:
    """Raise NotFound where no broker had a finished window then, or the log has not reached the instant."""
    (reach,) = look.rows(REACH)
    if reach["first_end"] is None:
        raise NotFound("no window of the log is over yet")
    if at < reach["first_end"]:
        raise NotFound(f"nothing is known as of {at.isoformat()}: the first window of the log is over at {reach['first_end'].isoformat()}")
    if at > reach["reaches"]:
        raise NotFound(f"nothing is known as of {at.isoformat()}: the tables reach {reach['reaches'].isoformat()}")
