"""The worst subscriptions now: rows for `top`, and the orders in which they may stand."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from pipeline.diagnosis.counts import percent
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.quota_outlook import not_known
from pipeline.warehouse.look import Look

Row = dict[str, Any]
#: `why` beside how much backlog × time the newest window has, how old the oldest entry is, and how the quotas of the topic stand.
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
limited AS (
  SELECT broker, epoch, topic, collect_list(struct(quota_type, exceeded, breach_at, used, steps, shut_out, quota_limit)) AS quotas
  FROM quota_risk
  GROUP BY broker, epoch, topic
)
SELECT w.*, coalesce(e.entry_s, 0) AS entry_s, a.age_s, b.quotas, o.oldest_age_ms
FROM why w
LEFT JOIN weighed e ON e.broker = w.broker AND e.epoch = w.epoch AND e.topic = w.topic AND e.subscription = w.subscription
LEFT JOIN aged a ON a.broker = w.broker AND a.epoch = w.epoch AND a.topic = w.topic AND a.subscription = w.subscription
LEFT JOIN limited b ON b.broker = w.broker AND b.epoch = w.epoch AND b.topic = w.topic
LEFT JOIN oldest o ON o.broker = w.broker AND o.epoch = w.epoch AND o.topic = w.topic
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
    return [with_breach(row) for row in look.rows(WORST)]


def with_breach(row: Row) -> Row:
    """A row of WORST with `exceeded`, `breach_in_s` until another quota is, and `breach_unknown`: of a quota nobody knows it.

    The check may be minutes old. So `breach_in_s` counts from `known_until`, and at 0 the breach is due.
    """
    quotas, oldest_age_ms = row["quotas"] or (), row["oldest_age_ms"]
    ahead = [one["breach_at"] for one in quotas if one["breach_at"] is not None and not one["exceeded"]]
    return {
        **{name: value for name, value in row.items() if name not in ("quotas", "oldest_age_ms")},
        "exceeded": any(one["exceeded"] for one in quotas),
        "breach_in_s": (min(ahead) - row["known_until"]).total_seconds() if ahead else None,
        "breach_unknown": any(not_known(one, oldest_age_ms) is not None for one in quotas),
    }


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
