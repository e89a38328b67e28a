"""Why nobody knows when a quota is exceeded: a forecast that is null may mean that, and not only "never". Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Document = dict[str, Any]
#: The topic has one check since its broker loaded it, and one check has no rate.
ONE_CHECK = "one_check"
#: The oldest message is older than the limit, and the broker shows no age before it has closed the ledger of that message (§2.4).
NO_AGE = "no_age"
#: A quota shut the producers out in the last minutes: what is used grows when they are back, and nobody knows how fast.
PRODUCERS_OUT = "shut_out"
NOT_IN_THIS_LOG = "not_in_this_log"


def not_known(quota: Row, oldest_age_ms: int | None) -> str | None:
    """Of a row of quota_forecasts or quota_risk; null: it is foreseen, exceeded, or no breach is in sight. `oldest_age_ms`: the true age of
    the oldest message that a durable cursor has not acknowledged.
    """
    if quota["exceeded"] or quota["breach_at"] is not None:
        return None
    if quota["used"] is None:
        return NOT_IN_THIS_LOG
    if quota["shut_out"]:
        return PRODUCERS_OUT
    if quota["quota_type"] == "size":
        return ONE_CHECK if quota["steps"] == 0 else None
    is_older = oldest_age_ms is not None and oldest_age_ms > quota["quota_limit"] * 1000
    return NO_AGE if quota["used"] == 0 and is_older else None


def with_outlook(quotas: Sequence[Document], rows: Sequence[Row], age: Document | None) -> list[Document]:
    """The document's quotas with the key `not_known`. `rows` has the forecasts that they are of, `age` is the document's."""
    oldest_age_ms = None if age is None else age["true_ms"]
    found = {row["quota_type"]: not_known(row, oldest_age_ms) for row in rows}
    return [{**one, "not_known": found[one["quota_type"]]} for one in quotas]
