"""Whether a consumer that acknowledges nothing is silent for longer than ever before. One that works in batches is silent, too, and to
restart it costs its batch.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from pipeline.diagnosis.evidence import Row
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Document = dict[str, Any]
_OF_ONE = 3


def is_longest_silence(look: Queries, document: Document) -> bool:
    """By the quota checks of the subscription on this broker."""
    where = " AND ".join(f"{name} = {quoted(document[name])}" for name in ("broker", "topic", "subscription"))
    rows = look.rows(
        f"SELECT from_time, to_time, ack_rate FROM subscription_rates WHERE {where} AND epoch = {document['epoch']}"
        f" AND to_time <= {instant(document['to'])} ORDER BY to_time"
    )
    return is_longest(rows, document["to"])


def is_longest(checks: Sequence[Row], end: datetime) -> bool:
    """Of checks with their rates of acknowledgements, in order. Without any, nobody knows how long a pause may be. With one, it is three
    times as long as that one took at most.
    """
    acknowledged = [row["to_time"] for row in checks if row["ack_rate"]]
    if not acknowledged:
        return False
    longest = max(later - earlier for earlier, later in pairwise([checks[0]["from_time"], *acknowledged]))
    return bool(end - acknowledged[-1] > longest * (1 if len(acknowledged) > 1 else _OF_ONE))
