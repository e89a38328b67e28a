"""Rows that charts of a subscription are made of. It only asks."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipeline.pages.axis import Lost
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = dict[str, Any]
#: More gaps of one page could not be told apart.
MOST_GAPS = 200


def cause_rows(look: Queries, document: Mapping[str, Any]) -> list[Row]:
    """Of subscription_causes in the stretch of a document of `explain`, each with `log_until` of its window."""
    here = " AND ".join(f"c.{name} = {quoted(document[name])}" for name in ("broker", "topic", "subscription"))
    return look.rows(
        "SELECT c.*, w.log_until FROM subscription_causes c LEFT JOIN broker_windows w ON w.broker = c.broker AND w.epoch = c.epoch"
        f" AND w.clock_segment = c.clock_segment AND w.window_start = c.window_start WHERE {here} AND c.epoch = {document['epoch']}"
        f" AND c.window_end > {instant(document['from'])} AND c.window_start < {instant(document['to'])}"
        " ORDER BY c.clock_segment, c.window_start, c.entry_us DESC"
    )


def lost_stretches(look: Queries, broker: str, epoch: int, start: datetime, end: datetime) -> list[Lost]:
    """From the last event before each gap of a broker's log to the first one after it, where that touches `start` to `end`."""
    rows = look.rows(
        f"SELECT ts_before, ts_after FROM log_gaps WHERE kind = 'lost' AND broker = {quoted(broker)} AND epoch = {epoch}"
        f" AND coalesce(ts_before, {instant(start)}) < {instant(end)} AND coalesce(ts_after, {instant(end)}) > {instant(start)}"
        f" ORDER BY ts_before DESC LIMIT {MOST_GAPS}"
    )
    return [(row["ts_before"] or start, row["ts_after"] or end) for row in rows]
