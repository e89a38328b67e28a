"""How often a consumer came back: a subscription without one may have had many, each for a moment. Of one that comes and ends again and
again no table has more than the sum of the time without it.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = Mapping[str, Any]
Document = dict[str, Any]
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
#: Consumers that came back so often do not stay.
AGAIN = 2
#: An absence of so long, and of twice the longest one before, is no pause between two visits.
_STAYS_AWAY_US = 120_000_000


def came_back(look: Queries, document: Document) -> int | None:
    """Key of the document: how often a consumer came in the stretch after the last one had left; 0, too, where that stopped: they stay away
    now. Null where no_consumer is neither the main cause nor that at the end.
    """
    if "no_consumer" not in (document["cause"], (document["last_cause"] or document)["cause"]):
        return None
    names = {"broker": document["broker"], "topic": document["topic"], "sub": document["subscription"]}
    where = " AND ".join(f"{column} = {quoted(name)}" for column, name in names.items())
    # By ts itself: so only files of these minutes are read.
    begin_us, end_us = (_us(document[name]) for name in ("from", "to"))
    rows = look.rows(
        f"SELECT type, ts, conn, consumer FROM dispatch_events WHERE {where} AND epoch = {document['epoch']}"
        " AND type IN ('consumer_open', 'consumer_close') AND consumer IS NOT NULL AND conn IS NOT NULL"
        f" AND ts > {begin_us} AND ts <= {end_us} ORDER BY seq"
    )
    return returns(rows, end_us)


def _us(at: datetime) -> int:
    return (at - _1970) // timedelta(microseconds=1)


def returns(events: Sequence[Row], end_us: int) -> int:
    """Of `consumer_open` and `consumer_close` in order, up to the end. A consumer that closes first was there before."""
    first = {_consumer(row): row["type"] for row in reversed(events)}
    connected = {one for one, kind in first.items() if kind == "consumer_close"}
    left_us: int | None = None
    absences_us: list[int] = []
    for row in events:
        if row["type"] == "consumer_open":
            if left_us is not None and not connected:
                absences_us.append(row["ts"] - left_us)
            connected.add(_consumer(row))
        else:
            connected.discard(_consumer(row))
            left_us = row["ts"]
    stay_away = left_us is not None and not connected and end_us - left_us > max(_STAYS_AWAY_US, 2 * max(absences_us, default=0))
    return 0 if stay_away else len(absences_us)


def _consumer(row: Row) -> tuple[int, int]:
    return row["conn"], row["consumer"]


def come_and_go(document: Document) -> bool:
    """Whether the time without a consumer is that between many."""
    return (document.get("came_back") or 0) >= AGAIN
