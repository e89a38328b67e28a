"""What status shows of backfills: the last one, and what waits for the next."""

from typing import Any

from pipeline.warehouse.look import Look

#: A dry run is none.
_LAST = """
SELECT max(finished_at) AS finished_at, count(DISTINCT broker) AS brokers, min(first_date) AS first_date, max(last_date) AS last_date,
  CAST(coalesce(sum(CASE WHEN swapped THEN added + removed + changed END), 0) AS BIGINT) AS rows_replaced
FROM backfills WHERE NOT dry_run GROUP BY run_id ORDER BY finished_at DESC LIMIT 1
"""
_WAITING = """
SELECT count(*) AS late_events, count(DISTINCT struct(broker, event_date)) AS dates FROM late_events WHERE backfilled_by IS NULL
"""


def last_backfill(look: Look) -> dict[str, Any] | None:
    """The run of `backfill` that finished last and what it replaced; None if none did."""
    return next(iter(look.rows(_LAST)), None)


def waiting_late_events(look: Look) -> dict[str, int]:
    """Late events that no backfill has counted yet, and their dates by broker."""
    return look.rows(_WAITING)[0]
