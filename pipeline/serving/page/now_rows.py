"""Rows of the tables that the page Now is made of, as of one moment. It only asks."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pipeline.query.room import ReadingRoom
from pipeline.query.views.past import as_of
from pipeline.query.views.why_at import why_sql
from pipeline.warehouse.literals import instant

Row = dict[str, Any]
#: Spark lines and rates are of this time before the moment, and of the check before it.
LOOK_BACK = timedelta(seconds=330)
#: What happened is told of this time.
HAPPENED = timedelta(minutes=10)
#: More lines of what happened are not read by anybody.
MOST_LINES = 50


@dataclass(frozen=True)
class NowRows:
    """`why`: the view's rows. `checks`: of subscription_backlog, by topic and subscription, the oldest first. `quotas`: of quota_risk,
    by topic. `evictions`: by topic and subscription. `limiters`: of limiter_use, the newest window first."""

    why: list[Row]
    checks: dict[tuple[str, str], list[Row]]
    quotas: dict[str, list[Row]]
    evictions: list[Row]
    limiters: list[Row]


def now_rows(room: ReadingRoom, at: datetime | None) -> NowRows:
    """As of `at`, or of the newest instant that is known."""
    why = room.rows(why_sql(at))
    until = max((row["as_of"] for row in why), default=None)
    if until is None:
        return NowRows([], {}, {}, [], [])
    checks: dict[tuple[str, str], list[Row]] = {}
    for row in room.rows(_checks(until)):
        checks.setdefault((row["topic"], row["subscription"]), []).append(row)
    quotas: dict[str, list[Row]] = {}
    for row in room.rows(_quotas(until)):
        quotas.setdefault(row["topic"], []).append(row)
    return NowRows(why, checks, quotas, room.rows(_evictions(until)), room.rows(_limiters(until)))


def _checks(until: datetime) -> str:
    return (
        "SELECT broker, epoch, topic, subscription, check_time, opened_at, msg_backlog, backlog_size, oldest_age_ms, durable,"
        " published_entries, acknowledged_entries, evicted_entries FROM subscription_backlog"
        f" WHERE check_time > {instant(until - LOOK_BACK)} AND check_time <= {instant(until)} ORDER BY check_time, check_number"
    )


def _quotas(until: datetime) -> str:
    """quota_risk as of then; of a topic that has moved the newer broker's."""
    sql = (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY topic, quota_type ORDER BY as_of DESC) AS age FROM quota_risk"
        f" WHERE as_of > {instant(until - LOOK_BACK)}) WHERE age = 1"
    )
    return as_of(sql, until)


def _evictions(until: datetime) -> str:
    return (
        "SELECT topic, subscription, quota_type, max_by(quota_limit, decided_at) AS quota_limit, count(*) AS times, sum(entries_evicted)"
        " AS entries, min(decided_at) AS first, max(decided_at) AS last,"
        " collect_list(struct(decided_at AS at, entries_evicted AS entries)) AS each FROM evictions"
        f" WHERE entries_evicted > 0 AND subscription IS NOT NULL AND decided_at > {instant(until - HAPPENED)}"
        f" AND decided_at <= {instant(until)} GROUP BY topic, subscription, quota_type ORDER BY last DESC, topic, subscription"
    )


def _limiters(until: datetime) -> str:
    return (
        "SELECT broker, epoch, level, topic, subscription, dimension, rate, period_s, created_at, closed_at, window_start, asks_blocked,"
        f" complete FROM limiter_use WHERE window_end > {instant(until - HAPPENED)} AND window_start < {instant(until)}"
        " ORDER BY window_start DESC, created_at DESC"
    )
