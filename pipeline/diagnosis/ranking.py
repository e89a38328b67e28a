"""The worst subscriptions now: rows for `top`, and the orders in which they may stand."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from pipeline.diagnosis.counts import percent
from pipeline.diagnosis.duration import duration
from pipeline.warehouse.look import Look

Row = dict[str, Any]
#: `why` beside how much backlog × time the newest window has, how old the oldest entry is, and how a quota of the topic stands:
#: `exceeded`, and `breach_in_s` until another one is. The check may be minutes old: so it counts from `known_until`, and at 0 it is due.
#: `breach_unknown`: of a quota nobody knows it (quota_outlook).
WORST = """
WITH weighed AS (
  SELECT c.broker, c.epoch, c.topic, c.subscription, sum(c.entry_us) / 1e6 AS entry_s
  FROM subscription_causes c
  JOIN newest_windows n
    ON n.broker = c.broker AND n.epoch = c.epoch AND n.clock_segment = c.clock_segment AND n.window_start = c.window_start
  GROUP BY c.broker, c.epoch, c.topic, c.subscription
),
aged AS (
  SELECT broker, epoch, topic, subscription, max(age_ms) / 1e3 AS age_s FROM backlog_now GROUP BY broker, epoch, topic, subscription
),
oldest AS (
  -- A quota looks at durable cursors alone.
  SELECT broker, epoch, topic, max(age_ms) AS oldest_age_ms FROM backlog_now WHERE durable GROUP BY broker, epoch, topic
),
breaching AS (
  SELECT q.broker, q.epoch, q.topic, bool_or(exceeded) AS exceeded, min(CASE WHEN NOT exceeded THEN breach_at END) AS breach_at,
    bool_or(breach_at IS NULL AND (used IS NULL OR quota_type = 'size' AND steps = 0
      OR quota_type = 'time' AND used = 0 AND coalesce(o.oldest_age_ms > quota_limit * 1000, false))) AS unknown
  FROM quota_risk q
  LEFT JOIN oldest o ON o.broker = q.broker AND o.epoch = q.epoch AND o.topic = q.topic
  GROUP BY q.broker, q.epoch, q.topic
)
SELECT w.*, coalesce(e.entry_s, 0) AS entry_s, a.age_s, coalesce(b.exceeded, false) AS exceeded,
  coalesce(b.unknown, false) AS breach_unknown,
  (unix_micros(b.breach_at) - unix_micros(w.known_until)) / 1e6 AS breach_in_s
FROM why w
LEFT JOIN weighed e ON e.broker = w.broker AND e.epoch = w.epoch AND e.topic = w.topic AND e.subscription = w.subscription
LEFT JOIN aged a ON a.broker = w.broker AND a.epoch = w.epoch AND a.topic = w.topic AND a.subscription = w.subscription
LEFT JOIN breaching b ON b.broker = w.broker AND b.epoch = w.epoch AND b.topic = w.topic
"""
_NEVER = float("inf")
#: What is largest comes first; a breach that is near does, and what has none comes last.
_KEYS: dict[str, Callable[[Row], float]] = {
    "backlog": lambda row: -row["entry_s"],
    "age": lambda row: -(row["age_s"] or 0),
    "breach": lambda row: -_NEVER if row["exceeded"] else _NEVER if row["breach_in_s"] is None else row["breach_in_s"],
}
ORDERS = tuple(_KEYS)
COLUMNS = ("subscription", "topic", "status", "limiter", "share", "since", "entries", "entries × s", "oldest", "breach in")


def worst(look: Look) -> list[Row]:
    """Every subscription that the newest windows know, in no order."""
    return look.rows(WORST)


def ordered(rows: Sequence[Row], order: str) -> list[Row]:
    """By one of ORDERS; equal ones by name."""
    return sorted(rows, key=lambda row: (_KEYS[order](row), row["topic"], row["subscription"], row["broker"]))


def cells(row: Row) -> list[str]:
    """A row as people see it, by COLUMNS."""
    limiter = " ".join(part for part in (row["level"], row["dimension"]) if part is not None)
    return [
        row["subscription"],
        row["topic"],
        row["status"],
        limiter,
        "" if row["share"] is None else percent(row["share"]),
        "" if row["since_s"] is None else duration(row["since_s"]),
        f"{row['backlog']:,}",
        f"{row['entry_s']:,.0f}",
        "" if row["age_s"] is None else duration(row["age_s"]),
        _breach_words(row),
    ]


def _breach_words(row: Row) -> str:
    """Empty: no breach in sight. `?`: nobody knows. `due`: the check that exceeds it is over by the clock, and not in the tables yet."""
    if row["exceeded"]:
        return "now"
    if row["breach_in_s"] is None:
        return "?" if row["breach_unknown"] else ""
    return duration(row["breach_in_s"]) if row["breach_in_s"] > 0 else "due"


def newest(rows: Sequence[Row]) -> datetime | None:
    """The newest event that is known of any of their brokers."""
    return max((row["known_until"] for row in rows), default=None)
